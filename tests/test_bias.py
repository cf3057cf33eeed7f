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
    with pytest.raises(ValueError, match=r"one width d_k; came .*'b_K': 5"):
        four_terms(X, W_Q, W_K, b_Q, b_K[:5])


@pytest.mark.parametrize("scale", [None, 1.7])
def test_prior_is_what_a_query_without_content_attends_to(problem, scale):
    X, _, W_K, b_Q, _ = problem
    key = X @ W_K
    _, weights = attention(b_Q[None], key, key, scale=scale, return_weights=True)
    np.testing.assert_allclose(query_bias_prior(key, b_Q, scale=scale), weights[:, 0], atol=1e-13)
    with pytest.raises(ValueError, match="one width d_k"):
        query_bias_prior(key, b_Q[:5])


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


def test_folding_works_in_single_precision_over_many_keys():
    weights = softmax(torch.randn(4, 64, 2048, generator=torch.Generator().manual_seed(0)))
    folded = fold_value_bias(torch.ones(3), torch.eye(3), None, weights)
    assert torch.allclose(folded, torch.ones(3))


@pytest.mark.parametrize("weights, message", [
    (np.array([[0.5, 0.5], [0.0, 0.0]]), r"sum to 0 … 1.*rows sum to one"),
    (np.array([[0.5, 0.5], [np.nan, 0.0]]), "cannot be folded"),
])
def test_folding_refuses_rows_of_different_sums(weights, message):
    with pytest.raises(ValueError, match=message):
        fold_value_bias(np.ones(3), np.eye(3), np.ones(3), weights)
    with pytest.raises(ValueError, match="as wide as W_O is high"):
        fold_value_bias(np.ones(2), np.eye(3), np.ones(3), np.eye(2))
