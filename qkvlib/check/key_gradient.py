"""The exercise `key_gradient`: the gradient of W_K from that of the scores, with a query bias."""

import numpy as np

from .cases import random_cases
from .judge import Misconception, judge


def key_gradient(fn):
    """Check `fn(X, D, W_Q, b_Q)`: dL / dW_K, where D = dL / dS and S = Q Kᵀ / √d_k.

    Shapes: X (n, d), D (n, n), W_Q (d, d_k), b_Q (d_k,); Q = X W_Q + b_Q, K = X W_K. `fn` returns
    (d, d_k). NumPy or torch. Returns a `Result` that names the misconception when it knows it.
    """
    return judge("key_gradient", fn, random_cases(_shapes()), _reference, MISCONCEPTIONS)


def _shapes():
    for n, d, d_k in [(5, 4, 3), (4, 4, 4), (6, 3, 5), (2, 7, 2), (3, 5, 1), (7, 2, 6)]:
        trait = "n, d and d_k are equal" if n == d == d_k else "n, d and d_k differ"
        yield {trait}, {"X": (n, d), "D": (n, n), "W_Q": (d, d_k), "b_Q": (d_k,)}


def _reference(X, D, W_Q, b_Q):
    return X.T @ D.T @ (X @ W_Q + b_Q) / np.sqrt(b_Q.size)


MISCONCEPTIONS = [
    Misconception(
        "query bias forgotten",
        "Half of it is right. The key is compared with Q: what is Q made of?",
        lambda X, D, W_Q, b_Q: X.T @ D.T @ X @ W_Q / np.sqrt(b_Q.size)),
    Misconception(
        "scale forgotten",
        "S is Q Kᵀ divided by something, and the chain rule keeps it.",
        lambda X, D, W_Q, b_Q: X.T @ D.T @ (X @ W_Q + b_Q),
        lambda X, D, W_Q, b_Q: X.T @ D.T @ X @ W_Q),
    Misconception(
        "divided by d_k",
        "Which power of d_k stands in the scores?",
        lambda X, D, W_Q, b_Q: X.T @ D.T @ (X @ W_Q + b_Q) / b_Q.size),
    Misconception(
        "D not transposed",
        "Row i of D belongs to query i. Over which index does a key collect its gradient?",
        lambda X, D, W_Q, b_Q: X.T @ D @ (X @ W_Q + b_Q) / np.sqrt(b_Q.size),
        lambda X, D, W_Q, b_Q: X.T @ D @ X @ W_Q / np.sqrt(b_Q.size)),
    Misconception(
        "only the symmetric part",
        "A tied matrix receives the sum of both gradients. This one is the key's alone.",
        lambda X, D, W_Q, b_Q: X.T @ (D + D.T) @ (X @ W_Q + b_Q) / np.sqrt(b_Q.size),
        lambda X, D, W_Q, b_Q: X.T @ (D + D.T) / 2 @ (X @ W_Q + b_Q) / np.sqrt(b_Q.size)),
    Misconception(
        "bias added to every row of the result",
        "The bias belongs to each query. With which entries of D does it meet a key?",
        lambda X, D, W_Q, b_Q: (X.T @ D.T @ X @ W_Q + b_Q) / np.sqrt(b_Q.size),
        lambda X, D, W_Q, b_Q: X.T @ D.T @ X @ W_Q / np.sqrt(b_Q.size) + b_Q),
    Misconception(
        "sign flipped",
        "Gradient descent subtracts the gradient later. Which sign has the gradient itself?",
        lambda X, D, W_Q, b_Q: -_reference(X, D, W_Q, b_Q)),
    Misconception(
        "gradient of K, not of W_K",
        "K is X W_K. One more factor leads from K to W_K.",
        lambda X, D, W_Q, b_Q: D.T @ (X @ W_Q + b_Q) / np.sqrt(b_Q.size)),
]
