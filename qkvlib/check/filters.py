"""The exercises `oblique_filters`, by hand, `best_filter` and `pruned_values`, in code."""

import numpy as np

from ..values import best_filter as best_reference
from ..values import pruned as pruned_reference
from .cases import Case, random_cases
from .judge import Misconception, judge
from .table import check_table

# Directions of signal, match and noise, one a row, in three features.
DIRECTIONS = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])


def oblique_filters(filters):
    """Check the 3 × 3 matrix whose columns read signal, match and noise, each without the others.

    The parts point along the rows of `DIRECTIONS`. `filters`: three rows of three entries, numbers
    or fractions ("1/2"); lists, arrays or tensors. Returns a `Result` that names the misconception.
    """
    return check_table(
        "oblique_filters", filters, np.linalg.inv(DIRECTIONS), _readings(), entries="numbers",
        axes="One row for each feature, one column for each part.",
        praise="each filter reads its part and is blind to the two others.",
        hint="A column is right if its products with the three directions are 1 and twice 0.")


def _readings():
    """Name, hint and the tables that come of it, the likeliest first."""
    D, right = DIRECTIONS, np.linalg.inv(DIRECTIONS)
    yield ("along the direction itself",
           "This reads each part where it points, and what leans that way comes along: multiply "
           "the direction of the match by your first column.",
           [D.T, D.T / (D**2).sum(1), D.T / np.sqrt((D**2).sum(1))])
    yield ("rows and columns swapped",
           "A filter stands to the right of the token: x times a column. Which are your columns?",
           [right.T])
    yield ("signs lost",
           "Something has to be taken away from what comes along: with which sign?",
           [np.abs(right)])
    yield ("stopped too early",
           "Your first column is still not blind to the noise. Or is it? Multiply.",
           [2 * np.eye(3) - D])
    yield ("the directions",
           "These are the parts themselves. Which columns make 1, 0, 0 of them?",
           [D])
    yield ("one feature each",
           "The third feature holds the match and the noise. What does the second filter do to "
           "the signal?",
           [np.eye(3)])


def best_filter(fn):
    """Check `fn(D, C)`: the W for which E‖x W − z‖² is least, for x = z D + u.

    Shapes: D (..., k, d), the directions of k uncorrelated numbers of variance 1, C (..., d, d),
    the covariance of u; `fn` returns (..., d, k). NumPy or torch.
    Returns a `Result` that names the misconception when it knows it.
    """
    return judge("best_filter", fn, list(_mixtures()), best_reference, FILTERS)


def _mixtures():
    """Directions with covariances that are far from a multiple of the identity."""
    shapes = [((), 2, 4), ((), 3, 3), ((3,), 2, 5), ((2, 3), 1, 4)]
    sizes = [({"there are leading axes"} if leading else set(),
              {"D": (*leading, k, d), "C": (*leading, d, d)}) for leading, k, d in shapes]
    for case in random_cases(sizes):
        D, root = case.inputs["D"], case.inputs["C"]
        C = root @ root.swapaxes(-1, -2) + 0.3 * np.eye(root.shape[-1], dtype=root.dtype)
        yield Case({"D": D, "C": C}, case.traits)


def _t(x):
    return x.swapaxes(-1, -2)


def _solve(a, b):
    return np.linalg.solve(a, b)


def _unit(D):
    return np.broadcast_to(np.eye(D.shape[-1]), (*D.shape[:-2], D.shape[-1], D.shape[-1]))


FILTERS = [
    Misconception(
        "the rest ignored",
        "This undoes the directions as if there were nothing else in a token. Where does C enter?",
        lambda D, C: np.linalg.pinv(D)),
    Misconception(
        "the signal left out of the covariance",
        "Σ is the covariance of the whole token x, and the signal is a part of it.",
        lambda D, C: _solve(C, _t(D))),
    Misconception(
        "white noise assumed",
        "The rest is not alike in all directions: C says where there is much of it.",
        lambda D, C: _solve(_t(D) @ D + _unit(D), _t(D))),
    Misconception(
        "nothing lost of the signal",
        "This passes the signal whole and lets more noise through than need be. Which W has the "
        "least error if a little less of the signal will do?",
        lambda D, C: _t(_solve(D @ _solve(C, _t(D)), _t(_solve(C, _t(D)))))),
    Misconception(
        "shape of a column filter",
        "Vectors are rows: x W has k entries. Which shape has W?",
        lambda D, C: _t(best_reference(D, C))),
    Misconception(
        "the clean token",
        "This gives back the signal's share of the token, zD. Wanted are the numbers z.",
        lambda D, C: best_reference(D, C) @ D),
    Misconception(
        "not inverted",
        "Where there is much noise the filter has to be small.",
        lambda D, C: (_t(D) @ D + C) @ _t(D), lambda D, C: C @ _t(D)),
]


def pruned_values(fn):
    """Check `fn(W_V, W_O)`: value weights that make the same head and carry nothing else.

    Shapes: W_V (d, d_v), W_O (d_v, k) with k < d_v; `fn` returns W (d, d_v) with
    W · W_O = W_V · W_O that is zero wherever W_O does not look: any direction of values that W_O
    maps to zero, at right angles to all that it reads. NumPy or torch.
    Returns a `Result` that names the misconception when it knows it.
    """
    return judge("pruned_values", fn, list(_heads()), pruned_reference, PRUNINGS)


def _heads():
    sizes = [({"W_O has one column"} if k == 1 else set(), {"W_V": (d, d_v), "W_O": (d_v, k)})
             for d, d_v, k in [(5, 4, 2), (4, 4, 1), (6, 5, 3), (3, 6, 2)]]
    return random_cases(sizes)


def _onto(W_O):
    return W_O @ np.linalg.pinv(W_O)


PRUNINGS = [
    Misconception(
        "nothing removed",
        "The head is the same, and so are the values. What in them does W_O map to zero?",
        lambda W_V, W_O: W_V),
    Misconception(
        "the product",
        "This is what the head makes of a token, and has its width. Values keep theirs.",
        lambda W_V, W_O: W_V @ W_O),
    Misconception(
        "what is ignored, kept",
        "W_O maps all of this to zero: it is the part to be taken away.",
        lambda W_V, W_O: W_V - W_V @ _onto(W_O)),
    Misconception(
        "transposed instead of inverted",
        "Values come out longer or shorter than they were: is the product with W_O the same?",
        lambda W_V, W_O: W_V @ W_O @ _t(W_O)),
    Misconception(
        "columns cut off",
        "Which columns W_O reads is not a matter of their order.",
        lambda W_V, W_O: W_V * (np.arange(W_V.shape[1]) < W_O.shape[1])),
]
