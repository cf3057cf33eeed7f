"""The claims of the chapter "Bias cancellation", each decided by a test that could fail."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from qkvlib import attention, softmax
from qkvlib.bias import fold_value_bias, four_terms, query_bias_prior
from qkvlib.data import digits
from qkvlib.freedom import jacobian_rank
from qkvlib.tasks import salient
from qkvlib.train import accuracy, batches, fit
from qkvlib.vit import ViT

claim = pytest.mark.claim
ROUNDING = 1e-12  # float64, numbers of size one
MOVES = 1e-2  # what counts as an effect


def normal(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


def change(new, old):
    return (new - old).abs().max().item()


@pytest.fixture(scope="module")
def trained():
    """A small ViT trained on digits, in float64, and the images it has not seen."""
    data = digits(0, dtype=torch.float64)
    model = ViT(patch=4, seed=0).double()
    stream = batches(data.train, 32, seed=0)

    def loss():
        images, labels = next(stream)
        return F.cross_entropy(model(images), labels)

    fit(loss, model.parameters(), steps=150, lr=3e-3)
    assert accuracy(model, data.validation) > 0.9
    return model, data.test.images


@claim("B1")
def test_B1_bias_makes_the_projection_affine():
    x, y, W_Q, W_K, b_Q, b_K = normal(0, (1, 8), (1, 8), (8, 4), (8, 4), (4,), (4,))
    excess = ((x + y) @ W_Q + b_Q) - ((x @ W_Q + b_Q) + (y @ W_Q + b_Q))
    assert change(excess, -b_Q) < ROUNDING < MOVES < b_Q.abs().max()  # not linear, by exactly b
    origin = four_terms(0 * x, W_Q, W_K, b_Q, b_K)  # without biases the origin scores zero
    assert change(sum(origin), (b_Q @ b_K / 2)[None, None]) < ROUNDING
    assert not any(term.any() for term in origin[:3])


@claim("B2")
@pytest.mark.parametrize("seed", range(3))
def test_B2_two_of_four_terms_are_constant_along_a_row(seed):
    X, W_Q, W_K, b_Q, b_K = problem = normal(seed, (2, 7, 12), (12, 6), (12, 6), (6,), (6,))
    scores = (X @ W_Q + b_Q) @ (X @ W_K + b_K).mT / math.sqrt(6)
    terms = four_terms(*problem)
    assert change(sum(terms), scores) < ROUNDING
    weights = torch.softmax(scores, -1)
    for name, cancels in [("content", 0), ("query_bias", 0), ("key_bias", 1), ("constant", 1)]:
        term = getattr(terms, name)
        assert (change(term, term[..., :1]) < ROUNDING) == cancels, name  # constant along a row?
        assert (change(softmax(scores - term), weights) < ROUNDING) == cancels, name


@claim("B3")
def test_B3_the_key_bias_adds_no_degree_of_freedom():
    (X,) = normal(0, (30, 5, 4))
    names = ["W_Q", "W_K", "W_V", "b_Q", "b_K"]
    values = dict(zip(names, normal(1, (4, 3), (4, 3), (4, 3), (3,), (3,)), strict=True))

    def head(p):
        query, key = X @ p["W_Q"] + p.get("b_Q", 0), X @ p["W_K"] + p.get("b_K", 0)
        return attention(query, key, X @ p["W_V"])

    def rank(*without):
        return jacobian_rank(head, {n: v for n, v in values.items() if n not in without})

    # W_V counts in full, W_Q and W_K up to an invertible 3 × 3 matrix that cancels in W_Q W_K^T
    assert rank() == 12 + (24 - 9) + 3
    assert rank("b_K") == rank()  # adds nothing, neither b_Q·b_K nor the rest of it
    assert rank("b_Q") == rank() - 3  # control: adds its whole width


@claim("B4")
def test_B4_nothing_needs_absorbing(trained):
    def unexplained(X, b):  # share of the constant rows 1 b^T that no X ΔW can reproduce
        target = np.ones((len(X), 1)) * b
        fitted = X @ np.linalg.lstsq(X, target, rcond=None)[0]
        return np.linalg.norm(target - fitted) / np.linalg.norm(target)

    rng = np.random.default_rng(0)
    X, b = rng.normal(size=(200, 16)), rng.normal(size=16)
    assert unexplained(X, b) > 0.8  # W_K cannot imitate a bias on generic inputs …
    X[:, -1] = 1
    assert unexplained(X, b) < ROUNDING  # … unless a feature is constant
    gamma, beta = 1 + 0.2 * rng.normal(size=16), 0.2 * rng.normal(size=16)
    u = gamma * (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True) + beta
    W, c = rng.normal(size=(16, 16)), (beta / gamma).sum()
    np.testing.assert_allclose(u @ (W + np.outer(1 / gamma, b) / c), u @ W + b, atol=1e-9)

    model, images = trained  # and no absorbing is needed: W_K stays, b_K goes, nothing moves
    assert surgery(model, images, "b_K") < ROUNDING < MOVES < surgery(model, images, "W_K")


@torch.no_grad()
def surgery(model, images, name, heads=slice(None)):
    """Largest change of the logits when one parameter is set to zero in all blocks."""
    before = model(images)
    saved = {key: value.clone() for key, value in model.state_dict().items()}
    for block in model.blocks:
        parameter = getattr(block.attention, name)
        parameter.view(*parameter.shape[:-1], block.attention.heads, -1)[..., heads, :] = 0
    after = model(images)
    model.load_state_dict(saved)
    return change(after, before)


@claim("B5")
@pytest.mark.parametrize("heads", [slice(None), 0, 2], ids=["all heads", "head 0", "head 2"])
def test_B5_surgery_moves_nothing(trained, heads):
    model, images = trained
    assert model.blocks[0].attention.b_K.abs().max() > MOVES  # there is something to remove
    assert surgery(model, images, "b_K", heads) < ROUNDING
    assert surgery(model, images, "b_Q", heads) > MOVES


@claim("B6")
@pytest.mark.parametrize("seed", range(3))
def test_B6_an_inert_parameter_cannot_overfit(seed):
    images, labels = digits(seed, n_train=100, dtype=torch.float64).train
    unseen = digits(seed, dtype=torch.float64).test.images
    logits = {}
    for biases in ("qkv", "qv", "v"):
        model = ViT(patch=4, depth=1, biases=biases, seed=seed).double()
        fit(lambda: F.cross_entropy(model(images), labels), model.parameters(), steps=30, lr=6e-3)  # noqa: B023
        assert (model(images).argmax(-1) == labels).double().mean() > 0.95  # learned by heart
        logits[biases] = model(unseen).detach()
    assert change(logits["qkv"], logits["qv"]) < 1e-9  # rounding, grown by 30 steps
    assert change(logits["v"], logits["qv"]) > MOVES  # control: leave the query bias out too
    key_biases = sum(block.attention.b_K.numel() for block in model.blocks)
    assert 0 < key_biases < 0.01 * sum(p.numel() for p in model.parameters())


@claim("B7")
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**31), n=st.integers(1, 7), m=st.integers(2, 7),
       heads=st.sampled_from([(1, 1), (4, 4), (4, 2), (4, 1)]),
       kind=st.sampled_from(["none", "causal", "padding", "bias"]))
def test_B7_key_bias_cancels(seed, n, m, heads, kind):
    heads, kv_heads = heads
    query, key, value, b_Q, b_K, bias = normal(
        seed, (2, n, heads * 3), (2, m, kv_heads * 3), (2, m, kv_heads * 5), (heads * 3,),
        (kv_heads * 3,), (heads, n, m))
    padding = torch.ones(2, 1, 1, m, dtype=torch.bool)
    padding[1, ..., m // 2:] = False
    options = {"causal": {"causal": True}, "padding": {"mask": padding}, "bias": {"bias": bias}}

    def head(b_Q, b_K):
        output, weights = attention(query + b_Q, key + b_K, value, heads=heads, kv_heads=kv_heads,
                                    return_weights=True, **options.get(kind, {}))
        return torch.cat([output.flatten(), weights.flatten()]), weights

    (with_both, weights), (without_query_bias, _) = head(b_Q, b_K), head(0 * b_Q, b_K)
    for size in (0.0, 100.0):
        assert change(head(b_Q, size * b_K)[0], with_both) < ROUNDING * (1 + size)
    seen = {"causal": torch.ones(n, m).tril() > 0, "padding": padding}.get(kind, weights > -1)
    assert torch.equal(weights > 0, seen.expand_as(weights))  # under just the mask that was meant
    if kind in ("none", "bias"):  # control: several keys in view, so the query bias shows
        assert change(without_query_bias, with_both) > 1e-6


@claim("B7")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_B7_its_gradient_is_rounding(dtype):
    ratios = []
    for seed in range(5):
        X, W_Q, W_K, W_V, G = (x.to(dtype) for x in normal(
            seed, (16, 32), (32, 8), (32, 8), (32, 8), (16, 8)))
        b_Q, b_K = (torch.zeros(8, dtype=dtype, requires_grad=True) for _ in "qk")
        query, key = X @ W_Q / 32**.5 + b_Q, X @ W_K / 32**.5 + b_K
        (attention(query, key, X @ W_V / 32**.5) * G).sum().backward()
        ratios.append((b_K.grad.double().norm() / b_Q.grad.double().norm()).item())
    assert max(ratios) < 8 * torch.finfo(dtype).eps


@claim("B8")
def test_B8_value_bias_is_absorbable_not_inert():
    query, key, value, b_V, W_O, b_O, G = normal(
        3, (6, 8), (6, 8), (6, 8), (8,), (8, 5), (5,), (6, 5))
    _, weights = attention(query, key, value, heads=2, return_weights=True)

    def out(b_V, b_O, **options):
        return attention(query, key, value + b_V, heads=2, **options) @ W_O + b_O

    none = torch.zeros(8, dtype=torch.float64)
    folded = fold_value_bias(b_V, W_O, b_O, weights)
    assert change(out(none, b_O), out(b_V, b_O)) > MOVES  # not inert
    assert change(out(none, folded), out(b_V, b_O)) < ROUNDING  # but absorbable
    b_V.requires_grad_()
    (out(b_V, b_O) * G).sum().backward()
    assert change(b_V.grad, W_O @ G.sum(0)) < ROUNDING and b_V.grad.norm() > MOVES

    scores = query @ key.mT
    broken = {"dropout": weights * (torch.arange(6) % 3 > 0) * 1.5,
              "sigmoid": torch.sigmoid(scores),
              "softmax + 1": scores.exp() / (1 + scores.exp().sum(-1, keepdim=True)),
              "empty row": weights * (torch.arange(6) > 0)[:, None]}
    for name, rows in broken.items():
        with pytest.raises(ValueError, match="cannot be folded"):
            fold_value_bias(b_V, W_O, b_O, rows)
        assert (rows.sum(-1) - 1).abs().max() > MOVES, name


@claim("B9")
def test_B9_query_bias_is_a_prior_over_keys():
    query, key, b_Q = normal(4, (2, 5, 6), (2, 7, 6), (6,))
    _, without = attention(query, key, key, return_weights=True)
    _, weights = attention(query + b_Q, key, key, return_weights=True)
    posterior = query_bias_prior(key, b_Q)[:, None, :] * without
    assert change(weights, posterior / posterior.sum(-1, keepdim=True)) < ROUNDING
    assert change(weights, without) > MOVES


@claim("B9")
def test_B9_fetching_the_most_salient_token_needs_a_query_bias():
    errors = {}
    for name in ("none", "b_K", "b_Q"):
        generator = torch.Generator().manual_seed(0)
        p = {n: (torch.randn(9, d, generator=generator) / 3).requires_grad_()
             for n, d in [("W_Q", 16), ("W_K", 16), ("W_V", 4)]}
        p |= {n: torch.zeros(16 if n in "b_Q b_K" else 4, requires_grad=True)
              for n in {name, "b_V"} - {"none"}}

        def error(p=p, batch=(32,)):
            x, target = salient(generator, batch)  # noqa: B023
            query, key = x @ p["W_Q"] + p.get("b_Q", 0), x @ p["W_K"] + p.get("b_K", 0)
            return (attention(query, key, x @ p["W_V"] + p["b_V"]) - target).square().mean()

        fit(error, p.values(), steps=250, lr=3e-2)
        errors[name] = error(batch=(4000,)).item()
    assert errors["b_Q"] < 0.15 and errors["none"] > 0.6 and errors["b_K"] > 0.6, errors


@claim("B16")
def test_B16_key_bias_cannot_favour_a_patch():
    X, W_Q, W_K, b_Q, b_K = normal(5, (6, 12), (12, 6), (12, 6), (6,), (6,))
    terms = four_terms(X, W_Q, W_K, b_Q, 50 * b_K)
    favour = terms.key_bias - terms.key_bias.mean(-1, keepdim=True)
    assert favour.abs().max() < 1e-10  # the same for every patch, whoever asks
    unbiased = softmax(terms.content + terms.query_bias)
    assert change(softmax(sum(terms)), unbiased) < 1e-10
    patch_4 = torch.eye(6, dtype=torch.float64)[4]
    lift = torch.linalg.solve(X @ W_K, 10 * patch_4)  # control: a query bias can, for all at once
    raised = four_terms(X, W_Q, W_K, lift, b_K).query_bias
    assert change(raised, (10 * patch_4 / math.sqrt(6)).expand(6, 6)) < 1e-9


@claim("B17")
def test_B17_the_usual_layer_biases_query_key_and_value():
    # The evidence is cited in the chapter. What can be run: PyTorch's encoder layer, of the kind
    # that vision transformers were built from, has one bias over q, k and v; and so has ours.
    layer = torch.nn.TransformerEncoderLayer(8, 2)
    assert layer.self_attn.in_proj_bias.shape == (3 * 8,)
    assert layer.self_attn.out_proj.bias.shape == (8,)
    assert ViT().blocks[0].attention.keep.tolist() == [1, 1, 1]
