"""`attention` against PyTorch's own, against brute force, and at its borders."""

import math

import array_api_strict
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from qkvlib import attention, softmax

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5}
dtypes = st.sampled_from(list(TOLERANCE))
sizes = st.integers(1, 9)


@st.composite
def problems(draw):
    """Random query, key, value (batch, heads, tokens, width), a mask, an additive bias."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    dtype = draw(dtypes)
    batch, n, m, d_k, d_v = (draw(sizes) for _ in range(5))
    kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    size = draw(st.sampled_from([0.1, 1.0, 10.0]))

    def normal(*shape):
        return size * torch.randn(*shape, generator=generator, dtype=dtype)

    query = normal(batch, kv_heads * group, n, d_k)
    key, value = normal(batch, kv_heads, m, d_k), normal(batch, kv_heads, m, d_v)
    mask = torch.rand(batch, 1, n, m, generator=generator) < draw(st.sampled_from([0.2, 0.7]))
    bias = normal(kv_heads * group, n, m)
    return query, key, value, mask, bias


def flat(x):
    """(batch, heads, tokens, width) → (batch, tokens, heads·width)."""
    return x.transpose(1, 2).flatten(2)


def close(ours, theirs):
    dtype = theirs.dtype
    difference = (torch.as_tensor(ours) - theirs).abs().max().item() if theirs.numel() else 0.0
    scale = max(1.0, theirs.abs().max().item()) if theirs.numel() else 1.0
    assert difference <= TOLERANCE[dtype] * scale, (difference, dtype, tuple(theirs.shape))


@settings(deadline=None, max_examples=60)
@given(problems(), st.sampled_from(["none", "mask", "bias", "causal"]))
def test_equals_pytorch_for_all_head_counts_masks_and_biases(problem, kind):
    query, key, value, mask, bias = problem
    heads, kv_heads = query.shape[1], key.shape[1]
    ours = {"mask": {"mask": mask}, "bias": {"bias": bias},
            "causal": {"causal": True}}.get(kind, {})
    theirs = {"mask": {"attn_mask": mask}, "bias": {"attn_mask": bias},
              "causal": {"is_causal": True}}.get(kind, {})
    expected = F.scaled_dot_product_attention(query, key, value, enable_gqa=True, **theirs)
    arrays = [flat(x) for x in (query, key, value)]
    close(attention(*arrays, heads=heads, kv_heads=kv_heads, **ours), flat(expected))
    arrays = [x.numpy() for x in arrays]
    ours = {name: x if x is True else x.numpy() for name, x in ours.items()}
    close(attention(*arrays, heads=heads, kv_heads=kv_heads, **ours), flat(expected))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 999), dtypes, sizes, sizes, st.sampled_from([1, 2, 4]))
def test_equals_multihead_attention_of_pytorch(seed, dtype, n, m, heads):
    torch.manual_seed(seed)
    layer = torch.nn.MultiheadAttention(8, heads, batch_first=True, dtype=dtype)
    torch.nn.init.normal_(layer.in_proj_bias)
    x, context = torch.randn(2, n, 8, dtype=dtype), torch.randn(2, m, 8, dtype=dtype)
    expected, weights = layer(x, context, context, average_attn_weights=False)
    (W_Q, W_K, W_V), (b_Q, b_K, b_V) = layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3)
    mixed, ours = attention(x @ W_Q.T + b_Q, context @ W_K.T + b_K, context @ W_V.T + b_V,
                            heads=heads, return_weights=True)
    close(mixed @ layer.out_proj.weight.T + layer.out_proj.bias, expected.detach())
    close(ours, weights.detach())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n, m", [(127, 127), (128, 40), (129, 300), (400, 200), (300, 400)])
def test_long_rows_of_queries_are_taken_in_blocks_without_a_trace(n, m, causal):
    generator = torch.Generator().manual_seed(n)
    query = torch.randn(2, 4, n, 8, generator=generator, dtype=torch.float64)
    key, value = torch.randn(2, 2, 2, m, 8, generator=generator, dtype=torch.float64)
    expected = F.scaled_dot_product_attention(query, key, value, is_causal=causal, enable_gqa=True)
    options = {"causal": causal, "heads": 4, "kv_heads": 2}
    close(attention(flat(query), flat(key), flat(value), **options), flat(expected))
    mixed, weights = attention(query[:, :2], key, value, causal=causal, return_weights=True)
    close(attention(query[:, :2], key, value, causal=causal), mixed)
    close(weights @ value, mixed)


@pytest.mark.parametrize("options", [{}, {"scale": 0.3}, {"causal": True}])
def test_equals_the_definition_written_as_loops(options):
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(5, 3)), rng.normal(size=(6, 3)), rng.normal(size=(6, 4))
    for i, row in enumerate(attention(query, key, value, **options)):
        seen = range(i + 1) if "causal" in options else range(6)
        scale = options.get("scale", 1 / math.sqrt(3))
        match = [math.exp(scale * sum(query[i] * key[j])) for j in seen]
        expected = sum(match[j] * value[j] for j in seen) / sum(match)
        np.testing.assert_allclose(row, expected, rtol=1e-12)


def test_mask_bias_and_causal_combine():
    generator = torch.Generator().manual_seed(1)
    query, key, value = torch.randn(3, 2, 4, 3, dtype=torch.float64, generator=generator)
    mask = torch.rand(2, 4, 4, generator=generator) < 0.7
    mask[..., 0] = True
    bias = torch.randn(4, 4, dtype=torch.float64, generator=generator)
    allowed = mask & torch.ones(4, 4, dtype=torch.bool).tril()
    expected = F.scaled_dot_product_attention(
        query, key, value, attn_mask=bias.masked_fill(~allowed, -math.inf))
    close(attention(query, key, value, mask=mask, bias=bias, causal=True), expected)


@pytest.mark.parametrize("as_bias", [False, True])
def test_a_query_that_may_attend_to_nothing_gets_zeros_and_no_nan_gradient(as_bias):
    query, key, value = (torch.randn(3, 4, dtype=torch.float64, requires_grad=True) for _ in "qkv")
    mask = torch.tensor([[True, True, False], [False, False, False], [False, True, True]])
    bias = torch.zeros(3, 3, dtype=torch.float64).masked_fill(~mask, -math.inf)
    output, weights = attention(query, key, value, return_weights=True,
                                **({"bias": bias} if as_bias else {"mask": mask}))
    output.square().sum().backward()
    assert torch.equal(output[1], torch.zeros(4)) and torch.equal(weights[1], torch.zeros(3))
    assert torch.equal(weights[0, 2:], torch.zeros(1)) and output[0].abs().min() > 0
    assert all(x.grad.isfinite().all() for x in (query, key, value)) and (query.grad[1] == 0).all()
    empty = attention(*(x.detach().numpy() for x in (query, key, value)), mask=mask.numpy())[1]
    assert (empty == 0).all()


@pytest.mark.parametrize("library", [np.asarray, torch.tensor])
def test_softmax_is_safe_for_huge_scores_and_does_not_hide_nan(library):
    weights = softmax(library([[1e4, 1e4, -1e4], [-1e4, -1e4, -1e4], [-math.inf, 0.0, -math.inf]]))
    np.testing.assert_allclose(weights, [[.5, .5, 0], [1 / 3, 1 / 3, 1 / 3], [0, 1, 0]], atol=1e-12)
    assert np.isnan(np.asarray(softmax(library([[math.nan, 1.0]])))).all()


def test_runs_on_the_bare_array_api():
    rng = np.random.default_rng(2)
    arrays = [rng.normal(size=(2, 4, 6)) for _ in range(3)]
    strict = attention(*map(array_api_strict.asarray, arrays), causal=True)
    np.testing.assert_allclose(np.asarray(strict), attention(*arrays, causal=True), rtol=1e-13)


def test_leading_axes_broadcast_and_an_empty_batch_stays_empty():
    rng = np.random.default_rng(3)
    query, key, value = (rng.normal(size=size) for size in [(5, 1, 4, 3), (2, 6, 3), (6, 7)])
    output, weights = attention(query, key, value, return_weights=True)
    assert output.shape == (5, 2, 4, 7) and weights.shape == (5, 2, 4, 6)
    np.testing.assert_allclose(output[3, 1], attention(query[3, 0], key[1], value), rtol=1e-13)
    assert attention(query[:0], key, value).shape == (0, 2, 4, 7)
    query, key, mask = torch.zeros(0, 4, 6), torch.zeros(0, 5, 2), torch.ones(4, 5) > 0
    assert attention(query, key, key, heads=3, kv_heads=1, mask=mask).shape == (0, 4, 6)


def test_the_result_keeps_the_dtype_of_the_arrays():
    x = np.ones((2, 3), np.float32)
    assert attention(x, x, x, scale=np.float64(0.3), bias=x[:, :2]).dtype == np.float32
    for low in (torch.float16, torch.bfloat16):
        assert attention(*torch.ones(3, 2, 3, dtype=low), causal=True).dtype == low


def test_maps_over_replicas():
    query, key, value = (torch.randn(3, 2, 4, 6) for _ in "qkv")
    mask = torch.rand(3, 4, 4) < 0.5
    mapped = torch.func.vmap(lambda q, k, v, mask: attention(q, k, v, mask=mask, heads=2))
    for i, one in enumerate(mapped(query, key, value, mask)):
        close(one, attention(query[i], key[i], value[i], mask=mask[i], heads=2))


N, T = np.zeros, torch.zeros
TWO = (N((2, 3)),) * 3
BAD_INPUT = {
    "list": (([[1.0]], N((1, 1)), N((1, 1))), {}, TypeError, "query is a list.*numpy.asarray"),
    "mixed": ((T(1, 1), N((1, 1)), N((1, 1))), {}, TypeError, "query is a Tensor, key is a nd"),
    "dtypes": ((T(2, 3), T(2, 3).double(), T(2, 3)), {}, TypeError, "key has dtype torch.float64"),
    "integers": ((N((2, 3), int),) * 3, {}, TypeError, "real floating.*int64"),
    "devices": ((T(2, 3), T(2, 3, device="meta"), T(2, 3)), {}, TypeError, "key is on meta"),
    "vector": ((N(3), N((2, 3)), N((2, 3))), {}, ValueError, r"x\[None, :\].*shape \(3,\)"),
    "widths": ((N((2, 3)), N((2, 4)), N((2, 3))), {}, ValueError, "same width d_k"),
    "tokens": ((N((2, 3)), N((4, 3)), N((5, 3))), {}, ValueError, "each key its value"),
    "no keys": ((N((2, 3)), N((0, 3)), N((0, 3))), {}, ValueError, "at least one key"),
    "no width": ((N((2, 0)), N((2, 0)), N((2, 3))), {}, ValueError, "width at least 1"),
    "batches": ((N((2, 1, 3)), N((3, 1, 3)), N((3, 1, 3))), {}, ValueError, "do not broadcast"),
    "heads": ((N((2, 6)),) * 3, {"heads": 4}, ValueError, "do not divide into heads=4"),
    "no heads": ((N((2, 6)),) * 3, {"heads": 0}, ValueError, "heads=0 must be a positive"),
    "groups": ((N((2, 6)),) * 3, {"heads": 3, "kv_heads": 2}, ValueError, "multiple of kv_heads=2"),
    "query heads": ((N((2, 5)), N((2, 6)), N((2, 6))), {"heads": 2}, ValueError, "do not divide"),
    "key heads": ((N((2, 6)), N((2, 5)), N((2, 6))), {"heads": 2}, ValueError, "do not divide"),
    "value heads": ((N((2, 6)), N((2, 6)), N((2, 5))), {"heads": 2}, ValueError, "do not divide"),
    "half heads": ((N((2, 6)),) * 3, {"heads": 6 / 2}, TypeError, "heads=3.0 .* whole.*//"),
    "value batch": ((N((2, 1, 3)), N((2, 1, 3)), N((3, 1, 3))), {}, ValueError, "do not broadcast"),
    "nothing": ((None, N((2, 3)), N((2, 3))), {}, TypeError, "query is a NoneType"),
    "masked": ((np.ma.ones((2, 3)),) * 3, {}, TypeError, "query is a MaskedArray"),
    "scales": (TWO, {"scale": N((2, 1))}, ValueError, r"scale has shape \(2, 1\); wanted one"),
    "lone groups": ((N((2, 6)),) * 3, {"kv_heads": 2}, ValueError, "without heads"),
    "mask dtype": (TWO, {"mask": N((2, 2))}, TypeError, "True = may attend.*bias="),
    "mask list": (TWO, {"mask": [[True]]}, TypeError, "mask is a list"),
    "mask shape": (TWO, {"mask": N((2, 3), bool)}, ValueError, r"mask has shape \(2, 3\)"),
    "mask grows": ((N((1, 3)),) * 3, {"mask": N((2, 1), bool)}, ValueError, r"shape \(2, 1\)"),
    "bias dtype": (TWO, {"bias": N((2, 2), bool)}, TypeError, "boolean mask into mask="),
    "bias width": (TWO, {"bias": N((2, 2), "f4")}, TypeError, "float32; wanted float64"),
}


@pytest.mark.parametrize("arrays, options, error, message", BAD_INPUT.values(), ids=BAD_INPUT)
def test_bad_input_is_refused_with_what_came_and_what_to_do(arrays, options, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        attention(*arrays, **options)
