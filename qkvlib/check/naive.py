"""The exercise `naive_tokens`: softmax(β X Xᵀ) by hand, for the three tokens and β = ln 2."""

import numpy as np

from ..attention import softmax
from .by_hand import KEY, QUERY
from .table import check_table

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
BETA = np.log(2)


def naive_tokens(weights):
    """Check the 3 × 3 weights softmax(β X Xᵀ) of the three tokens, β = ln 2.

    `weights` is what `three_tokens` takes.
    Returns a `Result` that names the misconception when it knows it.
    """
    return check_table(
        "naive_tokens", weights, softmax(BETA * X @ X.T), _misconceptions(),
        praise="and the longest token has the largest share in each row, or shares it.",
        hint="e to the power of s ln 2 is 2 to the power of s, so each row is a short sum.")


def _misconceptions():
    """Name, hint and the tables that come of it, the likeliest first."""
    dots = X @ X.T
    yield ("exponentials not normalised",
           "These are the right proportions. What does each row have to sum to?", [2**dots])
    yield ("dot products instead of weights",
           "These are the scores. What does softmax do with a row of them?", [dots, BETA * dots])
    yield ("dot products normalised",
           "A row sums to 1. Where has the exponential gone?",
           [dots / dots.sum(-1, keepdims=True)])
    yield ("β forgotten",
           "With β = ln 2 every power of e becomes a power of 2.", [softmax(dots)])
    yield ("columns normalised",
           "Each query shares out a total of 1 among the keys: which entries belong together?",
           [softmax(BETA * dots, axis=0)])
    yield ("self left out",
           "Is a token forbidden to attend to itself here?",
           [softmax(np.where(np.eye(3), -np.inf, BETA * dots))])
    yield ("lengths left out",
           "Token 3 is longer than the others. Does X X^T hold cosines or dot products?",
           [softmax(BETA * dots / np.sqrt(np.outer(np.diag(dots), np.diag(dots)))),
            softmax(dots / np.sqrt(np.outer(np.diag(dots), np.diag(dots))))])
    yield ("scaled by the width",
           "The exercise has no root of d: its factor is β alone.",
           [softmax(BETA * dots / np.sqrt(2)), softmax(dots / np.sqrt(2))])
    yield ("separate queries and keys used",
           "The naive form has no W_Q and no W_K: which vectors meet in a score?",
           [softmax(np.outer(QUERY, KEY)), softmax(BETA * np.outer(QUERY, KEY))])
    yield ("uniform weights", "Which pairs of tokens are alike?", [np.full((3, 3), 1 / 3)])
