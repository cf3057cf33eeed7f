"""Which maps one form can serve for every sequence of the market, and how often it must fail.

A form serves a map if in every sequence, whatever the names, the order and the values, each token
scores the one that it wants strictly highest. Whom tied matrices serve is a theorem of the chapter
"Role decoupling"; NumPy only.
"""

import numpy as np

# Factors on: same name · i wanted by j · i wants j · both want the same. Forms that prove one half of
# the theorem: they serve every map that any form of their kind serves.
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
    """
    i = np.asarray(wanted) * 0 + np.arange(np.shape(wanted)[-1])
    f = np.asarray(wanted)
    j, k = f, _follow(f, f)
    if kind == "K = Q":  # |u_j| > |u_i| is needed: half the time in a pair, else two times in three
        return np.where((j == i) | (k == j), 1, np.where(k == i, 1 / 2, 2 / 3))
    if kind == "symmetric":  # the score of j → k has to exceed that of i → j
        last = _follow(f, k)
        bound = np.where(last == i, 2 / 3, 3 / 4)
        free = (i == j) | (k == i) | (k == j) | (last == j) | (last == k)
        result = np.ones(f.shape)
        for place in range(f.shape[-1]):  # token i bounds the token j that it wants
            mine = np.where(free, 1, bound)[..., place, None]
            at = j[..., place, None] == i
            result = np.where(at, np.minimum(result, mine), result)
        return result
    return np.ones(f.shape)


def _follow(f, places):
    return np.take_along_axis(f, places, axis=-1)
