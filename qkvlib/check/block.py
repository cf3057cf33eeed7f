"""The exercise `attention_step`: the first half of a transformer block, attention and around it."""

import numpy as np

from ..attention import attention
from .cases import Case, random_cases
from .judge import Misconception, judge


def attention_step(fn):
    """Check `fn(x, W_Q, W_K, W_V, W_O)`: x plus what one head makes of its normalised tokens.

    Shapes: x (..., n, d_model), W_Q and W_K (d_model, d_k), W_V (d_model, d_v), W_O (d_v, d_model);
    `fn` returns (..., n, d_model). LayerNorm without scale and shift, no biases. NumPy or torch.
    Returns a `Result` that names the misconception when it knows it.
    """
    cases = [_wide(case) for case in random_cases(_shapes())]
    return judge("attention_step", fn, cases, _step(), MISCONCEPTIONS)


def _shapes():
    for leading in ((), (2,), (2, 3)):
        for n, d, d_k, d_v in [(4, 4, 4, 4), (5, 6, 2, 3), (3, 8, 5, 2), (1, 5, 3, 3)]:
            traits = {"there are leading axes": leading, "there is a single token": n == 1}
            yield ({trait for trait, holds in traits.items() if holds},
                   {"x": (*leading, n, d), "W_Q": (d, d_k), "W_K": (d, d_k), "W_V": (d, d_v),
                    "W_O": (d_v, d)})


def _wide(case):
    """The same case with tokens so large that the small number in a LayerNorm's root is nothing."""
    return Case({**case.inputs, "x": 20 * case.inputs["x"]}, case.traits)


def _norm(x, axis=-1, ddof=0):
    return (x - x.mean(axis, keepdims=True)) / x.std(axis, keepdims=True, ddof=ddof)


def _step(*, before=_norm, after=lambda x: x, skip=lambda x: x, value=None, project=True):
    """A step, right or wrong: norms before and after, what is added, what the values see."""
    def step(x, W_Q, W_K, W_V, W_O):
        seen = before(x)
        values = (seen if value is None else value(x)) @ W_V
        mixed = attention(seen @ W_Q, seen @ W_K, values)
        return after(skip(x) + (mixed @ W_O if project else mixed))
    return step


MISCONCEPTIONS = [
    Misconception(
        "residual connection forgotten",
        "This is what attention says. What becomes of the token that has asked?",
        _step(skip=lambda x: 0)),
    Misconception(
        "normalised tokens added",
        "The way round leads past everything. What goes in at its beginning?",
        _step(skip=_norm)),
    Misconception(
        "norm forgotten",
        "Tokens twice as large make scores four times as large here. What stands before attention?",
        _step(before=lambda x: x)),
    Misconception(
        "norm after the sum",
        "Some blocks normalise there. Where does the figure have it?",
        _step(before=lambda x: x, after=_norm),
        _step(after=_norm)),
    Misconception(
        "values not normalised",
        "Queries, keys and values are made of one and the same thing. Which?",
        _step(value=lambda x: x)),
    Misconception(
        "norm over the tokens",
        "Each token is normalised for itself. Over which axis, then?",
        _step(before=lambda x: _norm(x, axis=-2)),
        _step(before=lambda x: _norm(x, axis=0)),
        _step(before=lambda x: _norm(x, axis=None))),
    Misconception(
        "mean not taken off",
        "A LayerNorm does two things. Which one comes before the division?",
        _step(before=lambda x: x / x.std(-1, keepdims=True)),
        _step(before=lambda x: x / np.sqrt((x**2).mean(-1, keepdims=True)))),
    Misconception(
        "spread not divided out",
        "A LayerNorm does two things. Which one comes after the mean is taken off?",
        _step(before=lambda x: x - x.mean(-1, keepdims=True))),
    Misconception(
        "divided by the variance",
        "The spread should become 1. What is the spread of x divided by its variance?",
        _step(before=lambda x: (x - x.mean(-1, keepdims=True)) / x.var(-1, keepdims=True))),
    Misconception(
        "spread of a sample",
        "A LayerNorm divides the sum of squares by the width. Do you divide by one less?",
        _step(before=lambda x: _norm(x, ddof=1))),
    Misconception(
        "output projection forgotten",
        "Which matrix leads the head's output back to the width of the tokens?",
        _step(project=False)),
]
