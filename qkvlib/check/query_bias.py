"""The exercise `query_bias_prior`: the prior over keys that a query bias amounts to."""

import numpy as np

from ..attention import softmax
from ..bias import query_bias_prior as reference
from .cases import random_cases
from .judge import Misconception, judge


def query_bias_prior(fn):
    """Check `fn(key, b_Q)`: the prior p over keys with weights(with b_Q) ∝ p · weights(without).

    Shapes: key (..., m, d_k), b_Q (d_k,); `fn` returns (..., m), whose rows sum to 1. NumPy or
    torch. Returns a `Result` that names the misconception when it knows it.
    """
    return judge("query_bias_prior", fn, random_cases(_shapes()), reference, MISCONCEPTIONS)


def _shapes():
    for leading in ((), (3,), (2, 3)):
        for m, d_k in [(4, 4), (6, 3), (3, 5), (1, 4)]:
            traits = {"there are leading axes": leading, "there is a single key": m == 1}
            yield ({trait for trait, holds in traits.items() if holds},
                   {"key": (*leading, m, d_k), "b_Q": (d_k,)})


def _logits(key, b_Q):
    return key @ b_Q / np.sqrt(b_Q.size)


MISCONCEPTIONS = [
    Misconception(
        "no scaling",
        "The query bias is part of the query. What happens to a query's dot product with a key?",
        lambda key, b_Q: softmax(key @ b_Q)),
    Misconception(
        "divided by d_k",
        "Use the scale that the scores themselves have.",
        lambda key, b_Q: softmax(key @ b_Q / b_Q.size)),
    Misconception(
        "multiplied by √d_k",
        "Use the scale that the scores themselves have.",
        lambda key, b_Q: softmax(key @ b_Q * np.sqrt(b_Q.size))),
    Misconception(
        "uniform prior",
        "All keys are equal here. Which keys does b_Q favour before any query has spoken?",
        lambda key, b_Q: np.full(key.shape[:-1], 1 / key.shape[-2])),
    Misconception(
        "sign flipped",
        "Does a key that points along b_Q gain or lose?",
        lambda key, b_Q: softmax(-_logits(key, b_Q))),
    Misconception(
        "not normalised",
        "In proportion it is right. What do the entries of a prior sum to?",
        lambda key, b_Q: np.exp(_logits(key, b_Q))),
    Misconception(
        "no softmax",
        "These are scores. What turns a row of scores into shares of 1?",
        _logits,
        lambda key, b_Q: key @ b_Q,
        lambda key, b_Q: np.log(reference(key, b_Q))),
    Misconception(
        "softmax over the wrong axis",
        "One key against the other keys: along which axis do they stand side by side?",
        lambda key, b_Q: softmax(_logits(key, b_Q), axis=0),
        lambda key, b_Q: softmax(_logits(key, b_Q).reshape(-1), axis=0).reshape(key.shape[:-1]),
        lambda key, b_Q: softmax(_logits(key, b_Q)[..., None])[..., 0],
        lambda key, b_Q: softmax(key) @ b_Q,
        lambda key, b_Q: softmax(key / np.sqrt(b_Q.size)) @ b_Q),
    Misconception(
        "softmax before the dot product",
        "The features of one key add up to one score. Does that happen before or after softmax?",
        lambda key, b_Q: softmax(key, axis=-2) @ b_Q,
        lambda key, b_Q: softmax(key * b_Q / np.sqrt(b_Q.size), axis=-2).mean(-1),
        lambda key, b_Q: softmax(key * b_Q / np.sqrt(b_Q.size), axis=-2).sum(-1)),
    Misconception(
        "length of the keys",
        "How long a key is does not depend on b_Q. In which direction should a key point?",
        lambda key, b_Q: softmax(np.linalg.norm(key, axis=-1)),
        lambda key, b_Q: softmax(np.linalg.norm(key, axis=-1) / np.sqrt(b_Q.size)),
        lambda key, b_Q: softmax(np.linalg.norm(key, axis=-1) * np.linalg.norm(b_Q)
                                 / np.sqrt(b_Q.size)),
        lambda key, b_Q: softmax((key * key).sum(-1) / np.sqrt(b_Q.size))),
]
