"""Which maps one form can serve for every sequence of the market, and how often it must fail.

A form serves a map if in every sequence, whatever the names, the order and the values, each token
scores the one that it wants strictly highest. Whom tied matrices serve is a theorem of the chapter
"Role decoupling"; NumPy only.
"""

import numpy as np

# Factors on: same name · i wanted by j · i wants j · both want the same. Forms that prove one half
# of the theorem: they serve every map that any form of their kind serves.
FORMS = {
    "K = Q": (1, 2, 2, 4),  # the vector name + 2 wants, times itself
    "symmetric": (0, 1, 1, 0.5),
    "free": (0, 0, 1, 0),
}


def scores(wanted, form):
    """Scores (..., n, n) of tokens that want the positions `wanted` (..., n), for four factors."""
    wanted = np.asarray(wanted)
    place = np.arange(wanted.shape[-1])
    wants = wanted[..., :, None] == place  # entry i, j: i wants j
    same = wanted[..., :, None] == wanted[..., None, :]
    name, wanted_by, wanting, both = form
    return (name * (place[:, None] == place) + wanted_by * wants.swapaxes(-1, -2)
            + wanting * wants + both * same)


def serves(wanted, kind):
    """Whether some form of this kind, a name of `FORMS`, serves the map `wanted` (..., n)."""
    return ceilings(wanted, kind).min(-1) == 1


def ceilings(wanted, kind):
    """For each token (..., n) a share of right looks that no form of this kind exceeds.

    The share is over fresh names and values: 1 where nothing forbids that all looks are right.
    Raises ValueError for a kind that is no name of `FORMS`.
    """
    if kind not in FORMS:
        raise ValueError(f"kind={kind!r}; wanted one of {', '.join(map(repr, FORMS))}")
    f = np.asarray(wanted)
    i = np.broadcast_to(np.arange(f.shape[-1]), f.shape)
    j, k = f, np.take_along_axis(f, f, -1)  # i wants j, j wants k, k wants the last
    if kind == "K = Q":  # j has to be longer than i: half the time in a pair, else 2 times in 3
        return np.where((j == i) | (k == j), 1, np.where(k == i, 1 / 2, 2 / 3))
    if kind == "free":
        return np.ones(f.shape)
    last = np.take_along_axis(f, k, -1)  # the score of j → k has to exceed that of i → j
    bound = np.where(last == i, 2 / 3, 3 / 4)
    bound[(i == j) | (k == i) | (k == j) | (last == j) | (last == k)] = 1
    wants = j[..., :, None] == i[..., None, :]  # who bounds whom: i the token j that it wants
    return np.where(wants, bound[..., :, None], 1).min(-2)
