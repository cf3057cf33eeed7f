"""The exercises on values: right answers of any style pass, planted wrong ones hear a name."""

from fractions import Fraction

import numpy as np
import pytest
from planted_answers import cases, hears, passes

from qkvlib import check
from qkvlib.check import filters

RIGHT = [[1, -1, 1], [0, 1, -1], [0, 0, 1]]
D = filters.DIRECTIONS


def t(x):
    return x.swapaxes(-1, -2)


@pytest.mark.parametrize("table", [
    RIGHT, np.array(RIGHT, dtype=np.float32), np.linalg.inv(D), np.linalg.solve(D, np.eye(3)),
    [[str(entry) for entry in row] for row in RIGHT],
    [[Fraction(entry) for entry in row] for row in RIGHT]])
def test_oblique_filters_accepts(table):
    result = check.oblique_filters(table)
    assert result and "all nine numbers are right" in repr(result)


def test_oblique_filters_accepts_tensors_and_waits():
    torch = pytest.importorskip("torch")
    assert check.oblique_filters(torch.tensor(RIGHT))
    assert check.oblique_filters([[...] * 3] * 3).passed is None
    assert check.oblique_filters([RIGHT[0], RIGHT[1]]).misconception == "wrong shape"


WRONG_FILTERS = {
    "along each direction": ("along the direction itself", D.T),
    "by its length": ("along the direction itself", D.T / (D**2).sum(1)),
    "transposed": ("rows and columns swapped", np.transpose(RIGHT)),
    "no minus": ("signs lost", np.abs(RIGHT)),
    "first order": ("stopped too early", [[1, -1, 0], [0, 1, -1], [0, 0, 1]]),
    "not inverted": ("the directions", D),
    "axes": ("one feature each", np.eye(3)),
    "a slip": (None, [[1, -1, 1], [0, 1, -1], [0, 1, 1]]),
}


@pytest.mark.parametrize("name, table", WRONG_FILTERS.values(), ids=WRONG_FILTERS)
def test_oblique_filters_names_the_mistake(name, table):
    result = check.oblique_filters(table)
    assert result.passed is False and result.misconception == name, result
    assert {entry[0] for entry in filters._readings()} <= {name for name, _ in
                                                           WRONG_FILTERS.values()}


def solved(D, C):
    return np.linalg.solve(t(D) @ D + C, t(D))


RIGHT_ANSWERS = {
    check.best_filter: {
        "solve": solved,
        "inverse": lambda D, C: np.linalg.inv(t(D) @ D + C) @ t(D),
        "in the small": lambda D, C: np.linalg.inv(C) @ t(D) @ np.linalg.inv(
            D @ np.linalg.inv(C) @ t(D) + np.eye(D.shape[-2])),
        "einsum": lambda D, C: np.einsum("...ij,...kj->...ik", np.linalg.inv(
            np.einsum("...ki,...kj->...ij", D, D) + C), D),
    },
    check.pruned_values: {
        "pseudo-inverse": lambda W_V, W_O: W_V @ W_O @ np.linalg.pinv(W_O),
        "least squares": lambda W_V, W_O: W_V @ W_O @ np.linalg.inv(t(W_O) @ W_O) @ t(W_O),
        "orthonormal": lambda W_V, W_O: W_V @ np.linalg.qr(W_O)[0] @ np.linalg.qr(W_O)[0].T,
        "what is ignored, taken away": lambda W_V, W_O: W_V - W_V @ (
            np.linalg.svd(W_O)[0][:, W_O.shape[1]:] @ np.linalg.svd(W_O)[0][:, W_O.shape[1]:].T),
    },
}
WRONG_ANSWERS = {
    check.best_filter: {
        "the rest ignored": lambda D, C: np.linalg.pinv(D),
        "the signal left out of the covariance": lambda D, C: np.linalg.solve(C, t(D)),
        "white noise assumed": lambda D, C: np.linalg.solve(
            t(D) @ D + np.eye(D.shape[-1]), t(D)),
        "nothing lost of the signal": lambda D, C: np.linalg.inv(C) @ t(D) @ np.linalg.inv(
            D @ np.linalg.inv(C) @ t(D)),
        "shape of a column filter": lambda D, C: t(solved(D, C)),
        "the clean token": lambda D, C: solved(D, C) @ D,
        "not inverted": lambda D, C: (t(D) @ D + C) @ t(D),
    },
    check.pruned_values: {
        "nothing removed": lambda W_V, W_O: W_V.copy(),
        "the product": lambda W_V, W_O: W_V @ W_O,
        "what is ignored, kept": lambda W_V, W_O: W_V - W_V @ W_O @ np.linalg.pinv(W_O),
        "transposed instead of inverted": lambda W_V, W_O: W_V @ W_O @ W_O.T,
        "columns cut off": lambda W_V, W_O: np.hstack(
            [W_V[:, :W_O.shape[1]], 0 * W_V[:, W_O.shape[1]:]]),
    },
}


@pytest.mark.parametrize("exercise, fn", cases(RIGHT_ANSWERS))
def test_right_answers_pass(exercise, fn):
    passes(exercise, fn)


@pytest.mark.parametrize("exercise, name, fn", [
    pytest.param(exercise, name, fn, id=f"{exercise.__name__}-{name}")
    for exercise, answers in WRONG_ANSWERS.items() for name, fn in answers.items()])
def test_wrong_answers_hear_their_name(exercise, name, fn):
    hears(exercise, name, fn)


def test_every_name_is_planted():
    for exercise, known in ((check.best_filter, filters.FILTERS),
                            (check.pruned_values, filters.PRUNINGS)):
        assert {m.name for m in known} <= set(WRONG_ANSWERS[exercise])


def lattice(turn=0.0):
    c, s = np.cos(turn), np.sin(turn)
    weights = np.zeros((12, 2))
    weights[:6, 0] = weights[6:, 1] = np.arange(6)
    return weights @ [[c, -s], [s, c]]


@pytest.mark.parametrize("weights", [
    lattice(), lattice(0.7), 100 * lattice()[:, ::-1] + 3, lattice() @ [[1, 0], [2, 1]],
    np.vstack([np.outer(np.exp(np.arange(6)), [1, 0]), np.outer([5, 0, 3, 1, 2, 4], [0, -1])]),
    lattice().tolist()])
def test_two_numbers_accepts(weights):
    assert check.two_numbers(weights)


def test_two_numbers_accepts_tensors_and_waits():
    torch = pytest.importorskip("torch")
    assert check.two_numbers(torch.tensor(lattice(), requires_grad=True))
    assert check.two_numbers(...).passed is None


ANGLE = 2 * np.pi * np.arange(6)[:, None] / 6
RING = np.hstack([np.cos(ANGLE), np.sin(ANGLE)])
WRONG_WEIGHTS = {
    "zeros": ("two of a kind look alike", np.zeros((12, 2))),
    "only the colour": ("two of a kind look alike", np.vstack([RING, 0 * RING])),
    "the first two": ("two of a kind look alike", np.eye(12)[:, :2]),
    "digits of one number": ("all on one line", np.outer(
        [0, 6, 12, 18, 24, 30, 0, 1, 2, 3, 4, 5], [1, 0])),
    "two rings": ("both spread over the plane", np.vstack([RING, RING])),
    "random": ("both spread over the plane", np.random.default_rng(0).normal(size=(12, 2))),
    "a small ring": ("one blurs the other", np.vstack([10 * RING, RING])),
    "turned": ("wrong shape", lattice().T),
    "words": ("not a table of numbers", [["red"]]),
    "infinite": ("wrong shape", np.full((12, 2), np.inf)),
}


@pytest.mark.parametrize("name, weights", WRONG_WEIGHTS.values(), ids=WRONG_WEIGHTS)
def test_two_numbers_names_the_mistake(name, weights):
    result = check.two_numbers(weights)
    assert result.passed is False and result.misconception == name, result
    assert repr(result).count("\n") == 1
