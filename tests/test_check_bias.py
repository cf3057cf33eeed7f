"""The exercises on biases: right answers in any style pass, planted wrong ones hear their name."""

from math import exp

import numpy as np
import pytest
from planted_answers import cases, hears, passes

from qkvlib import attention, check
from qkvlib.check import query_bias, value_bias


def softmax(scores, axis=-1):
    exps = np.exp(scores - scores.max(axis, keepdims=True))
    return exps / exps.sum(axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def normalised(x):
    return x / x.sum(-1, keepdims=True)


def sparsemax(scores):
    """Martins & Astudillo 2016: the point of the simplex nearest to a row of scores."""
    ordered = -np.sort(-scores, axis=-1)
    excess = ordered.cumsum(-1) - 1
    count = np.arange(1, scores.shape[-1] + 1)
    support = (ordered * count > excess).sum(-1, keepdims=True)
    return np.maximum(scores - np.take_along_axis(excess, support - 1, -1) / support, 0)


def top_2(scores):
    bar = -np.sort(-scores, axis=-1)[..., :2].min(-1, keepdims=True)
    return softmax(np.where(scores >= bar, scores, -np.inf))


def causal(scores):
    return softmax(np.where(np.tri(*scores.shape[-2:]) == 1, scores, -np.inf))


def prior(key, b_Q):
    return softmax(key @ b_Q / np.sqrt(len(b_Q)))


def prior_by_attention(key, b_Q):
    """A query of zeros plus the bias reads values that are one-hot: what it reads is the prior."""
    m = key.shape[-2]
    one_hot = np.broadcast_to(np.eye(m, dtype=key.dtype), (*key.shape[:-2], m, m))
    return attention(np.broadcast_to(b_Q, (*key.shape[:-2], 1, b_Q.size)), key, one_hot)[..., 0, :]


def prior_by_loops(key, b_Q):
    if key.ndim > 2:
        return [prior_by_loops(part, b_Q) for part in key]
    shares = [exp(sum(a * b for a, b in zip(k, b_Q, strict=True)) / len(b_Q) ** 0.5) for k in key]
    return [share / sum(shares) for share in shares]


RIGHT = {
    check.fold_value_bias: {
        "matmul": lambda b_V, W_O, b_O: b_V @ W_O + b_O,
        "einsum": lambda b_V, W_O, b_O: np.einsum("v,vd->d", b_V, W_O) + b_O,
        "loops": lambda b_V, W_O, b_O: [float(b_O[d]) + sum(float(b_V[v]) * float(W_O[v, d])
                                        for v in range(len(b_V))) for d in range(len(b_O))],
        "columns": lambda b_V, W_O, b_O: W_O.T @ b_V + b_O,
        "float32": lambda b_V, W_O, b_O: np.dot(b_V.astype("f"), W_O.astype("f")) + b_O.astype("f"),
    },
    check.query_bias_prior: {
        "matmul": prior,
        "attention": prior_by_attention,
        "loops": prior_by_loops,
        "einsum": lambda key, b_Q: normalised(np.exp(
            np.einsum("...md,d->...m", key, b_Q) * b_Q.size ** -0.5)),
        "float32": lambda key, b_Q: prior(key.astype(np.float32), b_Q.astype(np.float32)),
    },
    check.wake_key_bias: {
        "sigmoid": sigmoid,
        "softmax plus one": lambda s: np.exp(s) / (1 + np.exp(s).sum(-1, keepdims=True)),
        "sink": lambda s: softmax(np.concatenate([np.zeros_like(s[..., :1]), s], -1))[..., 1:],
        "capped": lambda s: softmax(5 * np.tanh(s / 5)),
        "capped at 50": lambda s: softmax(50 * np.tanh(s / 50)),
        "elu + 1": lambda s: normalised(np.where(s > 0, s + 1, np.exp(np.minimum(s, 0)))),
        "relu": lambda s: np.maximum(s, 0),
        "relu, normalised": lambda s: normalised(1e-6 + np.maximum(s, 0)),
        "squares": lambda s: normalised(s**2),
        "exponentials": lambda s: np.exp(s),
        "over queries": lambda s: softmax(s, -2),
        "over everything": lambda s: np.exp(s) / np.exp(s).sum(),
        "loops": lambda s: np.vectorize(lambda x: 1 / (1 + exp(-x)))(s),
        "float32": lambda s: sigmoid(s.astype(np.float32)),
    },
}

RECOUNTED = "b_V W_O counted the wrong number of times"
WRONG = {
    check.fold_value_bias: {
        "no W_O": ("output projection forgotten", lambda b_V, W_O, b_O: b_V + b_O),
        "W_O b_V": ("output projection transposed", lambda b_V, W_O, b_O: W_O @ b_V + b_O),
        "W_O.T": ("output projection transposed", lambda b_V, W_O, b_O: b_V @ W_O.T + b_O),
        "no b_O": ("old output bias forgotten", lambda b_V, W_O, b_O: b_V @ W_O),
        "b_O alone": ("value bias forgotten", lambda b_V, W_O, b_O: b_O.copy()),
        "minus": ("sign flipped", lambda b_V, W_O, b_O: b_O - b_V @ W_O),
        "minus b_O": ("sign flipped", lambda b_V, W_O, b_O: b_V @ W_O - b_O),
        "12 tokens": (RECOUNTED, lambda b_V, W_O, b_O: 12 * b_V @ W_O + b_O),
        "mean of 12": (RECOUNTED, lambda b_V, W_O, b_O: b_V @ W_O / 12 + b_O),
        "half": (RECOUNTED, lambda b_V, W_O, b_O: b_O + 0.5 * (b_V @ W_O)),
        "times d_v": (RECOUNTED, lambda b_V, W_O, b_O: len(b_V) * b_V @ W_O + b_O),
        "times d": (RECOUNTED, lambda b_V, W_O, b_O: len(b_O) * b_V @ W_O + b_O),
        "both projected": ("output bias projected too", lambda b_V, W_O, b_O: (b_V + b_O) @ W_O),
        "elementwise": ("sum over the width forgotten",
                        lambda b_V, W_O, b_O: b_V[:, None] * W_O + b_O),
        "(1, d_model)": ("wrong shape", lambda b_V, W_O, b_O: b_V[None] @ W_O + b_O),
    },
    check.query_bias_prior: {
        "unscaled": ("no scaling", lambda key, b_Q: softmax(key @ b_Q)),
        "over d": ("divided by d_k", lambda key, b_Q: softmax(key @ b_Q / len(b_Q))),
        "times root d": ("multiplied by √d_k", lambda key, b_Q: softmax(key @ b_Q * len(b_Q)**0.5)),
        "uniform": ("uniform prior", lambda key, b_Q: np.ones(key.shape[:-1]) / key.shape[-2]),
        "minus": ("sign flipped", lambda key, b_Q: softmax(-key @ b_Q / len(b_Q)**0.5)),
        "exp": ("not normalised", lambda key, b_Q: np.exp(key @ b_Q / len(b_Q)**0.5)),
        "logits": ("no softmax", lambda key, b_Q: key @ b_Q / len(b_Q)**0.5),
        "dot product": ("no softmax", lambda key, b_Q: key @ b_Q),
        "log prior": ("no softmax", lambda key, b_Q: np.log(prior(key, b_Q))),
        "axis 0": ("softmax over the wrong axis",
                   lambda key, b_Q: softmax(key @ b_Q / len(b_Q)**0.5, 0)),
        "all axes": ("softmax over the wrong axis", lambda key, b_Q: np.exp(
            key @ b_Q / len(b_Q)**0.5) / np.exp(key @ b_Q / len(b_Q)**0.5).sum()),
        "one key each": ("softmax over the wrong axis",
                         lambda key, b_Q: softmax((key @ b_Q)[..., None]).squeeze(-1)),
        "features": ("softmax over the wrong axis", lambda key, b_Q: softmax(key) @ b_Q),
        "before the sum": ("softmax before the dot product",
                           lambda key, b_Q: softmax(key * b_Q / len(b_Q)**0.5, -2).mean(-1)),
        "of the keys": ("softmax before the dot product", lambda key, b_Q: softmax(key, -2) @ b_Q),
        "norms": ("length of the keys", lambda key, b_Q: softmax(np.linalg.norm(key, axis=-1))),
        "squared norms": ("length of the keys",
                          lambda key, b_Q: softmax((key**2).sum(-1) / len(b_Q)**0.5)),
    },
    check.wake_key_bias: {
        "softmax": ("plain softmax", softmax),
        "minus the mean": ("plain softmax", lambda s: softmax(s - s.mean(-1, keepdims=True))),
        "naive": ("plain softmax", lambda s: normalised(np.exp(s))),
        "float16": ("plain softmax", lambda s: softmax(s.astype(np.float16)).astype(float)),
        "hotter": ("softmax at another temperature", lambda s: softmax(s / 2)),
        "colder": ("softmax at another temperature", lambda s: softmax(3 * s)),
        "reversed": ("softmax at another temperature", lambda s: softmax(-s)),
        "root of m": ("softmax at another temperature", lambda s: softmax(s / s.shape[-1]**0.5)),
        "causal": ("softmax over some of the keys", causal),
        "top 2": ("softmax over some of the keys", top_2),
        "last key dropped": ("softmax over some of the keys", lambda s: np.concatenate(
            [softmax(s)[..., :1], 0 * s[..., 1:]], -1) if s.shape[-1] < 2 else np.concatenate(
            [softmax(s[..., :-1]), 0 * s[..., -1:]], -1)),
        "argmax": ("softmax over some of the keys",
                   lambda s: (s == s.max(-1, keepdims=True)).astype(float)),
        "sparsemax": ("blind to shifts", sparsemax),
        "centred sigmoid": ("blind to shifts", lambda s: sigmoid(s - s.mean(-1, keepdims=True))),
        "from the minimum": ("blind to shifts",
                             lambda s: normalised(1 + s - s.min(-1, keepdims=True))),
        "standardised": ("blind to shifts", lambda s: softmax(
            (s - s.mean(-1, keepdims=True)) / (1e-3 + s.std(-1, keepdims=True)))),
        "squared softmax": ("softmax at another temperature", lambda s: normalised(softmax(s)**2)),
        "constant": ("ignores the scores", np.ones_like),
        "uniform": ("ignores the scores", lambda s: np.full(s.shape, 1 / s.shape[-1])),
        "seeded": ("ignores the scores", lambda s: np.random.default_rng(0).random(s.shape)),
        "identity": ("negative weights", lambda s: s.copy()),
        "tanh": ("negative weights", np.tanh),
        "s / sum": ("negative weights", normalised),
        "logarithm": ("not finite", np.log),
        "relu / 0": ("not finite", lambda s: normalised(np.maximum(s, 0))),
        "row sums": ("wrong shape", lambda s: np.exp(s).sum(-1)),
        "with a sink": ("wrong shape", lambda s: softmax(np.concatenate([s, 0 * s[..., :1]], -1))),
        "random": ("not a function of its inputs", lambda s: np.random.random(s.shape)),
    },
}


@pytest.mark.parametrize("exercise, fn", cases(RIGHT))
def test_a_right_answer_passes(exercise, fn):
    passes(exercise, fn)


@pytest.mark.parametrize("exercise, answer", cases(WRONG))
def test_a_wrong_answer_hears_its_name(exercise, answer):
    hears(exercise, *answer)


def test_right_answers_in_torch_pass():
    torch = pytest.importorskip("torch")
    F = torch.nn.functional
    assert check.fold_value_bias(lambda b_V, W_O, b_O: F.linear(b_V, W_O.mT, b_O))
    assert check.fold_value_bias(lambda b_V, W_O, b_O: torch.addmv(b_O, W_O.mT, b_V))
    assert check.query_bias_prior(lambda key, b_Q: (key @ b_Q / b_Q.numel() ** 0.5).softmax(dim=-1))
    assert check.wake_key_bias(torch.sigmoid)
    assert check.wake_key_bias(lambda scores: F.softmax(scores.clamp(-1, 1), dim=-1))
    assert check.wake_key_bias(
        lambda scores: F.pad(scores, (1, 0)).softmax(dim=-1)[..., 1:])


@pytest.mark.parametrize("misconceptions, exercise", [
    (value_bias.MISCONCEPTIONS, check.fold_value_bias),
    (query_bias.MISCONCEPTIONS, check.query_bias_prior)])
def test_every_name_in_the_book_of_mistakes_is_planted_here(misconceptions, exercise):
    assert {m.name for m in misconceptions} <= {name for name, _ in WRONG[exercise].values()}
    for misconception in misconceptions:
        assert misconception.hint.endswith(("?", ".")) and len(misconception.hint) <= 100


def test_rounding_is_no_effect():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float16, torch.bfloat16):
        result = check.wake_key_bias(lambda s, dtype=dtype: s.to(dtype).softmax(-1).float())
        assert result.misconception == "plain softmax" and "still cancels" in result.message


def test_an_awake_key_bias_hears_what_else_has_changed():
    capped = RIGHT[check.wake_key_bias]["capped"]
    assert "rows still sum to 1" in check.wake_key_bias(capped).message
    assert "rows no longer sum to 1" in check.wake_key_bias(sigmoid).message
    assert "columns sum to 1" in check.wake_key_bias(lambda s: softmax(s, -2)).message
