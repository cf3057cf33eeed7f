"""`qkvlib.bias` beyond its claims: other shapes, torch and NumPy alike, and what it refuses."""

import numpy as np
import pytest
import torch

from qkvlib import attention, softmax
from qkvlib.bias import fold_value_bias, four_terms, query_bias_prior


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    shapes = [(2, 7, 12), (12, 6), (12, 6), (6,), (6,)]
    return [rng.normal(size=shape) for shape in shapes]


def test_four_terms_of_cross_attention_and_in_torch(problem):
    X, W_Q, W_K, b_Q, b_K = problem
    context = np.random.default_rng(1).normal(size=(2, 4, 12))
    scores = (X @ W_Q + b_Q) @ (context @ W_K + b_K).mT / 6**0.5
    terms = four_terms(*problem, context=context)
    assert all(term.shape == (2, 7, 4) for term in terms)
    np.testing.assert_allclose(sum(terms), scores, atol=1e-12)
    in_torch = four_terms(*map(torch.tensor, problem), context=torch.tensor(context))
    for ours, theirs in zip(terms, in_torch, strict=True):
        np.testing.assert_allclose(theirs, ours, atol=1e-12)


def test_four_terms_refuses_widths_that_differ(problem):
    X, W_Q, W_K, b_Q, b_K = problem
    with pytest.raises(ValueError, match=r"b_K has shape \(5,\).*wanted X \(\.\.\., n, d\)"):
        four_terms(X, W_Q, W_K, b_Q, b_K[:5])
    with pytest.raises(TypeError, match="W_K is a list"):
        four_terms(X, W_Q, W_K.tolist(), b_Q, b_K)


def test_the_four_terms_can_be_edited_one_by_one(problem):
    terms = four_terms(*problem)
    before = terms.key_bias.copy()
    terms.key_bias[0, 0, 0] = 99
    assert (terms.key_bias != before).sum() == 1


@pytest.mark.parametrize("scale", [None, 1.7])
def test_prior_is_what_a_query_without_content_attends_to(problem, scale):
    X, _, W_K, b_Q, _ = problem
    key = X @ W_K
    _, weights = attention(b_Q[None], key, key, scale=scale, return_weights=True)
    np.testing.assert_allclose(query_bias_prior(key, b_Q, scale=scale), weights[:, 0], atol=1e-13)
    for wrong in (b_Q[:5], b_Q[None]):
        with pytest.raises(ValueError, match=r"wanted key \(\.\.\., m, k\), b_Q \(k\)"):
            query_bias_prior(key, wrong)


@pytest.mark.parametrize("library", [np.asarray, torch.tensor])
@pytest.mark.parametrize("total", [1.0, 0.7])
def test_value_bias_folds_wherever_all_rows_have_one_sum(problem, library, total):
    rng = np.random.default_rng(2)
    b_V, W_O, b_O, value = (library(rng.normal(size=s)) for s in [(6,), (6, 5), (5,), (2, 7, 6)])
    weights = total * softmax(library(rng.normal(size=(2, 7, 7))))
    biased = weights @ (value + b_V) @ W_O + b_O
    folded = weights @ value @ W_O + fold_value_bias(b_V, W_O, b_O, weights)
    np.testing.assert_allclose(folded, biased, atol=1e-12)
    np.testing.assert_allclose(fold_value_bias(b_V, W_O, None, weights),
                               fold_value_bias(b_V, W_O, 0 * b_O, weights), atol=1e-13)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_folding_allows_for_rounding_and_for_no_more(dtype):
    generator = torch.Generator().manual_seed(0)
    weights = softmax(5 * torch.randn(4, 8, 4096, generator=generator)).to(dtype)
    b_V, W_O = torch.ones(3, dtype=dtype), torch.eye(3, dtype=dtype)
    folded = fold_value_bias(b_V, W_O, None, weights)
    assert torch.allclose(folded, b_V, atol=2 * torch.finfo(dtype).eps)
    weights[0, 0] *= 0.97
    with pytest.raises(ValueError, match="rows of weights sum to 0.9.* … 1.*cannot be folded"):
        fold_value_bias(b_V, W_O, None, weights)


class OnGPUWithoutFloat64(torch.Tensor):
    """Refuses to become float64 until it is on the CPU, as tensors on Apple's GPUs do."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        result = super().__torch_function__(function, types, args, kwargs)
        if not isinstance(result, cls):
            return result
        if function is torch.Tensor.to and args[1:] == ("cpu",):
            return result.as_subclass(torch.Tensor)
        if result.dtype == torch.float64:
            raise TypeError("this device has no float64")
        return result


def test_folding_needs_no_float64_on_the_device():
    rng = np.random.default_rng(3)
    arrays = [rng.normal(size=shape) for shape in [(6,), (6, 5), (5,)]]
    b_V, W_O, b_O = (torch.tensor(x).float().as_subclass(OnGPUWithoutFloat64) for x in arrays)
    weights = torch.full((3, 7), 1 / 7).as_subclass(OnGPUWithoutFloat64)
    with pytest.raises(TypeError, match="no float64"):
        weights.double()
    folded = fold_value_bias(b_V, W_O, b_O, weights)
    assert isinstance(folded, OnGPUWithoutFloat64) and folded.dtype == torch.float32
    np.testing.assert_allclose(folded.tolist(), arrays[0] @ arrays[1] + arrays[2], rtol=1e-5)


@pytest.mark.parametrize("weights", [
    [[0.5, 0.5], [0.0, 0.0]], [[0.5, 0.5], [np.nan, 0.0]], [[0.5, 0.5], [0.5, 0.49]]])
def test_folding_refuses_rows_of_different_sums(weights):
    with pytest.raises(ValueError, match="cannot be folded; keep b_V"):
        fold_value_bias(np.ones(3), np.eye(3), np.ones(3), np.array(weights))


def test_folding_refuses_shapes_that_do_not_fit_and_takes_an_empty_batch():
    ones = np.ones(3)
    for b_V, W_O, b_O in [(ones[:2], np.eye(3), ones), (ones, np.eye(3), np.ones((3, 1))),
                          (ones[None], np.eye(3), ones), (ones, ones, ones)]:
        with pytest.raises(ValueError, match=r"wanted b_V \(d\), W_O \(d, e\), b_O \(e\)"):
            fold_value_bias(b_V, W_O, b_O, np.eye(2))
    with pytest.raises(TypeError, match="weights has dtype int64"):
        fold_value_bias(ones, np.eye(3), ones, np.eye(2, dtype=np.int64))
    np.testing.assert_array_equal(fold_value_bias(ones, np.eye(3), ones, np.ones((0, 4, 4))), 2)
