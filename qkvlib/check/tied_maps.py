"""The exercise `tied_maps`: say which maps a form with W_Q = W_K serves."""

from itertools import product

import numpy as np

from ..serving import serves
from .cases import Case
from .judge import fault, refuse
from .result import failed, passed
from .trial import run

EXERCISE = "tied_maps"


def tied_maps(fn):
    """Check `fn(wanted)`: whether one form with W_Q = W_K serves a map for all sequences.

    `wanted` (n,) holds whole numbers from 0 to n − 1: token i wants token wanted[i]. `fn` returns
    true or false (or 1 or 0). It is tried on all maps of 1 to 4 tokens.
    Returns a `Result` that names the misconception when it knows it.
    """
    early = refuse(EXERCISE, fn)
    if early is not None:
        return early
    maps = [f for n in range(1, 5) for f in product(range(n), repeat=n)]
    cases = [Case({"wanted": np.array(f)}) for f in maps]
    outcomes = run(lambda wanted: _number(fn(wanted)), cases)
    early = fault(EXERCISE, cases, outcomes)
    if early is not None:
        return early
    if any(outcome.answer.shape or outcome.answer not in (0, 1) for outcome in outcomes):
        return failed(EXERCISE, "not true or false", "some answer is neither true nor false.",
                      "Return one truth value for a map: all(…) and any(…) make one of many.")
    answers = [bool(outcome.answer) for outcome in outcomes]
    wanted = [bool(serves(f, "K = Q")) for f in maps]
    if answers == wanted:
        return passed(EXERCISE, f"right for all {len(maps)} maps of up to 4 tokens.")
    for name, hint, rule in MISCONCEPTIONS:
        if answers == [rule(f) for f in maps]:
            return failed(EXERCISE, name, f"{name}.", hint)
    wrong = [f for f, ours, theirs in zip(maps, wanted, answers, strict=True) if ours != theirs]
    return failed(EXERCISE, None, f"wrong for {len(wrong)} of {len(maps)} maps, the first of them "
                  f"{list(wrong[0])}.", "Compare the lengths of a token and of the one it wants.")


def _number(answer):
    """Truth values as numbers, since what is compared are numbers; a stub stays what it is."""
    if answer is None or answer is Ellipsis:
        return answer
    return np.asarray(answer).astype(float) if np.asarray(answer).dtype == bool else answer


def _periodic(f):
    """The lengths of the map's cycles."""
    lengths = set()
    for start in range(len(f)):
        place, steps = f[start], 1
        while place != start and steps <= len(f):
            place, steps = f[place], steps + 1
        if place == start:
            lengths.add(steps)
    return lengths


MISCONCEPTIONS = [
    ("no cycle of two or more",
     "So it is for a single sequence. Must one form not serve the same names in any order?",
     lambda f: _periodic(f) == {1}),
    ("no cycle of three or more",
     "So it is for a symmetric form and one sequence. What is the score of a token with itself?",
     lambda f: max(_periodic(f)) <= 2),
    ("what a symmetric form serves",
     "A symmetric form serves these. What more do you know of x W W^T x^T, for one token x?",
     lambda f: bool(serves(f, "symmetric"))),
    ("only the map to oneself",
     "Tokens may want a token that wants itself: it can be longer than they are.",
     lambda f: all(j == i for i, j in enumerate(f))),
    ("only stars",
     "Is one token to which all point the only choice? Two such tokens may stand side by side.",
     lambda f: len(set(f)) == 1 and f[f[0]] == f[0]),
    ("always true", "A token scores itself, too. Can a pair that want each other both be served?",
     lambda f: True),
    ("never true", "What if everybody wants himself?", lambda f: False),
    ("the opposite", "The rule is right, turned round.", lambda f: not serves(f, "K = Q")),
    ("permutations", "Each token may be wanted by several. Is that a hindrance?",
     lambda f: len(set(f)) == len(f)),
    ("involutions", "f(f(i)) = i is a pair that want each other. Who is longer?",
     lambda f: all(f[j] == i for i, j in enumerate(f))),
]
