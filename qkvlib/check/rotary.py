"""The exercise `same_rotary_head`: the gauge that rotary positions leave to a pair of features."""

import numpy as np

from .cases import Case, random_cases
from .judge import Misconception, judge


def same_rotary_head(fn):
    """Check `fn(W_Q, W_K, turn, stretch)`: key weights that leave every rotary score as it was.

    Features f and f + d_k / 2 of a query are a pair, the numbers a + ib. Somebody has multiplied
    pair f of W_Q by stretch_f · e^(i turn_f). Shapes: W_Q and W_K (d_model, d_k), turn and stretch
    (d_k / 2); `fn` gets W_Q as it was, and returns (d_model, d_k). NumPy or torch.
    Returns a `Result` that names the misconception when it knows it.
    """
    cases = [_positive(case) for case in random_cases(_shapes())]
    return judge("same_rotary_head", fn, cases, _reference, MISCONCEPTIONS)


def _shapes():
    for d_model, pairs in [(4, 2), (6, 3), (3, 1), (8, 4), (5, 1)]:
        traits = {"there is one pair"} if pairs == 1 else set()
        yield traits, {"W_Q": (d_model, 2 * pairs), "W_K": (d_model, 2 * pairs),
                       "turn": (pairs,), "stretch": (pairs,)}


def _positive(case):
    """The same case with factors of stretching that are far enough from 1."""
    stretch = case.inputs["stretch"]
    changed = (1.3 + abs(stretch)) ** np.sign(stretch)
    return Case({**case.inputs, "stretch": changed.astype(stretch.dtype)}, case.traits)


def _multiplied(W, factor):
    """The pairs of W times complex numbers, one a pair."""
    a, b = np.split(W, 2, axis=-1)
    pairs = (a + 1j * b) * factor
    return np.concatenate([pairs.real, pairs.imag], axis=-1)


def _neighbours(W, factor):
    """The same with neighbouring features taken for pairs."""
    pairs = (W[..., ::2] + 1j * W[..., 1::2]) * factor
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(W.shape)


def _reference(W_Q, W_K, turn, stretch):
    return _multiplied(W_K, np.exp(1j * turn) / stretch)


MISCONCEPTIONS = [
    Misconception(
        "neighbours taken for pairs",
        "Which feature makes a pair with the first: the second, or one half of d_k further on?",
        lambda W_Q, W_K, turn, stretch: _neighbours(W_K, np.exp(1j * turn) / stretch)),
    Misconception(
        "turned back",
        "Turn an arrow, and another one the other way. What happens to the angle between them?",
        lambda W_Q, W_K, turn, stretch: _multiplied(W_K, np.exp(-1j * turn) / stretch)),
    Misconception(
        "stretched as well",
        "The queries have grown. Which length must the keys have for the same product?",
        lambda W_Q, W_K, turn, stretch: _multiplied(W_K, np.exp(1j * turn) * stretch)),
    Misconception(
        "all of it repeated backwards",
        "Both turn and stretch are wrong. What keeps a product of two turned arrows?",
        lambda W_Q, W_K, turn, stretch: _multiplied(W_K, np.exp(-1j * turn) * stretch)),
    Misconception(
        "turn forgotten",
        "The lengths fit. Into which direction do the queries look now?",
        lambda W_Q, W_K, turn, stretch: _multiplied(W_K, 1 / stretch)),
    Misconception(
        "stretch forgotten",
        "The directions fit. How long are the queries now?",
        lambda W_Q, W_K, turn, stretch: _multiplied(W_K, np.exp(1j * turn))),
    Misconception(
        "keys left as they were",
        "The queries have changed. Which scores would these keys make with them?",
        lambda W_Q, W_K, turn, stretch: W_K),
    Misconception(
        "query weights taken",
        "It is the key weights that have to answer. Which of the two did you change?",
        lambda W_Q, W_K, turn, stretch: _multiplied(W_Q, np.exp(1j * turn) / stretch),
        lambda W_Q, W_K, turn, stretch: _multiplied(W_Q, np.exp(1j * turn) * stretch)),
]
