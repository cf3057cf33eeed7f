"""The exercises `symmetry_score`, in code, and `one_sided`, which breaks a claim."""

import numpy as np

from ..attention import softmax
from ..forms import symmetry_score as reference
from .cases import Case, random_cases
from .judge import Misconception, judge
from .result import failed, not_attempted, passed
from .trial import as_array, brief


def symmetry_score(fn):
    """Check `fn(M)`: tr(M M) / ‖M‖², for matrices (..., d, d); returns (...). NumPy or torch.

    Returns a `Result` that names the misconception when it knows it.
    """
    return judge("symmetry_score", fn, list(_forms()), reference, MISCONCEPTIONS)


def _forms():
    """Random forms, some nearly symmetric: at random ones the score is small whatever one does."""
    for leading in ((), (3,), (2, 3)):
        traits = {"there are leading axes"} if leading else set()
        sizes = [(traits, {"M": (*leading, d, d)}) for d in (2, 3, 6)]
        for case in random_cases(sizes, seed=len(leading)):
            yield case
            M = case.inputs["M"]
            yield Case({"M": M + 0.8 * M.swapaxes(-1, -2)}, case.traits)


def _square(M):
    return (M * M).sum((-1, -2))


def _trace(M):
    return np.trace(M, axis1=-2, axis2=-1)


def _t(M):
    return M.swapaxes(-1, -2)


MISCONCEPTIONS = [
    Misconception(
        "always one",
        "tr(M Mᵀ) is ‖M‖² itself, for every matrix. Which of the two has no transpose in it?",
        lambda M: np.ones(M.shape[:-2])),
    Misconception(
        "not normalised",
        "Doubling M must not change how symmetric it is. Divide by what?",
        lambda M: _trace(M @ M)),
    Misconception(
        "norm not squared",
        "Doubling M doubles its norm, and the trace of M M grows fourfold.",
        lambda M: _trace(M @ M) / np.sqrt(_square(M))),
    Misconception(
        "square of the trace",
        "Only the diagonal is looked at. Where does M M have the products M_ij M_ji?",
        lambda M: _trace(M)**2 / _square(M),
        lambda M: _trace(M * M) / _square(M)),
    Misconception(
        "share of the symmetric part",
        "This runs from 0 to 1, and is ½ for a random form. Which line takes it to −1 … 1?",
        lambda M: _square(M + _t(M)) / 4 / _square(M),
        lambda M: np.sqrt(_square(M + _t(M)) / 4 / _square(M))),
    Misconception(
        "share of the skew part",
        "This is large where M is not symmetric: the score is to be large where it is.",
        lambda M: _square(M - _t(M)) / 4 / _square(M),
        lambda M: np.sqrt(_square(M - _t(M)) / 4 / _square(M)),
        lambda M: -reference(M)),
    Misconception(
        "spectral norm",
        "The norm of the score is the root of the sum of all squared entries.",
        lambda M: _trace(M @ M) / np.linalg.norm(M, 2, axis=(-2, -1))**2),
]


def one_sided(tokens):
    """Check tokens X (n, d) under which token 1 attends to token 2, and 2 not to 1, by X Xᵀ alone.

    The weights are the softmax of X Xᵀ / √d; wanted are a_12 > 0.9 and a_21 < 0.1. Lists, arrays or
    tensors. Returns a `Result` that names the misconception when it knows it.
    """
    exercise = "one_sided"
    if tokens is None or tokens is Ellipsis:
        return not_attempted(exercise)
    try:
        X = as_array(tokens).astype(np.float64)
    except Exception as error:  # whatever was handed in, the notebook goes on
        return failed(exercise, "not a table of numbers", f"cannot be read: {brief(error)}.",
                      "Give one row of numbers a token.")
    if X.ndim != 2 or len(X) < 2 or not X.size or not np.all(np.isfinite(X)):
        return failed(exercise, "not a table of tokens",
                      f"has shape {X.shape}; wanted (n, d), n at least 2, all entries finite.",
                      "One row of numbers a token.")
    scores = X @ X.T / np.sqrt(X.shape[1])
    there, back = softmax(scores)[[0, 1], [1, 0]]
    finding = f"a_12 is {there:.2f} and a_21 is {back:.2f}"
    if there > 0.9 and back < 0.1:
        return passed(exercise, f"{finding}, from scores that are symmetric.")
    name, hint = _why(scores, there, back)
    return failed(exercise, name, f"{finding}.", hint)


def _why(scores, there, back):
    (own, across), (_, other) = scores[:2, :2]
    if there < 0.1 and back > 0.9:
        return "the wrong way round", "Rows belong to queries. Which token is to do the looking?"
    if np.isclose(own, other):
        return ("equal lengths", "Of two vectors of one length, neither has a greater product with "
                                 "the other than with itself. Which should be longer?")
    if scores[0, 2:].max(initial=-np.inf) > max(own, across):
        return "another token wins", "Two tokens are enough. What does the third one do here?"
    if across <= own:
        return ("token 1 keeps to itself", "Token 1 looks where its product is greatest: at "
                                           "itself, as long as x_1 · x_1 is more than x_1 · x_2.")
    if back >= 0.1:
        return "token 2 looks back", "What would keep token 2 busy with somebody else: itself, say?"
    return "not sharp enough", "The direction is right. What makes a softmax sharper?"
