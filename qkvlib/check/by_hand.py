"""The exercises `three_tokens` and `sharper_tokens`: attention weights by hand."""

import numpy as np

from ..attention import softmax
from .table import check_table

# The book's example: X = [[1, 0], [0, 1], [1, 1]], W_Q = (1, −1)ᵀ, W_K = (ln 2, ln 3)ᵀ, d_k = 1.
QUERY = np.array([1.0, -1.0, 0.0])
KEY = np.log([2.0, 3.0, 6.0])
KEY_BIAS = np.log(5.0)


def three_tokens(weights):
    """Check the 3 × 3 weights of the three-token example with the key bias b_K = ln 5.

    `weights`: three rows of three entries, one row for each query; entries are fractions
    (`Fraction(1, 2)` or "1/2") or numbers right to three decimals; lists, arrays or tensors.
    Returns a `Result` that names the misconception when it knows it.
    """
    return check_table(
        "three_tokens", weights, softmax(_scores(QUERY, KEY + KEY_BIAS)), _with_key_bias(),
        praise="they are those without a key bias.",
        hint="e to the power of a logarithm is a plain number, so each row is a short sum.")


def sharper_tokens(weights):
    """Check the 3 × 3 weights of the three-token example with all scores multiplied by 2.

    `weights` is what `three_tokens` takes.
    Returns a `Result` that names the misconception when it knows it.
    """
    return check_table(
        "sharper_tokens", weights, softmax(2 * _scores(QUERY, KEY)), _with_double_scores(),
        praise="each row is sharper, but for the one that was even.",
        hint="e to the power of 2 s is the square of e to the power of s.")


def _scores(query, key):
    return np.outer(query, key)


def _with_key_bias():
    """Name, hint and the tables that come of it, the likeliest first."""
    biased = _scores(QUERY, KEY + KEY_BIAS)
    plain = _scores(QUERY, KEY)
    weights = softmax(plain)
    yield ("exponentials not normalised",
           "These are the right proportions. What does each row have to sum to?",
           [np.exp(biased), np.exp(plain)])
    yield ("scores instead of weights",
           "These are the scores. What does softmax do with a row of them?",
           [biased, plain])
    yield ("columns normalised",
           "Each query shares out a total of 1 among the keys: which entries belong together?",
           [softmax(biased, axis=0), softmax(plain, axis=0)])
    yield ("query and key swapped",
           "Rows belong to queries here: row i says whom token i reads.",
           [weights.T, softmax(biased.T)])
    yield ("key bias added after the softmax",
           "The bias is part of the key, so it enters before the exponential. What happens then?",
           [weights + KEY_BIAS, (weights + KEY_BIAS) / (1 + 3 * KEY_BIAS), 5 * weights,
            np.exp(biased) / np.exp(plain).sum(-1, keepdims=True)])
    yield ("key bias added to one key only",
           "A bias is the same for every token. Which keys does b_K reach?",
           [softmax(_scores(QUERY, KEY + KEY_BIAS * np.eye(3)[j])) for j in range(3)])
    yield ("query bias instead of key bias",
           "Which of the two vectors in q · k does b_K belong to?",
           [softmax(_scores(QUERY + KEY_BIAS, KEY)),
            softmax(_scores(QUERY + KEY_BIAS, KEY + KEY_BIAS))])
    yield ("logarithm of a sum",
           "ln 2 + ln 5 is the logarithm of which number?",
           [softmax(_scores(QUERY, np.log(np.exp(KEY) + 5)))])
    yield ("sign of the query forgotten",
           "The second token's query is −1. What is e to the power of −ln 2?",
           [softmax(_scores(np.abs(QUERY), KEY))])
    yield ("key bias multiplied",
           "The bias is added to a key, not multiplied with it.",
           [softmax(_scores(QUERY, KEY * KEY_BIAS))])
    yield ("uniform weights",
           "Only a query of zero finds all keys alike. Which token has that one?",
           [np.full((3, 3), 1 / 3)])


def _with_double_scores():
    """Name, hint and the tables that come of it, the likeliest first."""
    scores = _scores(QUERY, KEY)
    weights, sharper = softmax(scores), softmax(2 * scores)
    yield ("scores not doubled",
           "These are the weights at inverse temperature 1. What changes before the exponential?",
           [weights])
    yield ("weights doubled",
           "A row has to sum to 1. At which step does the factor 2 come in?",
           [2 * weights])
    yield ("exponentials doubled",
           "Is e to the power of 2 s twice e to the power of s?",
           [2 * np.exp(scores), 2 * np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)])
    yield ("exponentials not normalised",
           "These are the right proportions. What does each row have to sum to?",
           [np.exp(2 * scores)])
    yield ("weights squared, not normalised",
           "In proportion they are right. What does each row have to sum to?",
           [weights**2])
    yield ("scores instead of weights",
           "These are the scores. What does softmax do with a row of them?",
           [2 * scores, scores])
    yield ("scores halved",
           "Does a larger inverse temperature make a row sharper or flatter?",
           [softmax(scores / 2)])
    yield ("hard look-up",
           "Only an infinite inverse temperature leaves one key. How much is left for the others?",
           [np.array([[0, 0, 1], [1, 0, 0], [1 / 3, 1 / 3, 1 / 3]])])
    yield ("columns normalised",
           "Each query shares out a total of 1 among the keys: which entries belong together?",
           [softmax(2 * scores, axis=0)])
    yield ("query and key swapped",
           "Rows belong to queries here: row i says whom token i reads.",
           [sharper.T, softmax(2 * scores.T)])
    yield ("sign of the query forgotten",
           "The second token's query is −1. What is e to the power of −2 ln 2?",
           [softmax(2 * _scores(np.abs(QUERY), KEY))])
    yield ("uniform weights",
           "Only a query of zero finds all keys alike. Which token has that one?",
           [np.full((3, 3), 1 / 3)])
