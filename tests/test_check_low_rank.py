"""The exercises on rank: right answers of any style pass, planted wrong ones hear their name."""

from math import cos, log, pi

import numpy as np
import pytest
from planted_answers import cases, hears, passes

from qkvlib import check
from qkvlib.check import counting, cut, factors, rotary


def svd(M, rank):
    left, values, right = np.linalg.svd(M)
    return left[:, :rank] * values[:rank] @ right[:rank]


def kept(M, values):
    left, _, right = np.linalg.svd(M)
    return left * values @ right


def values(M):
    return np.linalg.svd(M, compute_uv=False)


def by_projection(M, rank):
    """M on the span of its strongest left directions, found from M Mᵀ."""
    _, vectors = np.linalg.eigh(M @ M.T)
    U = vectors[:, -int(rank):]
    return U @ (U.T @ M)


def by_peeling(M, rank):
    rest, found = M.copy(), np.zeros_like(M)
    for _ in range(int(rank)):
        left, s, right = np.linalg.svd(rest)
        found = found + s[0] * np.outer(left[:, 0], right[0])
        rest = M - found
    return found


def symmetric(M, rank):
    return by_projection((M + M.T) / 2, rank)


def pairs(W, factor):
    half = W.shape[1] // 2
    z = (W[:, :half] + 1j * W[:, half:]) * factor
    return np.hstack([z.real, z.imag])


def by_hand(W_Q, W_K, turn, stretch):
    a, b = W_K[:, :len(turn)], W_K[:, len(turn):]
    c, s = np.cos(turn) / stretch, np.sin(turn) / stretch
    return np.concatenate([a * c - b * s, a * s + b * c], 1)


def by_gauge(W_Q, W_K, turn, stretch):
    """As for any G: the inverse, transposed."""
    c, s = np.diag(np.cos(turn) * stretch), np.diag(np.sin(turn) * stretch)
    return W_K @ np.linalg.inv(np.block([[c, s], [-s, c]])).T


def neighbours(W, factor):
    z = (W[:, ::2] + 1j * W[:, 1::2]) * factor
    return np.stack([z.real, z.imag], -1).reshape(W.shape)


RIGHT = {
    check.best_form: {"svd": svd, "projection": by_projection, "peeling": by_peeling,
                      "rest": lambda M, rank: M - kept(M, np.where(
                          np.arange(len(M)) < rank, 0, values(M)))},
    check.same_rotary_head: {
        "complex": lambda W_Q, W_K, turn, stretch: pairs(W_K, np.exp(1j * turn) / stretch),
        "by hand": by_hand, "gauge": by_gauge},
}

WRONG = {
    check.best_form: {
        "last": ("smallest kept", lambda M, rank: kept(M, np.where(
            np.arange(len(M)) < len(M) - rank, 0, values(M)))),
        "residual": ("the rest returned", lambda M, rank: M - svd(M, rank)),
        "directions": ("singular values left out",
                       lambda M, rank: kept(M, 1.0 * (np.arange(len(M)) < rank))),
        "twice": ("singular values used twice", lambda M, rank: kept(
            M, values(M)**2 * (np.arange(len(M)) < rank))),
        "root": ("root of the singular values", lambda M, rank: kept(
            M, values(M)**0.5 * (np.arange(len(M)) < rank))),
        "rows of V": ("right vectors not transposed", lambda M, rank: np.linalg.svd(M)[0][:, :rank]
                      * values(M)[:rank] @ np.linalg.svd(M)[2][:, :rank].T),
        "one more": ("one too many", lambda M, rank: svd(M, rank + 1)),
        "one less": ("one too few", lambda M, rank: svd(M, rank - 1)),
        "rows": ("rows or columns cut", lambda M, rank: np.where(
            np.arange(len(M))[:, None] < rank, M, 0)),
        "eigh": ("the form made symmetric", symmetric),
        "factor": ("wrong shape", lambda M, rank: np.linalg.svd(M)[0][:, :rank]),
    },
    check.same_rotary_head: {
        "interleaved": ("neighbours taken for pairs", lambda W_Q, W_K, t, s: neighbours(
            W_K, np.exp(1j * t) / s) if len(t) > 1 else pairs(W_K, np.exp(1j * t) / s)),
        "inverse": ("turned back", lambda W_Q, W_K, t, s: pairs(W_K, np.exp(-1j * t) / s)),
        "the same": ("stretched as well", lambda W_Q, W_K, t, s: pairs(W_K, np.exp(1j * t) * s)),
        "conjugate": ("all of it repeated backwards",
                      lambda W_Q, W_K, t, s: pairs(W_K, np.exp(-1j * t) * s)),
        "shrunk": ("turn forgotten", lambda W_Q, W_K, t, s: pairs(W_K, 1 / s)),
        "turned": ("stretch forgotten", lambda W_Q, W_K, t, s: pairs(W_K, np.exp(1j * t))),
        "unchanged": ("keys left as they were", lambda W_Q, W_K, t, s: W_K.copy()),
        "of W_Q": ("query weights taken", lambda W_Q, W_K, t, s: pairs(W_Q, np.exp(1j * t) / s)),
        "half": ("wrong shape", lambda W_Q, W_K, t, s: W_K[:, :len(t)]),
    },
}


@pytest.mark.parametrize("exercise, fn", cases(RIGHT))
def test_a_right_answer_passes(exercise, fn):
    passes(exercise, fn)


@pytest.mark.parametrize("exercise, answer", cases(WRONG))
def test_a_wrong_answer_hears_its_name(exercise, answer):
    hears(exercise, *answer)


@pytest.mark.parametrize("module, exercise", [
    (cut, check.best_form), (rotary, check.same_rotary_head)])
def test_every_name_in_the_book_of_mistakes_is_planted_here(module, exercise):
    assert {m.name for m in module.MISCONCEPTIONS} <= {name for name, _ in WRONG[exercise].values()}
    for misconception in module.MISCONCEPTIONS:
        assert misconception.hint.endswith(("?", ".")) and len(misconception.hint) <= 100


def test_what_is_no_attempt_is_none():
    for exercise in (*RIGHT, check.sharp_map):
        for blank in (None, ..., lambda *_: ..., lambda *_: None):
            assert exercise(blank).passed is None
        assert exercise(3).misconception == "not a function"
    assert check.out_of_reach(...).passed is check.out_of_reach(None).passed is None


# --- by hand

NUMBERS = {"parameters": 64, "lost": 16, "free": 48, "free, rotary": 60, "corner": 6}


@pytest.mark.parametrize("answers", [
    NUMBERS, {name: float(x) for name, x in NUMBERS.items()}, NUMBERS | {"corner": "12/2"},
    {name: np.float64(x) for name, x in NUMBERS.items()}, dict(reversed(NUMBERS.items()))])
def test_free_numbers_accepts(answers):
    assert check.free_numbers(answers)


@pytest.mark.parametrize("name, value, mistake, hint", counting.MISTAKES)
def test_free_numbers_names_the_mistake(name, value, mistake, hint):
    result = check.free_numbers(NUMBERS | {name: value})
    assert result.passed is False and result.misconception == mistake, result
    assert repr(result).count("\n") == 1 and len(hint) <= 100


def test_free_numbers_counts_and_waits():
    result = check.free_numbers(NUMBERS | {"free": 7, "corner": 1})
    assert result.misconception is None and result.message.startswith("3 of 5 are right")
    assert check.free_numbers(dict.fromkeys(NUMBERS, ...)).passed is None
    assert check.free_numbers(NUMBERS | {"lost": "many"}).misconception == "not a number"
    assert check.free_numbers([64, 16]).misconception == "not an answer for each question"


# --- bound or factors

def ten_steps(factored):
    """The form after ten steps against the gradient −diag(4, 1), from 0.01 I."""
    G = -np.diag([4.0, 1.0])
    M, W_Q, W_K = 0.01 * np.eye(2), 0.1 * np.eye(2), 0.1 * np.eye(2)
    for _ in range(10):
        M = M - 0.1 * G
        W_Q, W_K = W_Q - 0.1 * G @ W_K, W_K - 0.1 * G.T @ W_Q
    return W_Q @ W_K.T if factored else M


FREE, PRODUCT = ten_steps(False), ten_steps(True)
STEPS = {"free": FREE[0, 0] / FREE[1, 1], "factors": PRODUCT[0, 0] / PRODUCT[1, 1],
         "rank": np.linalg.matrix_rank(PRODUCT), "A": "factors", "B": "bound", "C": "neither"}


@pytest.mark.parametrize("answers", [
    STEPS, STEPS | {"free": "401/101", "factors": 124}, STEPS | {"A": " Factors ", "rank": "2"},
    STEPS | {"factors": np.float32(124.4), "free": 3.97}])
def test_bound_or_factors_accepts(answers):
    assert check.bound_or_factors(answers), check.bound_or_factors(answers)


@pytest.mark.parametrize("name, value, mistake, hint", factors.MISTAKES)
def test_bound_or_factors_names_the_mistake(name, value, mistake, hint):
    result = check.bound_or_factors(STEPS | {name: value})
    assert result.passed is False and result.misconception == mistake, result
    assert repr(result).count("\n") == 1 and len(hint) <= 100


def test_bound_or_factors_waits_and_reads_words():
    assert check.bound_or_factors(dict.fromkeys(STEPS, ...)).passed is None
    result = check.bound_or_factors(STEPS | {"A": "luck", "B": 3})
    assert result.misconception is None and result.message.startswith("4 of 6 are right")
    assert check.bound_or_factors(STEPS | {"free": np.nan}).passed is False
    assert check.bound_or_factors(STEPS | {"free": "four"}).misconception == "not a number"


# --- maps on a circle

def circle(f, beta=None, turned=False, own=False):
    n = len(f)
    beta = log(18 * n) / (1 - cos(2 * pi / n)) if beta is None else beta
    angle = 2 * pi * np.arange(n) / n
    keys = np.stack([np.cos(angle), np.sin(angle)], -1)
    order = np.argsort(f, kind="stable") if turned else np.arange(n) if own else f
    return beta * keys[order], keys


def square_root(f):
    queries, keys = circle(f)
    length = np.linalg.norm(queries[0]) ** 0.5
    return queries / length, keys * length


def parabola(f):
    """Keys (j, −j²/2), queries (f, 1): the score is −(j − f)²/2 but for a number of the row."""
    j = np.arange(len(f))
    return 6 * np.stack([f, np.ones(len(f))], -1), np.stack([j, -j**2 / 2], -1)


def in_torch(f):
    torch = pytest.importorskip("torch")
    return tuple(map(torch.as_tensor, circle(np.asarray(f))))


def with_lists(f):
    return [rows.tolist() for rows in circle(f)]


@pytest.mark.parametrize("fn", [circle, square_root, parabola, in_torch, with_lists])
def test_sharp_map_accepts_any_vectors_that_do_it(fn):
    assert check.sharp_map(fn), check.sharp_map(fn)


def in_pairs(f):
    queries, keys = circle(f)
    places = np.arange(len(f)) // 2 * 2
    return queries, keys[places]


WRONG_MAPS = {
    "unit vectors": ("too flat", lambda f: circle(f, beta=1.0)),
    "linear in n": ("too flat where keys are many", lambda f: circle(f, beta=20 + len(f))),
    "own key": ("each finds itself", lambda f: circle(f, own=True)),
    "turned round": ("the map turned round", lambda f: circle(f, turned=True)),
    "integers on a line": ("keys on a line", lambda f: (
        50 * np.stack([f, f], -1) + 1.0, np.stack([np.arange(len(f)), 0 * f], -1))),
    "two by two": ("keys that coincide", in_pairs),
    "zeros": ("even weights", lambda f: np.zeros((2, len(f), 2))),
    "one-hot": ("not two dimensions", lambda f: (50 * np.eye(len(f))[f], np.eye(len(f)))),
    "queries alone": ("wrong shape", lambda f: circle(f)[0]),
    "nothing yet": ("unfinished", lambda f: None if len(f) > 4 else circle(f)),
    "infinite": ("not finite", lambda f: (circle(f)[0] / 0, circle(f)[1])),
}


@pytest.mark.parametrize("name, fn", WRONG_MAPS.values(), ids=WRONG_MAPS)
def test_sharp_map_names_the_mistake(name, fn):
    result = check.sharp_map(fn)
    assert result.passed is False and result.misconception == name, result


# --- out of reach of two

def weights(scores):
    e = np.exp(scores)
    return e / e.sum(-1, keepdims=True)


ROLLED = np.array([np.roll([0.4, 0.3, 0.2, 0.1], i) for i in range(4)])
SOME = np.random.default_rng(0).normal(size=(2, 4, 4))


@pytest.mark.parametrize("table", [
    ROLLED, ROLLED.tolist(), np.eye(4) * 0.2 + 0.2, weights(SOME[0] / 3), ROLLED[::-1]])
def test_out_of_reach_accepts(table):
    assert check.out_of_reach(table), check.out_of_reach(table)


def test_out_of_reach_accepts_tensors():
    torch = pytest.importorskip("torch")
    assert check.out_of_reach(torch.tensor(ROLLED, requires_grad=True))


WRONG_TABLES = {
    "zeros": ("not positive", np.eye(4)),
    "columns": ("columns normalised", weights(SOME[0] / 3).T),
    "exponentials": ("not normalised", np.exp(SOME[0])),
    "peaks": ("too sharp", np.eye(4) * 0.6 + 0.1),
    "even": ("even weights", np.full((4, 4), 0.25)),
    "rank two": ("rank of the weights taken", weights(SOME[0, :, :2] @ SOME[1, :2] / 2)),
    "equal rows": ("too few different rows", np.tile([0.4, 0.3, 0.2, 0.1], (4, 1))),
    "three tokens": ("wrong shape", np.full((3, 3), 1 / 3)),
    "words": ("not a table of numbers", [["a", "b"], ["c", "d"]]),
}


@pytest.mark.parametrize("name, table", WRONG_TABLES.values(), ids=WRONG_TABLES)
def test_out_of_reach_names_the_mistake(name, table):
    result = check.out_of_reach(table)
    assert result.passed is False and result.misconception == name, result
    assert repr(result).count("\n") == 1
