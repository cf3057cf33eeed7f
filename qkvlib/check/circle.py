"""The exercises `sharp_map`, any map in two dimensions, and `out_of_reach`, beyond two."""

import numpy as np

from ..attention import softmax
from ..rank import least_rank
from .cases import Case
from .judge import fault, refuse
from .result import failed, not_attempted, passed
from .trial import as_array, brief, run

WEIGHT = 0.9


def sharp_map(fn):
    """Check `fn(f)`: queries and keys (n, 2) under which token i gives f[i] 0.9 of its weight.

    `f` is an array of n whole numbers, counted from 0. The weights are the softmax of query · keyᵀ,
    with no further scale; `fn` returns the pair (query, key). NumPy or torch; any vectors will do.
    Returns a `Result` that names the misconception when it knows it.
    """
    exercise = "sharp_map"
    early = refuse(exercise, fn)
    if early is not None:
        return early
    cases = [Case({"f": f}) for f in _maps()]
    outcomes = run(fn, cases)
    early = fault(exercise, cases, outcomes)
    if early is not None:
        return early
    for case, outcome in zip(cases, outcomes, strict=True):
        f, answer = case.inputs["f"], outcome.answer
        n = len(f)
        if answer.ndim != 3 or answer.shape[:2] != (2, n):
            return failed(exercise, "wrong shape", f"returns shape {answer.shape} for {n} tokens.",
                          "Return queries and keys, (n, 2) each.")
        if answer.shape[2] != 2:
            return failed(exercise, "not two dimensions",
                          f"the vectors have {answer.shape[2]} entries.", "Two are to be enough.")
        weights = softmax(answer[0] @ answer[1].T)
        least = weights[np.arange(n), f].min()
        if least < WEIGHT - 1e-9:
            name, hint = _why(f, weights)
            return failed(exercise, name, f"n = {n}: a wanted token gets {least:.2f}.", hint)
    return passed(exercise, f"every wanted token of {len(cases)} maps gets {WEIGHT} or more.")


def _maps():
    """Two small maps, one with tokens that nobody wants, and random ones, the last of 40 tokens."""
    rng = np.random.default_rng(0)
    return [np.array([1, 2, 0]), np.array([2, 2, 2, 0, 1]),
            *(rng.integers(n, size=n) for n in (2, 4, 7, 12)), rng.permutation(40)]


def _why(f, weights):
    """What went wrong, from the first map that fails."""
    n, best = len(f), weights.max(-1)
    wins = weights.argmax(-1)
    tied = (np.isclose(weights, best[:, None], rtol=1e-9).sum(-1) > 1)
    if np.allclose(weights, 1 / n):
        return "even weights", "All scores of a row are alike. Do your keys differ?"
    if np.array_equal(wins, f) and not tied.any():
        if n > 12:
            return ("too flat where keys are many",
                    "The nearest rival comes closer as n grows. How does 1 − cos(2π / n) shrink?")
        return "too flat", "The winners are right. What makes a softmax sharper?"
    if tied.any():
        return "keys that coincide", "Two keys share the first place. Are they at different places?"
    if np.array_equal(wins, np.arange(n)):
        return "each finds itself", "Token i is to find f[i]. At whose key does its query point?"
    if len(set(f.tolist())) == n and np.array_equal(wins, np.argsort(f)):
        return "the map turned round", "These tokens find who wants them. Index the keys by f."
    if len(set(wins.tolist())) <= 2:
        return ("keys on a line",
                "On a line only the two outer keys can win. How do all get outside?")
    return None, "Draw the keys of three tokens, and the query that is to find the first."


def out_of_reach(weights):
    """Check weights (4, 4), none above a half, that no head of width 2 makes on any tokens.

    Positive, each row with the sum 1 (to a millionth). Lists, arrays or tensors.
    Returns a `Result` that names the misconception when it knows it.
    """
    exercise = "out_of_reach"
    if weights is None or weights is Ellipsis:
        return not_attempted(exercise)
    try:
        A = as_array(weights).astype(np.float64)
    except Exception as error:  # whatever was handed in, the notebook goes on
        return failed(exercise, "not a table of numbers", f"cannot be read: {brief(error)}.",
                      "Give four rows of four numbers.")
    if A.shape != (4, 4) or not np.all(np.isfinite(A)):
        return failed(exercise, "wrong shape", f"has shape {A.shape}, wanted (4, 4).",
                      "One row for each query, one column for each key, all entries finite.")
    if (A <= 0).any():
        return failed(exercise, "not positive", f"the least entry is {A.min():g}.",
                      "A softmax gives every key something. What would the logarithm of 0 be?")
    if not np.allclose(A.sum(-1), 1, atol=1e-6):
        if np.allclose(A.sum(0), 1, atol=1e-6):
            return failed(exercise, "columns normalised", "the columns sum to 1, not the rows.",
                          "Each query shares out a total of 1 among the keys.")
        return failed(exercise, "not normalised", f"a row sums to {A[0].sum():g}.",
                      "Each query shares out a total of 1 among the keys.")
    if A.max() > 0.5:
        return failed(exercise, "too sharp", f"the largest weight is {A.max():.2f}.",
                      "Sharp ones are not needed. What matters about a table beside its peaks?")
    rank = least_rank(A / A.sum(-1, keepdims=True), tolerance=1e-3)
    if rank > 2:
        return passed(exercise, f"scores of rank {rank} are needed, flat as the weights are.")
    finding = f"scores of rank {rank} make them"
    if rank == 0:
        return failed(exercise, "even weights", f"{finding}.", "A query of zero does that.")
    if np.linalg.matrix_rank(A, tol=1e-3) > 2:
        return failed(exercise, "rank of the weights taken", f"{finding}.",
                      "The weights have a higher rank. But what is it that W_Q and W_K make?")
    return failed(exercise, "too few different rows", f"{finding}.",
                  "Take the logarithms, centre each row: are three of these independent?")
