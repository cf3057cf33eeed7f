"""What a form can make tokens do: the cycle theorem, and how symmetric a form is.

The form of a head is M = W_Q W_Kᵀ. A map f says whom each token is to attend to most: token i to
token f[i], counted from 0. Three kinds of form differ in the maps they can realise:

    tied         W_Q = W_K, so M is positive semidefinite     maps with no cycle but fixed points
    symmetric    M = Mᵀ, which may be indefinite              maps with no cycle longer than two
    free         any M                                        all maps

Token vectors are linearly independent and may be chosen, tokens may attend to themselves, and the
greatest score of a row is to be greater than all others in it.
"""

import math
import operator
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace

LONGEST_CYCLE = {"tied": 1, "symmetric": 2, "free": math.inf}


class Vectors(NamedTuple):
    """Queries and keys (n, d_k), a row a token. For tokens X = I they are W_Q and W_K themselves,
    for any invertible X these are X⁻¹ · query and X⁻¹ · key."""

    query: np.ndarray
    key: np.ndarray


def realise(f, kind):
    """Queries and keys under which token i attends most to token f[i], by a form of this kind.

    `f` is a sequence of n indices, `kind` one of "tied", "symmetric", "free". Returns `Vectors`:
    tied, query and key are the same (n, n); symmetric, query · keyᵀ is; free, both are (n, 2).
    Raises ValueError where the map has a cycle that no form of this kind allows, and names it.
    """
    f = _checked(f, kind)
    cycle = forbidding_cycle(f, kind)
    if cycle is not None:
        path = " → ".join(map(str, [*cycle, cycle[0]]))
        raise ValueError(f"no {kind} form realises this map: {path} is a cycle of length "
                         f"{len(cycle)}, and a {kind} form has none longer than "
                         f"{LONGEST_CYCLE[kind]}; break the cycle, or loosen the form")
    n = len(f)
    if kind == "free":  # points of a circle, each of which is nearest to itself
        angle = 2 * np.pi * np.arange(n) / n
        key = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return Vectors(key[list(f)], key)
    shrink = 3.0 ** -np.array(_depths(f))
    one_hot, wanted = np.eye(n), np.eye(n)[list(f)]
    if kind == "tied":  # a direction of its own, and one shared with the token that is wanted
        vectors = shrink[:, None] * np.maximum(one_hot, wanted)
        return Vectors(vectors, vectors)
    links = shrink[:, None] * wanted
    return Vectors(np.maximum(links, links.T), one_hot)


def forbidding_cycle(f, kind):
    """The longest cycle of f that no form of this kind allows, as a tuple, or None."""
    f = _checked(f, kind)
    longest = max(cycles(f), key=len)
    return longest if len(longest) > LONGEST_CYCLE[kind] else None


def cycles(f):
    """The cycles of a map, each a tuple that begins at its smallest token; fixed points are (i,).

    Every map has at least one, since whoever follows it must come back to where they have been.
    """
    f = _checked(f)
    found = set()
    for i in range(len(f)):
        for _ in f:  # long enough to be on a cycle, wherever one starts
            i = f[i]
        path = [i]
        while f[path[-1]] != i:
            path.append(f[path[-1]])
        first = path.index(min(path))
        found.add((*path[first:], *path[:first]))
    return sorted(found)


def top_map(scores):
    """The map that scores (n, m) realise: for each row the place of its greatest entry.

    An entry is None where two or more share the first place.
    """
    scores = np.asarray(scores)
    best = scores.max(axis=-1, keepdims=True)
    places = [np.flatnonzero(row) for row in scores == best]
    return tuple(int(place[0]) if len(place) == 1 else None for place in places)


def symmetry_score(M):
    """How symmetric matrices (..., d, d) are: tr(M M) / ‖M‖², from −1 to 1; returns (...).

    1 for symmetric, −1 for skew-symmetric, about 0 where M_ij says nothing of M_ji. Split into the
    two parts, it is (‖symmetric‖² − ‖skew‖²) / ‖M‖².
    """
    xp = array_namespace(M)
    if M.ndim < 2 or M.shape[-1] != M.shape[-2]:
        raise ValueError(f"M has shape {tuple(M.shape)}; wanted (..., d, d): a form is square")
    return xp.sum(M * M.mT, axis=(-2, -1)) / xp.sum(M * M, axis=(-2, -1))


def _depths(f):
    """How many steps each token is away from the cycle that it leads to."""
    on_cycle = {i for cycle in cycles(f) for i in cycle}

    def depth(i):
        return 0 if i in on_cycle else 1 + depth(f[i])

    return [depth(i) for i in range(len(f))]


def _checked(f, kind="free"):
    if kind not in LONGEST_CYCLE:
        raise ValueError(f"kind is {kind!r}; wanted one of {', '.join(map(repr, LONGEST_CYCLE))}")
    try:
        f = tuple(operator.index(j) for j in f)
    except TypeError:
        raise TypeError(f"a map is a sequence of whole numbers, and {f!r} is not: "
                        "f[i] is the token that token i attends to") from None
    if not f or not all(0 <= j < len(f) for j in f):
        raise ValueError(f"the map {f} leads out of its {len(f)} tokens: "
                         "they are counted from 0, and each attends to one of them")
    return f
