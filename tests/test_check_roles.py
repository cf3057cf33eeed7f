"""The exercises on role decoupling: right answers pass, planted wrong ones hear their name."""

from fractions import Fraction as F
from math import exp, log, sqrt

import numpy as np
import pytest
from planted_answers import cases, hears, passes

from qkvlib import check
from qkvlib.check import naive
from qkvlib.check.key_gradient import MISCONCEPTIONS as GRADIENTS
from qkvlib.check.tied_maps import MISCONCEPTIONS as RULES

# --- by hand

ROWS = [[F(2, 5), F(1, 5), F(2, 5)], [F(1, 5), F(2, 5), F(2, 5)], [F(1, 4), F(1, 4), F(1, 2)]]
DOTS = [[1, 0, 1], [0, 1, 1], [1, 1, 2]]


def shares(table):
    """Each row, divided by its sum."""
    return [[entry / sum(row) for entry in row] for row in table]


def of_dots(function):
    return [[function(i, j, s) for j, s in enumerate(row)] for i, row in enumerate(DOTS)]


def cosine(i, j, s):
    return s / sqrt(DOTS[i][i] * DOTS[j][j])


@pytest.mark.parametrize("rows", [
    ROWS, np.array(ROWS, dtype=float), [[str(entry) for entry in row] for row in ROWS],
    [[0.4, 0.2, 0.4], [0.2, 0.4, 0.4], [0.25, 0.25, 0.5]], shares(of_dots(lambda i, j, s: 2**s))])
def test_naive_tokens_accepts(rows):
    assert check.naive_tokens(rows)


WRONG_TABLES = {
    "powers": ("exponentials not normalised", of_dots(lambda i, j, s: 2**s)),
    "scores": ("dot products instead of weights", DOTS),
    "scaled scores": ("dot products instead of weights", of_dots(lambda i, j, s: s * log(2))),
    "no exponential": ("dot products normalised", shares(DOTS)),
    "powers of e": ("β forgotten", shares(of_dots(lambda i, j, s: exp(s)))),
    "columns": ("columns normalised", list(zip(*ROWS, strict=True))),
    "others only": ("self left out", [[0, F(1, 3), F(2, 3)], [F(1, 3), 0, F(2, 3)],
                                      [F(1, 2), F(1, 2), 0]]),
    "cosines": ("lengths left out", shares(of_dots(lambda i, j, s: 2**cosine(i, j, s)))),
    "over √2": ("scaled by the width", shares(of_dots(lambda i, j, s: 2**(s / sqrt(2))))),
    "the book's head": ("separate queries and keys used",
                        [[F(2, 11), F(3, 11), F(6, 11)], [F(1, 2), F(1, 3), F(1, 6)],
                         [F(1, 3)] * 3]),
    "even": ("uniform weights", [["1/3"] * 3] * 3),
    "one decimal": ("rounded too early", [[0.4, 0.2, 0.4], [0.2, 0.4, 0.4], [0.25, 0.254, 0.5]]),
    "two rows": ("wrong shape", ROWS[:2]),
    "words": ("not a table of numbers", [["much", "little", "much"]] * 3),
    "one slip": (None, [ROWS[0], ROWS[1], ["1/4", "1/2", "1/4"]]),
}


@pytest.mark.parametrize("name, rows", WRONG_TABLES.values(), ids=WRONG_TABLES)
def test_naive_tokens_names_the_mistake(name, rows):
    result = check.naive_tokens(rows)
    assert result.passed is False and result.misconception == name, result
    assert repr(result).count("\n") == 1


# --- the key's gradient

def by_chain_rule(X, D, W_Q, b_Q):
    return X.T @ D.T @ (X @ W_Q + b_Q) / sqrt(len(b_Q))


def by_sums(X, D, W_Q, b_Q):
    query = [x @ W_Q + b_Q for x in X]
    return sum(D[i, j] * np.outer(X[j], query[i]) for i in range(len(X))
               for j in range(len(X))) / sqrt(len(b_Q))


def by_autograd(X, D, W_Q, b_Q):
    torch = pytest.importorskip("torch")
    X, D, W_Q, b_Q = map(torch.as_tensor, (X, D, W_Q, b_Q))
    W_K = torch.zeros_like(W_Q, requires_grad=True)
    (D * ((X @ W_Q + b_Q) @ (X @ W_K).T / len(b_Q) ** 0.5)).sum().backward()
    return W_K.grad.numpy()


RIGHT = {check.key_gradient: {
    "chain rule": by_chain_rule, "sums": by_sums, "autograd": by_autograd,
    "two terms": lambda X, D, W_Q, b_Q: ((X.T @ D @ X).T @ W_Q + np.outer(
        X.T @ D.sum(0), b_Q)) / sqrt(len(b_Q)),
    "einsum": lambda X, D, W_Q, b_Q: np.einsum("ij,jd,ik->dk", D, X, X @ W_Q + b_Q)
    * W_Q.shape[1] ** -0.5}}

WRONG = {check.key_gradient: {
    "no bias": ("query bias forgotten", lambda X, D, W_Q, b_Q: by_chain_rule(X, D, W_Q, 0 * b_Q)),
    "no root": ("scale forgotten", lambda X, D, W_Q, b_Q: by_chain_rule(
        X, D, W_Q, b_Q) * sqrt(len(b_Q))),
    "twice the root": ("divided by d_k", lambda X, D, W_Q, b_Q: by_chain_rule(
        X, D, W_Q, b_Q) / sqrt(len(b_Q))),
    "rows for columns": ("D not transposed", lambda X, D, W_Q, b_Q: by_chain_rule(
        X, D.T, W_Q, b_Q)),
    "as if tied": ("only the symmetric part", lambda X, D, W_Q, b_Q: by_chain_rule(
        X, D + D.T, W_Q, b_Q)),
    "half of it": ("only the symmetric part", lambda X, D, W_Q, b_Q: by_chain_rule(
        X, (D + D.T) / 2, W_Q, b_Q)),
    "bias at the end": ("bias added to every row of the result", lambda X, D, W_Q, b_Q:
                        by_chain_rule(X, D, W_Q, 0 * b_Q) + b_Q),
    "downhill": ("sign flipped", lambda *arrays: -by_chain_rule(*arrays)),
    "one factor short": ("gradient of K, not of W_K", lambda X, D, W_Q, b_Q:
                         D.T @ (X @ W_Q + b_Q) / sqrt(len(b_Q))),
    "transposed": ("wrong shape", lambda *arrays: by_chain_rule(*arrays).T),
    "doubled": (None, lambda *arrays: 2 * by_chain_rule(*arrays)),
}}


@pytest.mark.parametrize("exercise, fn", cases(RIGHT))
def test_right_answers_pass(exercise, fn):
    passes(exercise, fn)


@pytest.mark.parametrize("exercise, wrong", cases(WRONG))
def test_wrong_answers_hear_their_name(exercise, wrong):
    hears(exercise, *wrong)


# --- whom a tied head serves

def by_torch(wanted):
    torch = pytest.importorskip("torch")
    f = torch.as_tensor(wanted)
    return (f[f] == f).all()


def by_vectors(wanted):
    """Looks itself: the vectors name + 2 wants, and who scores highest."""
    u = np.eye(len(wanted)) + 2 * np.eye(len(wanted))[wanted]
    scores = u @ u.T
    return all((row >= row[j]).sum() == 1 for row, j in zip(scores, wanted, strict=True))


@pytest.mark.parametrize("fn", [
    by_torch, by_vectors, lambda f: all(f[j] == j for j in f),
    lambda f: np.array_equal(f[f], f), lambda f: set(f) == {i for i, j in enumerate(f) if i == j},
    lambda f: 1.0 if (np.eye(len(f))[f] @ np.eye(len(f))[f] == np.eye(len(f))[f]).all() else 0.0])
def test_tied_maps_accepts(fn):
    assert check.tied_maps(fn)


def lengths(f):
    """The lengths of the map's cycles."""
    found = set()
    for i in range(len(f)):
        path = [i]
        while f[path[-1]] not in path:
            path.append(f[path[-1]])
        found.add(len(path) - path.index(f[path[-1]]))
    return found


def symmetric(f):
    """No path to somebody who wants neither himself nor the one who leads to him."""
    return not any(f[i] != i and f[j] != i and f[j] != j and f[f[j]] not in (j, f[j])
                   for i, j in enumerate(f))


WRONG_RULES = {
    "cycles": ("no cycle of two or more", lambda f: lengths(f) == {1}),
    "long cycles": ("no cycle of three or more", lambda f: max(lengths(f)) < 3),
    "the wider form": ("what a symmetric form serves", symmetric),
    "identity": ("only the map to oneself", lambda f: list(f) == list(range(len(f)))),
    "one hub": ("only stars", lambda f: len(set(f)) == 1),
    "all": ("always true", lambda f: True),
    "none": ("never true", lambda f: False),
    "not": ("the opposite", lambda f: not all(f[j] == j for j in f)),
    "each wanted once": ("permutations", lambda f: sorted(f) == list(range(len(f)))),
    "there and back": ("involutions", lambda f: all(f[j] == i for i, j in enumerate(f))),
    "one answer a token": ("not true or false", lambda f: f[f] == f),
    "a count": ("not true or false", lambda f: len(f)),
    "nothing yet": (None, lambda f: None),
    "self wanted by somebody": (None, lambda f: any(f[i] == i for i in f)),
}


@pytest.mark.parametrize("name, fn", WRONG_RULES.values(), ids=WRONG_RULES)
def test_tied_maps_names_the_mistake(name, fn):
    result = check.tied_maps(fn)
    assert not result and result.misconception == name, result


# --- one matrix

E = np.eye(36)
ASKS, VALUE = E[:, 12:24] @ E[:12], E[:, 24:]  # the block wants → name; the readout


@pytest.mark.parametrize("W_Q, W_O", [
    (5 * ASKS, VALUE), ((5 * ASKS).tolist(), VALUE.tolist()),
    (40 * ASKS - 7 * ASKS.T, 2 * VALUE - 1),  # against who wants me; a constant in the readout
    (9 * ASKS + np.random.default_rng(0).normal(size=(36, 36)) / 9, VALUE),
    (100 * E[:, 12:24] @ np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))[0] @
     np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))[0].T @ E[:12], 3 * VALUE)])
def test_one_matrix_accepts(W_Q, W_O):
    assert check.one_matrix(W_Q, W_O)


def test_one_matrix_accepts_tensors_that_learn():
    torch = pytest.importorskip("torch")
    assert check.one_matrix(torch.tensor(5 * ASKS, requires_grad=True), torch.tensor(VALUE))


WRONG_MATRICES = {
    "zeros": ("uniform weights", 0 * E, VALUE),
    "identity": ("reads itself", 5 * E, VALUE),
    "swapped": ("wants and name swapped", 5 * ASKS.T, VALUE),
    "both ways": ("a symmetric form", 5 * (ASKS + ASKS.T), VALUE),
    "small": ("scores too small", 0.05 * ASKS, VALUE),
    "names read out": ("readout of the wrong part", 5 * ASKS, E[:, :12]),
    "wants read out": ("readout of the wrong part", 5 * ASKS, E[:, 12:24]),
    "of width 12": ("wrong shape", E[:, 12:24], VALUE),
    "readout transposed": ("wrong shape", 5 * ASKS, VALUE.T),
    "words": ("not matrices of numbers", "wants", "value"),
    "infinite": ("not finite", np.full((36, 36), np.inf), VALUE),
    "random": (None, np.random.default_rng(0).normal(size=(36, 36)), VALUE),
}


@pytest.mark.parametrize("name, W_Q, W_O", WRONG_MATRICES.values(), ids=WRONG_MATRICES)
def test_one_matrix_names_the_mistake(name, W_Q, W_O):
    result = check.one_matrix(W_Q, W_O)
    assert result.passed is False and result.misconception == name, result
    assert repr(result).count("\n") == 1


# --- all of them

def test_unfinished_answers_wait():
    for waiting in (check.naive_tokens([[...] * 3] * 3), check.key_gradient(lambda *arrays: ...),
                    check.tied_maps(lambda f: ...), check.one_matrix(..., ...)):
        assert waiting.passed is None


def test_every_name_is_planted():
    planted = {name for answers in (WRONG_TABLES, WRONG_RULES, WRONG[check.key_gradient])
               for name, *_ in answers.values()}
    known = [name for name, *_ in naive._misconceptions()]
    known += [name for name, *_ in RULES]
    known += [misconception.name for misconception in GRADIENTS]
    assert set(known) <= planted
