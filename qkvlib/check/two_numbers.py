"""The exercise `two_numbers`: values of width two from which two attributes can be read."""

import numpy as np
from scipy.optimize import linprog

from .result import failed, not_attempted, passed
from .trial import as_array, brief

KINDS = 6  # colours, and as many sizes
EXERCISE = "two_numbers"


def two_numbers(W_V):
    """Check value weights (12, 2) that let a linear probe read colour and size, each without fault.

    Tokens are one-hot, six features for the colour and six for the size; a linear probe gives each
    class a weighted sum of the two numbers plus a constant, and guesses the greatest. Lists, arrays
    or tensors. Returns a `Result` that names the misconception when it knows it.
    """
    if W_V is None or W_V is Ellipsis:
        return not_attempted(EXERCISE)
    try:
        W_V = as_array(W_V).astype(np.float64)
    except Exception as error:  # whatever was handed in, the notebook goes on
        return failed(EXERCISE, "not a table of numbers", f"cannot be read: {brief(error)}.",
                      "Give twelve rows of two numbers.")
    if W_V.shape != (2 * KINDS, 2) or not np.all(np.isfinite(W_V)):
        return failed(EXERCISE, "wrong shape", f"has shape {W_V.shape}; wanted (12, 2), finite.",
                      "A row for each feature, first the colours, then the sizes.")
    colours, sizes = W_V[:KINDS], W_V[KINDS:]
    values = (colours[:, None] + sizes).reshape(-1, 2)  # of the 36 kinds of token
    values = values / max(1e-300, np.abs(values).max())
    each = np.arange(KINDS)
    labels = {"colour": np.repeat(each, KINDS), "size": np.tile(each, KINDS)}
    read = {name: _separable(values, named) for name, named in labels.items()}
    if all(read.values()):
        return passed(EXERCISE, "a linear probe reads six colours and six sizes from two numbers.")
    name, hint = _why(colours, sizes, read)
    missed = " and ".join(name for name, fine in read.items() if not fine)
    return failed(EXERCISE, name, f"no linear probe reads the {missed} without fault.", hint)


def _separable(values, named):
    """Whether affine functions exist, one a class, each the greatest by a margin on its class."""
    rows = []
    for value, label in zip(values, named, strict=True):
        for other in set(range(KINDS)) - {int(label)}:
            row = np.zeros((KINDS, 3))
            row[other, :2], row[other, 2] = value, 1
            row[label] = -row[other]
            rows.append(row.ravel())
    found = linprog(np.zeros(3 * KINDS), rows, -np.ones(len(rows)), bounds=(-1e7, 1e7))
    return found.status == 0


def _why(colours, sizes, read):
    if min(_closest(colours), _closest(sizes)) <= 1e-9 * np.abs([colours, sizes]).max():
        return ("two of a kind look alike",
                "Two colours, or two sizes, get the same two numbers. Nobody can tell them apart.")
    steps = np.concatenate([colours - colours[0], sizes - sizes[0]])
    if np.linalg.matrix_rank(steps, tol=1e-9 * np.abs(steps).max()) < 2:
        return ("all on one line",
                "All tokens lie on one line, where colours and sizes get into each other's way. "
                "You have two numbers.")
    if not any(read.values()):
        return ("both spread over the plane",
                "Each of the two uses both numbers, and each blurs the other. How much room does "
                "one of them need, if a probe may add a constant?")
    return ("one blurs the other",
            "Draw the 36 points: those of one class must not lie among those of another.")


def _closest(points):
    apart = np.linalg.norm(points[:, None] - points, axis=-1)
    return apart[~np.eye(len(points), dtype=bool)].min()
