"""The exercise `best_form`: the nearest matrix of a given rank."""

import numpy as np

from ..rank import best_form as reference
from .cases import Case, random_cases
from .judge import Misconception, judge


def best_form(fn):
    """Check `fn(M, rank)`: the matrix of this rank nearest to M (d, d); returns (d, d).

    Nearest by the sum of squares, and 1 ≤ rank < d. NumPy or torch; `rank` is a whole number.
    Returns a `Result` that names the misconception when it knows it.
    """
    return judge("best_form", fn, list(_forms()), _reference, MISCONCEPTIONS)


def _forms():
    for d, rank in [(3, 1), (4, 2), (6, 1), (6, 4), (8, 3)]:
        for case in random_cases([({f"rank is {rank}"}, {"M": (d, d)})], seed=10 * d + rank):
            yield Case({**case.inputs, "rank": np.array(rank)}, case.traits)


def _reference(M, rank):
    return reference(M, int(rank))


def _parts(M):
    left, values, right = np.linalg.svd(M)
    return left, values, right


def _kept(M, keep, power=1.0):
    left, values, right = _parts(M)
    return (left * np.where(keep, values**power, 0)) @ right


def _first(M, count):
    return np.arange(len(M)) < count


def _block(M, rows, columns):
    return np.where(np.outer(np.arange(len(M)) < rows, np.arange(len(M)) < columns), M, 0)


def _symmetric(M, rank):
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    largest = np.argsort(-abs(values))[:int(rank)]
    return vectors[:, largest] * values[largest] @ vectors[:, largest].T


MISCONCEPTIONS = [
    Misconception(
        "smallest kept",
        "Singular values come in falling order. Which of them carry most of M?",
        lambda M, rank: _kept(M, _first(M, len(M) - rank) == 0)),
    Misconception(
        "the rest returned",
        "This is what is lost. What is left of M without it?",
        lambda M, rank: M - _reference(M, rank)),
    Misconception(
        "singular values left out",
        "The directions are right. How strongly does M use each of them?",
        lambda M, rank: _kept(M, _first(M, rank), power=0.0)),
    Misconception(
        "singular values used twice",
        "A value may go to the left, to the right, or half to each: in all, once.",
        lambda M, rank: _kept(M, _first(M, rank), power=2.0)),
    Misconception(
        "root of the singular values",
        "One root for each factor is right. Have both factors got theirs?",
        lambda M, rank: _kept(M, _first(M, rank), power=0.5)),
    Misconception(
        "right vectors not transposed",
        "svd returns the right vectors as rows. Which rows, or columns, belong to the largest?",
        lambda M, rank: _untransposed(M, int(rank))),
    Misconception(
        "one too many",
        "Count the singular values that you keep. Does the slice take its end along?",
        lambda M, rank: _reference(M, rank + 1)),
    Misconception(
        "one too few",
        "Count the singular values that you keep. At which number does the slice end?",
        lambda M, rank: _kept(M, _first(M, rank - 1))),
    Misconception(
        "rows or columns cut",
        "This has the rank, but is not the nearest. In which basis would cutting be right?",
        lambda M, rank: _block(M, rank, rank),
        lambda M, rank: _block(M, rank, len(M)),
        lambda M, rank: _block(M, len(M), rank)),
    Misconception(
        "the form made symmetric",
        "A form need not be symmetric, and its left and right directions differ.",
        _symmetric),
]


def _untransposed(M, rank):
    left, values, right = _parts(M)
    return left[:, :rank] * values[:rank] @ right[:, :rank].T
