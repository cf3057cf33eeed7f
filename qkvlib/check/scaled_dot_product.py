"""The exercise `attention`: write scaled dot-product attention."""

from dataclasses import replace

import numpy as np

from ..attention import attention as reference
from ..attention import softmax
from .cases import Case, random_cases
from .judge import Misconception, judge
from .trial import run


def attention(fn):
    """Check `fn(query, key, value)`: scaled dot-product attention.

    Shapes: query (..., n, d_k), key (..., m, d_k), value (..., m, d_v); `fn` returns the output
    (..., n, d_v) or the pair (output, weights). Any style, NumPy or torch.
    Returns a `Result` that names the misconception when it knows it.
    """
    def output_of(*inputs):
        returned = fn(*inputs)
        return returned[0] if _is_pair(returned, inputs[0].ndim) else returned

    candidate = output_of if callable(fn) else fn
    biased = Misconception(
        "query bias added",
        "Some keys are favoured whoever asks. What has been added to every query?",
        lambda query, key, value: reference(query + _bias(candidate, key), key, value))
    result = judge("attention", candidate, random_cases(_shapes()), reference,
                   [*MISCONCEPTIONS, biased])
    return _praise(result, candidate) if result else result


def _is_pair(returned, axes):
    """Whether this is (output, weights); a list of two may also be an output of two rows."""
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        return False
    return isinstance(returned, tuple) or getattr(returned[0], "ndim", None) == axes


def _shapes():
    """Square shapes, which forgive a mixed-up axis; then shapes that forgive nothing."""
    sizes = [(4, 4, 4, 4), (5, 5, 3, 3), (3, 6, 4, 4), (7, 4, 2, 5), (1, 1, 3, 2)]
    for leading in ((), (3,), (2, 3)):
        for n, m, d_k, d_v in sizes + [(17, 33, 16, 8)] * (leading == ()):
            traits = {"there are leading axes": leading, "n ≠ m": n != m, "d_k ≠ d_v": d_k != d_v,
                      "there is a single token": n == m == 1}
            yield ({trait for trait, holds in traits.items() if holds},
                   {"query": (*leading, n, d_k), "key": (*leading, m, d_k),
                    "value": (*leading, m, d_v)})


def _praise(result, fn):
    """A pass, with a remark where scores in the thousands overflow: right, but not yet safe."""
    rng = np.random.default_rng(0)
    large = Case({"query": 200 * rng.standard_normal((4, 3)),
                  "key": 50 * rng.standard_normal((5, 3)), "value": rng.standard_normal((5, 2))})
    if run(fn, [large])[0].agrees(reference(*large.inputs.values())):
        return result
    return replace(result, message=result.message + "\n  Scores in the thousands overflow, "
                   "though: what can be subtracted from a row before the exponential?")


def _bias(fn, key):
    """What `fn` adds to its queries, read off the weights of a query of zeros.

    Keys: the origin and √d_k times each axis, so that the log-weights are the bias itself.
    Values: the identity, so that the output is the weights.
    """
    d_k = key.shape[-1]
    keys = np.sqrt(d_k) * np.eye(d_k + 1, d_k, k=-1)
    probe = Case({"query": np.zeros((1, d_k)), "key": keys, "value": np.eye(d_k + 1)})
    outcome = run(fn, [probe])[0]
    if outcome.fault or outcome.answer.shape != (1, d_k + 1) or np.any(outcome.answer <= 0):
        raise ValueError("no weights to read a bias from")
    log_weights = np.log(outcome.answer[0])
    return log_weights[1:] - log_weights[0]


def _scores(query, key):
    return query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])


def _with_scale(scale):
    """Attention whose dot products are multiplied by `scale(n, m, d_k, d_v)`."""
    def attend(query, key, value):
        sizes = query.shape[-2], *key.shape[-2:], value.shape[-1]
        return reference(query, key, value, scale=scale(*sizes))
    return attend


def _with_weights(weigh):
    """Attention whose weights are `weigh(scores)`."""
    return lambda query, key, value: weigh(_scores(query, key)) @ value


def _unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


MISCONCEPTIONS = [
    Misconception(
        "no scaling",
        "Wider keys make larger scores. What keeps the spread of the scores near 1 at any d_k?",
        _with_scale(lambda n, m, d_k, d_v: 1.0)),
    Misconception(
        "divided by d_k",
        "A dot product of d_k independent terms has variance d_k. How large is it typically?",
        _with_scale(lambda n, m, d_k, d_v: 1 / d_k)),
    Misconception(
        "divided by 2 d_k",
        "Powers bind before products: what does Python make of d_k**1/2 or d_k**-1/2?",
        _with_scale(lambda n, m, d_k, d_v: 1 / (2 * d_k))),
    Misconception(
        "scaled after the softmax",
        "Each row of weights should sum to 1. At which step are the scores too large?",
        lambda query, key, value:
            reference(query, key, value, scale=1.0) / np.sqrt(key.shape[-1])),
    Misconception(
        "multiplied by √d_k",
        "Wider keys make larger scores already. Should the scale add to that or undo it?",
        _with_scale(lambda n, m, d_k, d_v: np.sqrt(d_k))),
    Misconception(
        "scaled by the wrong size",
        "Over which axis does the dot product of a query and a key sum? Its length sets the scale.",
        _with_scale(lambda n, m, d_k, d_v: 1 / np.sqrt(d_v)),
        _with_scale(lambda n, m, d_k, d_v: 1 / np.sqrt(m)),
        _with_scale(lambda n, m, d_k, d_v: 1 / np.sqrt(n))),
    Misconception(
        "hard argmax",
        "Only the best key is heard. In a soft look-up every key gets a share: how large a one?",
        _with_weights(lambda scores: np.eye(scores.shape[-1])[scores.argmax(-1)])),
    Misconception(
        "softmax over the wrong axis",
        "Each query shares out a total of 1 among the keys. Which entries should then sum to 1?",
        _with_weights(lambda scores: softmax(scores, axis=-2)),
        _with_weights(lambda scores: softmax(scores, axis=0)),
        _with_weights(lambda scores: softmax(scores, axis=1)),
        _with_weights(lambda scores: softmax(scores.reshape(-1), axis=0).reshape(scores.shape))),
    Misconception(
        "key and value swapped",
        "One of the two is compared with the query, the other is handed over. Which is which?",
        lambda query, key, value: reference(query, value, key)),
    Misconception(
        "query and key swapped",
        "Who asks? There should be one row of weights for each query.",
        lambda query, key, value: reference(key, query, value)),
    Misconception(
        "query and key not both used",
        "Something is compared with itself. Which two things should meet in a score?",
        lambda query, key, value: reference(query, query, value),
        lambda query, key, value: reference(key, key, value)),
    Misconception(
        "sigmoid instead of softmax",
        "Each weight is decided alone here. In attention the keys compete for a fixed total.",
        _with_weights(lambda scores: 1 / (1 + np.exp(-scores)))),
    Misconception(
        "exponentials not normalised",
        "The weights are positive, as they should be. What should each row of them sum to?",
        _with_weights(np.exp)),
    Misconception(
        "softmax applied twice",
        "The weights are flatter than they should be. What happens to them after they sum to 1?",
        _with_weights(lambda scores: softmax(softmax(scores)))),
    Misconception(
        "logarithm of the weights",
        "Weights are shares between 0 and 1. Which sign do yours have?",
        _with_weights(lambda scores: np.log(softmax(scores)))),
    Misconception(
        "no softmax",
        "Raw scores weigh the values here. How does a row of scores become shares of 1?",
        _with_weights(lambda scores: scores),
        lambda query, key, value: query @ key.swapaxes(-1, -2) @ value),
    Misconception(
        "value forgotten",
        "These are the weights. What do they weigh?",
        lambda query, key, value: softmax(_scores(query, key))),
    Misconception(
        "output transposed",
        "The numbers are right, their axes are not: one row for each query.",
        lambda query, key, value: reference(query, key, value).swapaxes(-1, -2)),
    Misconception(
        "causal mask applied",
        "Some queries cannot see some keys. Did the exercise ask for an order in time?",
        lambda query, key, value: reference(query, key, value, causal=True)),
    Misconception(
        "residual added",
        "The output starts from the query itself. In the formula it is made of values only.",
        lambda query, key, value: query + reference(query, key, value)),
    Misconception(
        "uniform weights",
        "Every key gets the same weight, whatever it says. Where do the scores come in?",
        _with_weights(lambda scores: np.full_like(scores, 1 / scores.shape[-1]))),
    Misconception(
        "cosine similarity",
        "The lengths of queries and keys are lost. Does a longer key not speak louder?",
        lambda query, key, value: reference(_unit(query), _unit(key), value),
        lambda query, key, value: reference(_unit(query), _unit(key), value, scale=1.0)),
]
