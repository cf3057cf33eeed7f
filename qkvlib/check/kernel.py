"""The exercise `kernel_regression`: attention that depends on distances, for keys of any length."""

import numpy as np

from ..attention import attention, softmax
from .cases import random_cases
from .judge import Misconception, judge


def kernel_regression(fn):
    """Check `fn(query, key, value)`: kernel regression with weights ∝ exp(−‖q − k‖² / (2 √d_k)).

    Shapes: query (..., n, d_k), key (..., m, d_k), value (..., m, d_v); `fn` returns
    (..., n, d_v). NumPy or torch, by attention or not.
    Returns a `Result` that names the misconception when it knows it.
    """
    return judge("kernel_regression", fn, random_cases(_shapes()), _reference, MISCONCEPTIONS)


def _shapes():
    for leading in ((), (2,), (2, 3)):
        for n, m, d_k, d_v in [(4, 4, 4, 4), (3, 5, 2, 6), (5, 3, 6, 2), (2, 1, 3, 3)]:
            traits = {"there are leading axes": leading, "there is a single key": m == 1}
            yield ({trait for trait, holds in traits.items() if holds},
                   {"query": (*leading, n, d_k), "key": (*leading, m, d_k),
                    "value": (*leading, m, d_v)})


def _reference(query, key, value):
    return _by_distance(lambda square, d_k: -square / (2 * np.sqrt(d_k)))(query, key, value)


def _by_distance(log_kernel):
    """Kernel regression with the kernel exp(log_kernel(‖q − k‖², d_k))."""
    def regression(query, key, value):
        difference = query[..., :, None, :] - key[..., None, :, :]
        return softmax(log_kernel((difference**2).sum(-1), query.shape[-1])) @ value
    return regression


def _with_coordinate(coordinate, *, rescaled=False):
    """Attention with one more coordinate: 1 for a query, coordinate(‖k‖²) for a key."""
    def regression(query, key, value):
        square = (key**2).sum(-1, keepdims=True)
        longer = np.concatenate([key, coordinate(square)], axis=-1)
        query = np.concatenate([query, np.ones_like(query[..., :1])], axis=-1)
        scale = None if rescaled else 1 / np.sqrt(key.shape[-1])
        return attention(query, longer, value, scale=scale)
    return regression


MISCONCEPTIONS = [
    Misconception(
        "lengths of the keys forgotten",
        "This is plain attention. Which part of ‖q − k‖² depends on the key and is missing?",
        attention),
    Misconception(
        "scaled by the longer width",
        "Right, but for the scale: how wide are the keys once a coordinate has been added?",
        _with_coordinate(lambda square: -square / 2, rescaled=True)),
    Misconception(
        "half forgotten",
        "Multiply ‖q − k‖² out: how often does q · k stand in it, and how often ‖k‖²?",
        _with_coordinate(lambda square: -square),
        _with_coordinate(lambda square: -square, rescaled=True)),
    Misconception(
        "sign flipped",
        "Is a longer key nearer to the query or farther away?",
        _with_coordinate(lambda square: square / 2),
        _with_coordinate(lambda square: square / 2, rescaled=True),
        _by_distance(lambda square, d_k: square / (2 * np.sqrt(d_k)))),
    Misconception(
        "length not squared",
        "Which power of the length stands in ‖q − k‖²?",
        _with_coordinate(lambda square: -np.sqrt(square) / 2),
        _with_coordinate(lambda square: -np.sqrt(square) / 2, rescaled=True)),
    Misconception(
        "distance not squared",
        "A Gaussian falls with the square of the distance. Is a root too many?",
        _by_distance(lambda square, d_k: -np.sqrt(square) / (2 * np.sqrt(d_k)))),
    Misconception(
        "another width of the kernel",
        "The distance is right. What is it divided by in the exponent?",
        _by_distance(lambda square, d_k: -square),
        _by_distance(lambda square, d_k: -square / 2),
        _by_distance(lambda square, d_k: -square / np.sqrt(d_k)),
        _by_distance(lambda square, d_k: -square / d_k),
        _by_distance(lambda square, d_k: -square / (2 * d_k))),
    Misconception(
        "nearest key alone",
        "A kernel gives every key a share. How large a one?",
        lambda query, key, value: _by_distance(lambda square, d_k: -1e9 * square)(
            query, key, value)),
    Misconception(
        "value forgotten",
        "These are the weights. What do they weigh?",
        lambda query, key, value: _reference(query, key, np.eye(key.shape[-2]))),
    Misconception(
        "uniform weights",
        "Every key gets the same share. Where do the distances come in?",
        _by_distance(lambda square, d_k: 0 * square)),
]
