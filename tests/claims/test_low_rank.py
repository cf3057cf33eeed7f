"""The claims of the chapter "Low rank", each decided by a test that could fail."""

from math import cos, exp, log, pi

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.optimize import brentq

from qkvlib import softmax
from qkvlib.forms import realise
from qkvlib.freedom import jacobian_rank
from qkvlib.rank import (
    best_form,
    circle_beta,
    circle_weight,
    degrees_of_freedom,
    excluded,
    least_rank,
    parameters,
)
from qkvlib.results import recorded
from qkvlib.teacher import NOISE, Student, answers, compare, examples

claim = pytest.mark.claim
ROUNDING = 1e-12


def factors(d, d_k, seed=0):
    g = torch.Generator().manual_seed(seed)
    return {name: torch.randn(d, d_k, generator=g, dtype=torch.float64) for name in ("W_Q", "W_K")}


@claim("L1")
@pytest.mark.parametrize("d, d_k", [(3, 1), (5, 2), (6, 3), (6, 6)])
def test_L1_the_rank_is_bounded_and_the_gauge_is_what_is_lost(d, d_k):
    p = factors(d, d_k)
    M = p["W_Q"] @ p["W_K"].mT
    assert torch.linalg.matrix_rank(M) == d_k
    free = jacobian_rank(lambda p: p["W_Q"] @ p["W_K"].mT, p)
    assert free == degrees_of_freedom(d, d_k) == 2 * d * d_k - d_k**2
    # what is lost is G: as many directions as it has entries leave the form alone
    G = torch.randn(d_k, d_k, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    other = (p["W_Q"] @ G) @ (p["W_K"] @ torch.linalg.inv(G).mT).mT
    assert abs(other - M).max() < 1e-9 * abs(M).max()
    assert jacobian_rank(lambda q: (p["W_Q"] @ q["G"]) @ p["W_K"].mT, {"G": G}) == d_k**2


@claim("L1")
@pytest.mark.parametrize("d, d_k", [(3, 2), (5, 4), (6, 6)])
def test_L1_rotary_positions_leave_two_numbers_a_pair(d, d_k):
    p = factors(d, d_k)
    angles = 1 / 3.0 ** torch.arange(d_k // 2, dtype=torch.float64)

    def forms(p):
        """One form for each distance, by which the pairs (a, b) of the queries are turned."""
        (a, b), key = p["W_Q"].chunk(2, -1), p["W_K"]
        turn = torch.arange(8)[:, None, None] * angles
        c, s = turn.cos(), turn.sin()
        return torch.cat([a * c - b * s, a * s + b * c], -1) @ key.mT

    assert jacobian_rank(forms, p) == degrees_of_freedom(d, d_k, rotary=True) == (2 * d - 1) * d_k
    c = torch.complex(*torch.randn(2, d_k // 2, dtype=torch.float64,
                                   generator=torch.Generator().manual_seed(2)))
    q, k = (torch.complex(*p[name].chunk(2, -1)) for name in ("W_Q", "W_K"))
    same = {"W_Q": torch.cat([(q * c).real, (q * c).imag], -1),
            "W_K": torch.cat([(k / c.conj()).real, (k / c.conj()).imag], -1)}
    assert abs(forms(same) - forms(p)).max() < 1e-12 * abs(forms(p)).max() * 100
    G = torch.eye(d_k, dtype=torch.float64) + 0.5
    moved = {"W_Q": p["W_Q"] @ G, "W_K": p["W_K"] @ torch.linalg.inv(G).mT}
    assert abs(forms(moved)[0] - forms(p)[0]).max() < 1e-9  # at one place any G will do
    assert d_k == 2 or abs(forms(moved) - forms(p)).max() > 0.1  # at several it will not


@claim("L1")
def test_L1_nothing_of_this_rank_is_nearer_than_the_cut():
    rng = np.random.default_rng(0)
    M = rng.normal(size=(6, 6))
    values = np.linalg.svd(M, compute_uv=False)
    for rank in range(7):
        cut = best_form(M, rank)
        assert np.linalg.matrix_rank(cut) == rank
        error = np.linalg.norm(M - cut)
        np.testing.assert_allclose(error**2, (values[rank:]**2).sum(), atol=ROUNDING)
        for _ in range(50):  # the best rows for some other columns space
            U, _ = np.linalg.qr(rng.normal(size=(6, rank)))
            assert np.linalg.norm(M - U @ (U.T @ M)) >= error - ROUNDING


STUDENTS = {"bounded": Student(2, 0.01), "factored": Student(24, 0.01), "free": Student(None, 0.01)}


def mean(score):
    return np.mean(score.stopped)


@claim("L2")
def test_L2_the_bound_helps_a_low_rank_truth_and_the_factors_alone_help_half_way():
    found = compare(STUDENTS, rank=2, count=160, seeds=range(2), rates=(0.01, 0.03), steps=350)
    bounded, factored, free = map(mean, found.values())
    assert bounded < 0.06 < factored < free / 1.5 and free > 0.25


@claim("L2")
def test_L2_of_too_few_examples_nobody_learns():
    few = compare(STUDENTS, rank=2, count=20, seeds=range(2), rates=(0.003, 0.01), steps=200)
    generators = [torch.Generator().manual_seed(seed) for seed in range(2)]
    X, v, y = examples(generators, 2, 300)
    assert torch.linalg.matrix_rank(answers(X, torch.eye(24).expand(1, 2, 24, 24), v)[0]).min() > 1
    even = ((answers(X, torch.zeros(1, 2, 24, 24), v)[0] - y)**2).mean((1, 2)) / y.var((1, 2))
    assert all(mean(score) > 0.75 * even.mean() for score in few.values())


@claim("L2")
def test_L2_one_seed_of_the_record_comes_out_again():
    wanted = recorded("students")["errors"]["2"]["160"]
    names = {"d_k = 2": Student(2, 0.01), "free": Student(None, 0.01)}
    found = compare(names, rank=2, count=160, seeds=[0])
    for name, score in found.items():
        assert score.stopped[0] == pytest.approx(wanted[name]["stopped"][0], rel=0.2, abs=0.02)


@claim("L3")
@pytest.mark.parametrize("d", [4, 12, 768])
def test_L3_two_factors_are_fewer_numbers_below_half_the_width(d):
    for d_k in {1, d // 4, d // 2, d // 2 + 1, d}:
        W_Q, W_K = np.zeros((2, d, d_k))
        assert parameters(d, d_k) == W_Q.size + W_K.size
        assert (parameters(d, d_k) < d * d) == (d_k < d / 2)
    for h in (1, 2, 4):
        of_all_heads = h * parameters(d, d // h)
        assert of_all_heads == 2 * d**2  # whatever the number of heads
        assert (of_all_heads < h * d**2) == (h > 2)  # against h full forms, not against one


@claim("L4")
def test_L4_with_a_full_rank_truth_the_bound_is_the_bad_one():
    found = compare(STUDENTS, rank=24, count=320, seeds=range(2), rates=(0.01, 0.03), steps=350)
    bounded, factored, free = map(mean, found.values())
    assert bounded > 0.5 and free < 0.3 and factored < 0.3
    recording = recorded("students")["errors"]["24"]["320"]
    assert min(recording["d_k = 2"]["stopped"]) > 3 * max(recording["free"]["stopped"])


@claim("L4")
def test_L4_the_free_matrix_fits_noise_and_is_the_best_even_so():
    """With new noise an error is the clean one and the noise; below the noise is what is fitted."""
    _, _, y = examples([torch.Generator().manual_seed(seed) for seed in range(5)], 24, 500)
    noise = (NOISE**2 / y.var((1, 2))).mean().item()
    found = recorded("students")["errors"]["24"]
    for count in ("80", "320"):
        own, new = ({name: np.mean(found[count][name][part]) for name in ("d_k = 2", "free")}
                    for part in ("train", "last"))
        assert own["free"] < (new["free"] + noise) / 2  # it overfits
        assert own["d_k = 2"] > 0.75 * (new["d_k = 2"] + noise)  # this one less
        assert new["free"] < new["d_k = 2"]
    assert np.mean(found["320"]["free"]["train"]) < noise


@claim("L5")
@pytest.mark.parametrize("n", [5, 32])
def test_L5_two_dimensions_realise_every_map_as_sharply_as_one_likes(n):
    f = np.random.default_rng(n).permutation(n)
    query, key = realise(f, "free")
    for weight in (0.5, 0.9, 0.99):
        beta = circle_beta(n, weight)
        A = softmax(beta * query @ key.T)
        np.testing.assert_allclose(A[np.arange(n), f], weight, atol=1e-8)
        np.testing.assert_allclose(circle_weight(n, beta), weight, atol=1e-8)


@claim("L5")
@pytest.mark.parametrize("weight", [0.5, 0.9, 0.99])
def test_L5_the_inverse_temperature_grows_with_the_square(weight):
    def theta(q):  # what the sum over all keys becomes
        return 1 + 2 * sum(q**(k * k) for k in range(1, 30))

    q = brentq(lambda q: theta(q) - 1 / weight, 0, 0.99)
    limit = -log(q) / (2 * pi**2)
    assert abs(circle_beta(2048, weight) / 2048**2 - limit) < 1e-5
    assert 0.9 * limit < circle_beta(16, weight) / 16**2 < 1.15 * limit


@claim("L5")
@pytest.mark.parametrize("seed", range(5))
def test_L5_no_unit_vectors_in_two_dimensions_do_with_less(seed):
    """Keys anywhere on the circle, for each key the best of all queries: somebody stays below."""
    rng = np.random.default_rng(seed)
    n, beta = 8, 10.0
    angles = 2 * pi * (np.arange(n) + [0, 0.1, 0.3, 1, 3][seed] * rng.normal(size=n)) / n
    queries = 2 * pi * np.arange(20_000) / 20_000
    A = softmax(beta * np.cos(queries[:, None] - angles))
    bound = 1 / (1 + exp(-beta * (1 - cos(2 * pi / n))))
    assert A.max(0).min() <= bound + ROUNDING
    assert excluded(n, 2, beta, bound + 1e-6) and not excluded(n, 2, beta, circle_weight(n, beta))


@claim("L5")
@pytest.mark.parametrize("rank", [2, 3, 6])
def test_L5_the_bound_by_the_sphere_holds(rank):
    """The mean of exp(β (t − 1)) by integration, and random vectors against it."""
    D, n, beta = rank + 1, 60, 12.0
    density = quad(lambda t: (1 - t * t)**((D - 3) / 2), -1, 1)[0]
    phi = quad(lambda t: exp(beta * (t - 1)) * (1 - t * t)**((D - 3) / 2), -1, 1)[0] / density
    rng = np.random.default_rng(rank)
    for spread in (0.0, 0.3, 2.0):
        key = rng.normal(size=(n, rank))
        query = key + spread * rng.normal(size=(n, rank))
        query, key = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (query, key))
        own = np.diagonal(softmax(beta * query @ key.T))
        assert n / (1 / own).sum() <= 1 / (n * phi)  # the harmonic mean of the weights
    limit = 1 / (n * phi)
    if 0.5 < limit < 0.99 and rank > 2:
        assert excluded(n, rank, beta, limit + 1e-6) and not excluded(n, rank, beta, limit - 1e-6)


@claim("L5")
def test_L5_what_needs_rank_is_the_pattern_and_not_its_sharpness():
    rng = np.random.default_rng(0)
    for n in (4, 7):
        generic = rng.dirichlet(np.ones(n), size=n)
        assert least_rank(generic) == n - 1
        logs = np.log(generic)
        centred = logs - logs.mean(-1, keepdims=True)
        np.testing.assert_allclose(softmax(best_form(centred, n - 1)), generic, atol=1e-9)
        assert abs(softmax(best_form(centred, n - 2)) - generic).max() > 1e-4
        for rank in range(1, n - 1):  # scores of low rank, shifted row by row
            scores = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n))
            assert least_rank(softmax(scores + rng.normal(size=(n, 1)))) == rank
    query, key = realise(range(12), "free")  # as sharp as one likes, and of rank two
    assert least_rank(softmax(60 * query @ key.T)) == 2
    assert least_rank(np.full((5, 5), 0.2)) == 0
