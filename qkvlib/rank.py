"""The rank of a form: what it costs, what a cut leaves of a form, and which weights it allows.

A head of width d_k writes its form as M = W_Q W_Kᵀ, of rank d_k at most. That saves numbers, and it
bounds the scores; what the softmax makes of scores of low rank is another matter.
"""

import math

import numpy as np
from array_api_compat import array_namespace
from scipy.optimize import brentq
from scipy.special import gammaln, ive


def parameters(d, d_k):
    """How many numbers W_Q and W_K hold, (d, d_k) each."""
    return 2 * d * d_k


def degrees_of_freedom(d, d_k, *, rotary=False):
    """How many of these numbers are free: the dimension of the set of forms that they can make.

    An invertible (d_k, d_k) matrix between the factors changes nothing, so d_k² are lost. Under
    `rotary` positions a score tells each pair of features apart, and what changes nothing is one
    turn and one stretch a pair: d_k are lost. Raises ValueError unless 1 ≤ d_k ≤ d, and for an odd
    d_k under rotary positions.
    """
    if not 1 <= d_k <= d:
        raise ValueError(f"d_k={d_k} and d={d}; wanted 1 ≤ d_k ≤ d: "
                         "wider factors make no more forms")
    if rotary and d_k % 2:
        raise ValueError(f"d_k={d_k} is odd, and rotary positions turn pairs of features")
    return parameters(d, d_k) - (d_k if rotary else d_k**2)


def best_form(M, rank):
    """The matrix of this rank, or less, that is nearest to M (..., d, d), by the sum of squares.

    It keeps the largest `rank` singular values of M and drops the rest (Eckart and Young).
    Raises ValueError unless 0 ≤ rank ≤ d.
    """
    xp = array_namespace(M)
    if not 0 <= rank <= min(M.shape[-2:]):
        raise ValueError(f"rank={rank} of matrices {tuple(M.shape)}; wanted 0 to "
                         f"{min(M.shape[-2:])}")
    left, values, right = xp.linalg.svd(M, full_matrices=False)
    return (left[..., :rank] * values[..., None, :rank]) @ right[..., :rank, :]


def least_rank(weights, *, tolerance=1e-9):
    """The smallest rank of scores whose softmax is `weights` (n, m), all of them positive.

    Scores are the logarithms up to a number for each row, which one is free to choose; centring the
    rows makes the best choice. Singular values below `tolerance` × the largest count as zero.
    Raises ValueError for weights that are not positive or whose rows do not sum to 1.
    """
    weights = np.asarray(weights, dtype=float)
    if weights.ndim != 2 or not (weights > 0).all() or not np.allclose(weights.sum(-1), 1):
        raise ValueError(f"weights of shape {weights.shape}; wanted (n, m), all entries positive "
                         "and each row with the sum 1: a softmax gives nothing else")
    logs = np.log(weights)
    values = np.linalg.svd(logs - logs.mean(-1, keepdims=True), compute_uv=False)
    # All weights even: then rounding is all there is, and the rank is zero.
    return int((values > max(tolerance * values[0], 1e-12)).sum())


def circle_weight(n, beta):
    """The weight of the wanted key among n on a circle, evenly, under scores β · cosine."""
    gaps = 1 - np.cos(2 * np.pi * np.arange(n) / n)
    return 1 / np.exp(-beta * gaps).sum()


def circle_beta(n, weight):
    """The inverse temperature at which `circle_weight` is `weight`, between 1 / n and 1."""
    if not 1 / n < weight < 1:
        raise ValueError(f"weight={weight}; wanted more than 1 / n = {1 / n:g} and less than 1")
    high = math.log(2 * n / (1 - weight)) / (1 - math.cos(2 * math.pi / n))
    return float(brentq(lambda beta: circle_weight(n, beta) - weight, 0, high, xtol=1e-10))


def excluded(n, rank, beta, weight):
    """Whether it is proved that no unit queries and keys of width `rank` do what is wanted.

    Wanted: each of n queries has the weight `weight` > ½ on a key of its own, under β q · k.

    False says only that the proof does not reach. Two bounds, n ≥ 4:
        rank 1 has two unit keys; rank 2 has a key with neighbours within 2π / n on average
        any rank: n · weight · mean of exp(β (t − 1)) ≤ 1, t a coordinate of the sphere in rank + 1
    """
    if n < 4 or rank < 1 or beta <= 0 or not 0.5 < weight < 1:
        raise ValueError(f"n={n}, rank={rank}, beta={beta}, weight={weight}; wanted n ≥ 4, "
                         "rank ≥ 1, beta > 0 and a weight between ½ and 1")
    odds = math.log(weight / (1 - weight))
    if rank == 1 or rank == 2 and beta * (1 - math.cos(2 * math.pi / n)) < odds:
        return True
    half = (rank + 1) / 2
    mean = math.exp(gammaln(half) + (half - 1) * math.log(2 / beta)) * ive(half - 1, beta)
    return bool(n * weight * mean > 1)
