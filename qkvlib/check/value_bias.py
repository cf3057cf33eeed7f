"""The exercise `fold_value_bias`: move the value bias behind the output projection."""

import numpy as np

from .. import bias
from .cases import Case, random_cases
from .judge import Misconception, judge
from .trial import run


def fold_value_bias(fn):
    """Check `fn(b_V, W_O, b_O)`: the output bias that makes the value bias superfluous.

    Shapes: b_V (d_v,), W_O (d_v, d_model), b_O (d_model,); `fn` returns (d_model,), the bias with
    which attention without b_V gives what it gave with b_V and b_O. NumPy or torch.
    Returns a `Result` that names the misconception when it knows it.
    """
    recounted = Misconception(
        "b_V W_O counted the wrong number of times",
        "Each row of weights sums to 1. How often does the value bias reach one output, then?",
        lambda b_V, W_O, b_O: b_O + _count(fn) * (b_V @ W_O),
        lambda b_V, W_O, b_O: b_O + b_V.size * (b_V @ W_O),
        lambda b_V, W_O, b_O: b_O + b_O.size * (b_V @ W_O),
        lambda b_V, W_O, b_O: b_O + b_V @ W_O / b_V.size)
    return judge("fold_value_bias", fn, random_cases(_shapes()), _reference,
                 [*MISCONCEPTIONS, recounted])


def _reference(b_V, W_O, b_O):
    return bias.fold_value_bias(b_V, W_O, b_O, np.ones((1, 1)))


def _shapes():
    for d_v, d_model in [(4, 4), (3, 5), (5, 3), (1, 4), (6, 1), (1, 1), (7, 7), (8, 24)]:
        trait = "W_O is square" if d_v == d_model else "W_O is not square"
        yield {trait}, {"b_V": (d_v,), "W_O": (d_v, d_model), "b_O": (d_model,)}


def _count(fn):
    """How often `fn` counts a value bias of 1 behind a projection of 1."""
    one = Case({"b_V": np.ones(1), "W_O": np.ones((1, 1)), "b_O": np.zeros(1)})
    outcome = run(fn, [one])[0]
    if outcome.fault or outcome.answer.shape != (1,):
        raise ValueError("no number to read a count from")
    return outcome.answer[0]


MISCONCEPTIONS = [
    Misconception(
        "output projection forgotten",
        "The value bias lies before W_O, the output bias behind it. What happens on the way?",
        lambda b_V, W_O, b_O: b_V + b_O),
    Misconception(
        "output projection transposed",
        "Vectors are rows in this book, and W_O has shape (d_v, d_model). Which side is b_V on?",
        lambda b_V, W_O, b_O: W_O @ b_V + b_O),
    Misconception(
        "old output bias forgotten",
        "That is what the value bias adds. What was there before?",
        lambda b_V, W_O, b_O: b_V @ W_O),
    Misconception(
        "value bias forgotten",
        "This bias knows nothing of b_V. What did b_V add to every output?",
        lambda b_V, W_O, b_O: b_O),
    Misconception(
        "sign flipped",
        "Is the value bias there to be cancelled, or to be carried over?",
        lambda b_V, W_O, b_O: b_O - b_V @ W_O,
        lambda b_V, W_O, b_O: b_V @ W_O - b_O),
    Misconception(
        "output bias projected too",
        "The old output bias lies behind W_O already. Should it pass through again?",
        lambda b_V, W_O, b_O: (b_V + b_O) @ W_O),
    Misconception(
        "sum over the width forgotten",
        "One number for each output feature is wanted. Over which axis does a projection sum?",
        lambda b_V, W_O, b_O: b_V[:, None] * W_O + b_O,
        lambda b_V, W_O, b_O: b_V * W_O + b_O),
]
