"""`check.attention`: right answers in any style pass, planted wrong ones hear their name."""

import numpy as np
import pytest

from qkvlib import attention, check
from qkvlib.check.scaled_dot_product import MISCONCEPTIONS


def softmax(scores, axis=-1):
    exps = np.exp(scores - scores.max(axis, keepdims=True))
    return exps / exps.sum(axis, keepdims=True)


def scores(query, key):
    return query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])


# Right answers.

def matmul(query, key, value):
    return np.matmul(softmax(scores(query, key)), value)


def einsum(query, key, value):
    weights = softmax(np.einsum("...id,...jd->...ij", query, key) / key.shape[-1] ** 0.5)
    return np.einsum("...ij,...jd->...id", weights, value)


def loops(query, key, value):
    if query.ndim > 2:
        return [loops(*matrices) for matrices in zip(query, key, value, strict=True)]
    rows = []
    for q in query:
        shares = [np.exp(sum(a * b for a, b in zip(q, k, strict=True)) / len(q) ** 0.5)
                  for k in key]
        rows.append([float(sum(share * v[j] for share, v in zip(shares, value, strict=True)))
                     / float(sum(shares)) for j in range(value.shape[-1])])
    return rows


def with_weights(query, key, value):
    weights = softmax(scores(query, key))
    return weights @ value, weights


def with_weights_in_a_list(query, key, value):
    return list(with_weights(query, key, value))


def list_over_the_first_axis(query, key, value):
    return [matmul(*parts) for parts in zip(query, key, value, strict=True)] if (
        query.ndim > 2) else matmul(query, key, value)


def float32_inside(query, key, value):
    return matmul(*(x.astype(np.float32) for x in (query, key, value)))


def float64_inside(query, key, value):
    return matmul(*(x.astype(np.float64) for x in (query, key, value)))


def scaled_in_two_steps(query, key, value):
    root = query.shape[-1] ** 0.25
    return softmax((query / root) @ (key / root).swapaxes(-1, -2)) @ value


def naive_exponentials(query, key, value):
    weights = np.exp(scores(query, key))
    return weights / weights.sum(-1, keepdims=True) @ value


def cautious_division(query, key, value):
    s = scores(query, key)
    weights = np.exp(s - s.max(-1, keepdims=True))
    return weights @ value / (weights.sum(-1, keepdims=True) + 1e-9)


def key_bias(query, key, value):
    """Not what was asked, and yet the same function: the theorem of the chapter on biases."""
    return matmul(query, key + 0.7, value)


RIGHT = [matmul, einsum, loops, with_weights, with_weights_in_a_list, list_over_the_first_axis,
         float32_inside, float64_inside, scaled_in_two_steps,
         naive_exponentials, cautious_division, key_bias, attention]


@pytest.mark.parametrize("fn", RIGHT, ids=lambda fn: fn.__name__)
def test_a_right_answer_passes(fn):
    result = check.attention(fn)
    assert result and result.misconception is None
    assert repr(result).startswith("✓ attention: agrees with the reference on ")


def test_right_answers_in_torch_pass():
    torch = pytest.importorskip("torch")
    F = torch.nn.functional

    class Module(torch.nn.Module):
        def forward(self, query, key, value):
            s = torch.einsum("...id,...jd->...ij", query, key).div(query.size(-1) ** 0.5)
            return s.softmax(-1) @ value

    def by_hand(query, key, value):
        s = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.exp(s - s.max(dim=-1, keepdim=True).values)
        return weights / weights.sum(dim=-1, keepdim=True) @ value

    def with_gradient(query, key, value):
        query.requires_grad_()
        return F.scaled_dot_product_attention(query, key, value)

    def converts(query, key, value):
        tensors = [torch.as_tensor(x) for x in (query, key, value)]
        return F.scaled_dot_product_attention(*tensors)

    def buffered(query, key, value):  # bmm: a batch, whatever comes
        q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
        weights = F.softmax(torch.bmm(q, k.mT) / q.shape[-1] ** 0.5, dim=2)
        return torch.bmm(weights, v).reshape(*query.shape[:-1], -1), weights

    one_query_at_a_time = torch.vmap(
        lambda q, k, v: by_hand(q[..., None, :], k, v)[..., 0, :], in_dims=(-2, None, None),
        out_dims=-2)

    for fn in (F.scaled_dot_product_attention, Module(), by_hand, with_gradient, converts, buffered,
               one_query_at_a_time):
        result = check.attention(fn)
        assert result and result.misconception is None, result


def test_a_right_answer_that_overflows_hears_of_it():
    assert "in the thousands overflow" in check.attention(naive_exponentials).message
    for fn in (matmul, cautious_division, attention):
        assert "overflow" not in check.attention(fn).message


# Planted wrong answers: (name, how it is wrong).

def weighted(weigh, score=scores):
    return lambda query, key, value: weigh(score(query, key)) @ value


def scaled(factor):
    return lambda query, key, value: softmax(
        query @ np.swapaxes(key, -1, -2) * factor(query, key, value)) @ value


def one_hot(s):
    weights = np.zeros_like(s)
    np.put_along_axis(weights, s.argmax(-1)[..., None], 1, -1)
    return weights


def causal(s):
    return softmax(np.where(np.tri(*s.shape[-2:]) == 1, s, -1e9))


def cosine(query, key):
    def unit(x):
        return x / np.sqrt((x * x).sum(-1, keepdims=True))
    return unit(query) @ np.swapaxes(unit(key), -1, -2)


WRONG = {
    "forgot the scale": ("no scaling", scaled(lambda q, k, v: 1)),
    "over d": ("divided by d_k", scaled(lambda q, k, v: 1 / k.shape[-1])),
    "times root d": ("multiplied by √d_k", scaled(lambda q, k, v: k.shape[-1] ** 0.5)),
    "d_k**1/2": ("divided by 2 d_k", weighted(
        softmax, lambda q, k: q @ np.swapaxes(k, -1, -2) / k.shape[-1]**1/2)),
    "d_k**-1/2": ("divided by 2 d_k", scaled(lambda q, k, v: k.shape[-1]**-1/2)),
    "late": ("scaled after the softmax", weighted(
        lambda s: s, lambda q, k: softmax(q @ np.swapaxes(k, -1, -2)) / k.shape[-1]**0.5)),
    "root of d_v": ("scaled by the wrong size", scaled(lambda q, k, v: v.shape[-1] ** -0.5)),
    "root of n": ("scaled by the wrong size", scaled(lambda q, k, v: q.shape[-2] ** -0.5)),
    "root of m": ("scaled by the wrong size", scaled(lambda q, k, v: k.shape[-2] ** -0.5)),
    "argmax": ("hard argmax", weighted(one_hot)),
    "gathered argmax": ("hard argmax", lambda q, k, v: np.take_along_axis(
        v, scores(q, k).argmax(-1)[..., None], -2)),
    "over queries": ("softmax over the wrong axis", weighted(lambda s: softmax(s, -2))),
    "axis 0": ("softmax over the wrong axis", weighted(lambda s: softmax(s, 0))),
    "axis 1": ("softmax over the wrong axis", weighted(lambda s: softmax(s, 1))),
    "all axes": ("softmax over the wrong axis", weighted(lambda s: np.exp(s) / np.exp(s).sum())),
    "K and V": ("key and value swapped", lambda q, k, v: matmul(q, v, k)),
    "Q and K": ("query and key swapped", lambda q, k, v: matmul(k, q, v)),
    "Q with Q": ("query and key not both used", lambda q, k, v: matmul(q, q, v)),
    "K with K": ("query and key not both used", lambda q, k, v: matmul(k, k, v)),
    "query plus 1": ("query bias added", lambda q, k, v: matmul(q + 1, k, v)),
    "query minus 0.03": ("query bias added", lambda q, k, v: matmul(q - 0.03, k, v)),
    "random query bias": ("query bias added", lambda q, k, v: matmul(
        q + np.random.default_rng(5).normal(size=q.shape[-1]).astype(q.dtype), k, v)),
    "bias on both": ("query bias added", lambda q, k, v: matmul(q + 0.5, k - 2, v)),
    "sigmoid": ("sigmoid instead of softmax", weighted(lambda s: 1 / (1 + np.exp(-s)))),
    "exp": ("exponentials not normalised", weighted(np.exp)),
    "twice": ("softmax applied twice", weighted(lambda s: softmax(softmax(s)))),
    "log softmax": ("logarithm of the weights", weighted(lambda s: np.log(softmax(s)))),
    "linear": ("no softmax", weighted(lambda s: s)),
    "linear, unscaled": ("no softmax", lambda q, k, v: q @ (np.swapaxes(k, -1, -2) @ v)),
    "weights only": ("value forgotten", lambda q, k, v: softmax(scores(q, k))),
    "weights first": ("value forgotten", lambda q, k, v: with_weights(q, k, v)[::-1]),
    "transposed": ("output transposed", lambda q, k, v: np.swapaxes(matmul(q, k, v), -1, -2)),
    "causal": ("causal mask applied", weighted(causal)),
    "mean": ("uniform weights", lambda q, k, v: np.repeat(
        v.mean(-2, keepdims=True), q.shape[-2], -2)),
    "residual": ("residual added", lambda q, k, v: q + matmul(q, k, v)),
    "cosine": ("cosine similarity", weighted(softmax, cosine)),
    "scaled cosine": ("cosine similarity", weighted(
        lambda s: softmax(s), lambda q, k: cosine(q, k) / q.shape[-1] ** 0.5)),
}


@pytest.mark.parametrize("name, fn", WRONG.values(), ids=WRONG)
def test_a_wrong_answer_hears_its_name(name, fn):
    result = check.attention(fn)
    assert not result and result.passed is False
    assert result.misconception == name
    assert repr(result).startswith(f"✗ attention: {name}.\n  ")


@pytest.mark.parametrize("name, fn", WRONG.values(), ids=WRONG)
def test_a_wrong_answer_in_torch_hears_its_name(name, fn):
    torch = pytest.importorskip("torch")

    def in_torch(*tensors):
        answer = fn(*(torch.clone(tensor).numpy() for tensor in tensors))
        first = answer[0] if isinstance(answer, tuple) else answer
        return torch.from_numpy(np.ascontiguousarray(first))
    assert check.attention(in_torch).misconception == name


@pytest.mark.parametrize("misconception", MISCONCEPTIONS, ids=lambda m: m.name)
def test_every_name_in_the_book_of_mistakes_is_planted_here(misconception):
    assert misconception.name in {name for name, _ in WRONG.values()}
    assert misconception.hint.endswith(("?", ".")) and len(misconception.hint) <= 100
