"""The exercise `same_head`: change the query weights, and the key weights so that nothing moves."""

import numpy as np

from .cases import Case, random_cases
from .judge import Misconception, judge


def same_head(fn):
    """Check `fn(W_Q, W_K, G)`: the key weights with which W_Q G makes the same scores.

    Shapes: W_Q and W_K (d_model, d_k) with d_k ≤ d_model, G (d_k, d_k), invertible; `fn` returns
    (d_model, d_k). NumPy or torch.
    Returns a `Result` that names the misconception when it knows it.
    """
    cases = [_invertible(case) for case in random_cases(_shapes())]
    return judge("same_head", fn, cases, _reference, MISCONCEPTIONS)


def _shapes():
    for d_model, d_k in [(4, 4), (5, 3), (8, 2), (3, 1), (6, 6), (9, 4)]:
        traits = {"W_K is square": d_model == d_k, "d_k is 1": d_k == 1}
        yield ({trait for trait, holds in traits.items() if holds},
               {"W_Q": (d_model, d_k), "W_K": (d_model, d_k), "G": (d_k, d_k)})


def _invertible(case):
    """The same case with a G whose singular values lie between 1/2 and 2, far from symmetric."""
    G = case.inputs["G"]
    left, values, right = np.linalg.svd(G.astype(np.float64))
    values = np.geomspace(2, 0.5, len(values)) if len(values) > 1 else np.array([1.6])
    return Case({**case.inputs, "G": ((left * values) @ right).astype(G.dtype)}, case.traits)


def _reference(W_Q, W_K, G):
    return W_K @ np.linalg.inv(G).T


MISCONCEPTIONS = [
    Misconception(
        "transpose of the inverse forgotten",
        "In W_Q W_K^T the key weights stand transposed. What becomes of G^-1 there?",
        lambda W_Q, W_K, G: W_K @ np.linalg.inv(G)),
    Misconception(
        "inverse forgotten",
        "G should meet something that undoes it. Do yours undo each other?",
        lambda W_Q, W_K, G: W_K @ G.T,
        lambda W_Q, W_K, G: W_K @ G),
    Misconception(
        "keys left as they were",
        "The queries have changed. Which scores would these keys make with them?",
        lambda W_Q, W_K, G: W_K),
    Misconception(
        "query weights taken",
        "It is the key weights that have to answer. Which of the two did you change?",
        lambda W_Q, W_K, G: W_Q @ np.linalg.inv(G).T,
        lambda W_Q, W_K, G: W_Q @ np.linalg.inv(G),
        lambda W_Q, W_K, G: W_Q @ G),
    Misconception(
        "form returned",
        "This is W_Q W_K^T, which stays the same. Which W_K makes it together with W_Q G?",
        lambda W_Q, W_K, G: W_Q @ W_K.T),
    Misconception(
        "sign flipped",
        "In size it is right. Two minus signs would cancel: is there a second one?",
        lambda W_Q, W_K, G: -W_K @ np.linalg.inv(G).T),
    Misconception(
        "entries inverted, not the matrix",
        "1 / G inverts each number. Which matrix times G is the identity?",
        lambda W_Q, W_K, G: W_K @ (1 / G).T,
        lambda W_Q, W_K, G: W_K @ (1 / G)),
]
