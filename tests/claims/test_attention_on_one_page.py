"""The claims of the chapter "Attention on one page", each decided by a test that could fail."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from qkvlib import attention, softmax

claim = pytest.mark.claim
ROUNDING = 1e-11  # float64, sums of some tens of numbers
MOVES = 1e-2  # what counts as an effect


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def change(new, old):
    return np.abs(new - old).max()


@claim("R2")
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**31), m=st.integers(2, 40), d=st.integers(2, 20),
       beta=st.floats(0, 50))
def test_R2_a_look_up_from_average_to_exact(seed, m, d, beta):
    rng = np.random.default_rng(seed)
    key, value = unit(rng.normal(size=(m, d))), rng.normal(size=(m, 3))
    cosines = key @ key.T
    gap = 1 - (cosines - 2 * np.eye(m)).max(-1)  # of each key, as a query, to its nearest
    output, weights = attention(key, key, value, scale=beta, return_weights=True)
    missing = 1 - np.diagonal(weights)
    assert np.all(missing <= (m - 1) * np.exp(-beta * gap) + ROUNDING)  # the proposition's bound
    # and from below: no other key scores less than −1
    assert np.all(missing >= (m - 1) / (m - 1 + math.exp(2 * beta)) - ROUNDING)
    mean = attention(key, key, value, scale=0.0)
    assert change(mean, value.mean(0)) < ROUNDING  # no temperature at all: the plain mean
    exact = attention(key, key, value, scale=60 / gap.min())
    assert change(exact, value) < 1e-6 * m  # cold enough: the value itself
    assert change(output, weights @ value) < ROUNDING


@claim("R2")
@pytest.mark.parametrize("seed", range(5))
def test_R2_kernel_regression_for_keys_of_one_length(seed):
    rng = np.random.default_rng(seed)
    query, key, value = rng.normal(size=(3, 9, 4))
    width = rng.uniform(0.5, 2)

    def regression(points):  # Nadaraya and Watson's quotient, term by term
        rows = []
        for q in query:
            kernel = [math.exp(-sum((q - k) ** 2) / (2 * width**2)) for k in points]
            rows.append(sum(w * v for w, v in zip(kernel, value, strict=True)) / sum(kernel))
        return np.array(rows)

    def attend(query, key):
        return attention(query, key, value, scale=width**-2)

    same = 1.7 * unit(key)
    assert change(attend(query, same), regression(same)) < ROUNDING
    longer = np.column_stack([key, -(key**2).sum(-1) / 2])
    asking = np.column_stack([query, np.ones(9)])
    assert change(attend(asking, longer), regression(key)) < ROUNDING
    assert change(attend(query, key), regression(key)) > MOVES  # control: lengths that differ
    # and the factor by which it differs: e to the ‖k‖² / 2σ², for every query
    _, weights = attention(query, key, value, scale=width**-2, return_weights=True)
    squares = ((query[:, None] - key[None]) ** 2).sum(-1)
    factor = np.log(weights) + squares / (2 * width**2) - (key**2).sum(-1) / (2 * width**2)
    assert change(factor, factor[:, :1]) < ROUNDING


@claim("S5")
@pytest.mark.parametrize("d_k", [1, 4, 64, 1024])
@pytest.mark.parametrize("draw", ["normal", "coins"])
def test_S5_scaled_scores_have_variance_one(d_k, draw):
    rng = np.random.default_rng(d_k)
    query, key = rng.normal(size=(2, 2000, 5, d_k))
    if draw == "coins":  # only mean, variance and independence matter
        query, key = np.sign(query), np.sign(key)
    _, weights = attention(query, key, key, return_weights=True)
    scores = np.log(weights)
    scores -= scores.mean(-1, keepdims=True)  # what a softmax keeps of its scores
    variance = (scores**2).sum(-1).mean() / 4  # unbiased, five keys a row
    assert abs(variance - 1) < 0.08
    repeated = query[..., :1] * key[..., :1] * d_k  # control: features that are all one number
    assert abs(repeated.var() / d_k**2 - 1) < 0.1


@claim("S5")
def test_S5_unscaled_softmax_saturates():
    def size(scores):  # ‖J‖ of each row, the Jacobian by automatic differentiation
        jacobian = torch.func.vmap(torch.func.jacrev(softmax))(torch.from_numpy(scores))
        formula = (a := softmax(torch.from_numpy(scores)))[..., None] * (
            torch.eye(32, dtype=a.dtype) - a[:, None])
        assert (jacobian - formula).abs().max() < ROUNDING
        return jacobian.square().sum((-2, -1)).sqrt().mean().item()

    found = {"scaled": [], "raw": []}
    for d_k in (16, 1024):
        rng = np.random.default_rng(d_k)
        query, key = rng.normal(size=(2, 600, 32, d_k))
        for name, scale in (("scaled", None), ("raw", 1.0)):
            _, weights = attention(query[:, :1], key, key, scale=scale, return_weights=True)
            found[name].append(size(np.log(weights[:, 0] + 1e-300)))
    assert abs(found["scaled"][1] / found["scaled"][0] - 1) < 0.1  # the same at every width
    assert found["raw"][1] < 0.4 * found["scaled"][1] and found["raw"][1] < 0.4 * found["raw"][0]
    assert 0.2 < found["scaled"][1]  # far from 0.18, that of even weights, and from 0, of a single


@claim("V5")
@pytest.mark.parametrize("seed", range(5))
def test_V5_a_head_depends_only_on_two_products(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2, 6, 8))
    W_Q, W_K, W_V = rng.normal(size=(3, 8, 3)) / 2
    W_O, G, H = rng.normal(size=(3, 8)), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))

    def head(W_Q, W_K, W_V, W_O):
        return attention(X @ W_Q, X @ W_K, X @ W_V) @ W_O

    output, inverse = head(W_Q, W_K, W_V, W_O), np.linalg.inv
    other = head(W_Q @ G, W_K @ inv_t(G), W_V @ H, inverse(H) @ W_O)
    assert change(other, output) < ROUNDING * np.linalg.cond(G) * np.linalg.cond(H)
    assert change(X @ W_Q @ G, X @ W_Q) > MOVES  # although the queries have moved
    exps = np.exp(X @ W_Q @ W_K.T @ X.swapaxes(-1, -2) / math.sqrt(3))
    products = exps / exps.sum(-1, keepdims=True) @ X @ (W_V @ W_O)
    assert change(products, output) < ROUNDING
    assert change(head(W_Q @ G, W_K, W_V, W_O), output) > MOVES  # control: another form

    # No other freedom: any two factorisations of a form of rank d_k differ by one such G.
    left, values, right = np.linalg.svd(W_Q @ W_K.T)
    W_Q2, W_K2 = left[:, :3] * values[:3], right[:3].T
    found = np.linalg.lstsq(W_Q, W_Q2, rcond=None)[0]
    assert change(W_Q @ found, W_Q2) < ROUNDING and change(W_K @ inv_t(found), W_K2) < 1e-9
    assert change(head(W_Q2, W_K2, W_V, W_O), output) < ROUNDING


def inv_t(G):
    return np.linalg.inv(G).T


@claim("V5")
@pytest.mark.parametrize("seed", range(5))
def test_V5_only_values_reach_the_output(seed):
    rng = np.random.default_rng(seed)
    query, key, value, more, noise = rng.normal(size=(5, 6, 8))
    same = np.broadcast_to(value[:1], (6, 8))
    for q, k in [(query, key), (noise, key), (query, noise)]:
        assert change(attention(q, k, same), same) < ROUNDING  # nothing to choose, nothing decided
        output = attention(q, k, value)
        assert np.all(output <= value.max(0) + ROUNDING)  # a mix: never beyond the values
        assert np.all(output >= value.min(0) - ROUNDING)
        both = attention(q, k, value) + attention(q, k, more)
        assert change(attention(q, k, value + more), both) < ROUNDING  # linear in the values …
    both = attention(query, key, value) + attention(query, more, value)
    assert change(attention(query, key + more, value), both) > MOVES  # … and not in the keys
    assert change(attention(noise, key, value), attention(query, key, value)) > MOVES
