"""The exercises on asymmetry: right answers of any style pass, planted wrong ones hear a name."""

import numpy as np
import pytest

from qkvlib import check
from qkvlib.check import symmetry
from qkvlib.check.cycles import MISTAKES

RIGHT = {"chain": "tied", "star": "tied", "each itself": "tied", "two pairs": "symmetric",
         "chase": "symmetric", "round": "free"}


@pytest.mark.parametrize("answers", [
    RIGHT, dict(reversed(RIGHT.items())), {k: f" {v.title()}" for k, v in RIGHT.items()},
    {k: v.upper() for k, v in RIGHT.items()}])
def test_least_forms_accepts(answers):
    assert check.least_forms(answers)


def worded(*words):
    return dict(zip(RIGHT, words, strict=True))


T, S, F = "tied", "symmetric", "free"
WRONG_FORMS = {
    "fixed points": ("fixed points taken for pairs", worded(S, S, S, S, S, F)),
    "pairs tied": ("a pair taken for tied", worded(T, T, T, T, T, F)),
    "pairs free": ("a pair taken for free", worded(T, T, T, F, F, F)),
    "rounds symmetric": ("long cycles taken for symmetric", worded(T, T, T, S, S, S)),
    "tokens counted": ("tokens on cycles counted", worded(T, T, F, F, S, F)),
    "turned round": ("the kinds turned round", worded(F, F, F, S, S, T)),
    "a kind of its own": ("not a kind of form", RIGHT | {"star": "loose"}),
    "a list": ("not an answer for each map", list(RIGHT.values())),
    "one missing": ("not an answer for each map", {"star": T}),
    "one wrong": (None, RIGHT | {"chain": S}),
}


@pytest.mark.parametrize("name, answers", WRONG_FORMS.values(), ids=WRONG_FORMS)
def test_least_forms_names_the_mistake(name, answers):
    result = check.least_forms(answers)
    assert result.passed is False and result.misconception == name, result
    assert repr(result).count("\n") == 1


def test_least_forms_counts_and_waits():
    nearly = check.least_forms(RIGHT | {"chain": F})
    assert nearly.message.startswith("5 of 6 are right; look again at 'chain'")
    assert check.least_forms(dict.fromkeys(RIGHT, ...)).passed is None
    assert check.least_forms(dict.fromkeys(RIGHT, " ")).passed is None
    assert check.least_forms(RIGHT | {"star": np.ones(2)}).misconception == "not a kind of form"
    assert {name for name, *_ in MISTAKES} <= {name for name, _ in WRONG_FORMS.values()}


def steps(f):
    def count(i):
        return 0 if f[i] == i else 1 + count(f[i])
    return np.array([count(i) for i in range(len(f))])


def proof(f):
    return 3.0 ** -steps(f)[:, None] * np.maximum(np.eye(len(f)), np.eye(len(f))[f])


def steeply(f):
    """Each length a thousandth of the next: no lead is too small beside the longest vector."""
    return 1e-3 ** steps(f)[:, None] * np.maximum(np.eye(len(f)), np.eye(len(f))[f])


def by_loops(f):
    rows = []
    for i in range(len(f)):
        row, share = [0.0] * len(f), 0.25 ** int(steps(f)[i])
        row[i] += share
        row[int(f[i])] += share
        rows.append(row)
    return rows


def by_root_of_a_gram_matrix(f):
    """Any positive definite matrix with the right rows: its Cholesky factor."""
    size = 5.0 ** -steps(f)
    gram = np.diag(size**2)
    for i, j in enumerate(f):
        if i != j:
            gram[i, j] = gram[j, i] = 1.2 * size[i]**2
    return np.linalg.cholesky(gram)


def in_torch(f):
    torch = pytest.importorskip("torch")
    return torch.as_tensor(proof(np.asarray(f)))


@pytest.mark.parametrize("fn", [proof, steeply, by_loops, by_root_of_a_gram_matrix, in_torch,
                                lambda f: 100 * proof(f) @ np.linalg.qr(np.random.default_rng(
                                    0).normal(size=(len(f), len(f))))[0]])
def test_tied_vectors_accepts_any_vectors_that_do_it(fn):
    assert check.tied_vectors(fn)


def followers(f):
    """The construction of the proof with lengths that grow away from the fixed points."""
    size = 3.0 ** steps(f)
    return size[:, None] * np.maximum(np.eye(len(f)), np.eye(len(f))[f])


def chain(f):
    """Half the vector of the token that is wanted, and a bit of one's own."""
    vectors = np.zeros((len(f), len(f)))
    for i in np.argsort(steps(f), kind="stable"):
        vectors[i] = 0.9 * vectors[f[i]] if f[i] != i else 0
        vectors[i, i] = 0.1 if f[i] != i else 1
    return vectors


WRONG_VECTORS = {
    "one-hot": ("equal lengths", lambda f: np.eye(len(f))),
    "points of a circle": ("equal lengths", lambda f: np.stack(
        [np.cos(np.arange(len(f))), np.sin(np.arange(len(f)))], -1)),
    "too little of the other": ("the token itself wins", lambda f: 0.9 ** steps(f)[:, None]
                                * np.maximum(np.eye(len(f)), np.eye(len(f))[f])),
    "half as long": ("a tie", lambda f: 2.0 ** -steps(f)[:, None]
                     * np.maximum(np.eye(len(f)), np.eye(len(f))[f])),
    "down the path": ("the end of the path wins", chain),
    "turned round": ("lengths fall", followers),
    "a column": ("wrong shape", lambda f: np.ones(len(f))),
    "transposed and cut": ("wrong shape", lambda f: np.ones((1, len(f)))),
    "nothing yet": ("unfinished", lambda f: None if len(f) > 3 else proof(f)),
    "infinite": ("not finite", lambda f: proof(f) / 0),
}


@pytest.mark.parametrize("name, fn", WRONG_VECTORS.values(), ids=WRONG_VECTORS)
def test_tied_vectors_names_the_mistake(name, fn):
    result = check.tied_vectors(fn)
    assert result.passed is False and result.misconception == name, result


def square(M):
    return (M * M).sum((-1, -2))


def trace(M):
    return np.trace(M, axis1=-2, axis2=-1)


def t(M):
    return M.swapaxes(-1, -2)


@pytest.mark.parametrize("fn", [
    lambda M: trace(M @ M) / square(M),
    lambda M: np.einsum("...ij,...ji->...", M, M) / np.linalg.norm(M, axis=(-2, -1))**2,
    lambda M: (square(M + t(M)) - square(M - t(M))) / 4 / square(M),
    lambda M: 2 * (square(M + t(M)) / 4 / square(M)) - 1,
])
def test_symmetry_score_accepts(fn):
    assert check.symmetry_score(fn)


def test_symmetry_score_accepts_torch():
    torch = pytest.importorskip("torch")
    assert check.symmetry_score(lambda M: (M * M.mT).sum((-1, -2)) / M.square().sum((-1, -2)))
    assert check.symmetry_score(
        lambda M: torch.diagonal(M @ M, dim1=-2, dim2=-1).sum(-1) / M.norm(dim=(-2, -1))**2)


WRONG_SCORES = {
    "M times its transpose": ("always one", lambda M: trace(M @ t(M)) / square(M)),
    "bare trace": ("not normalised", lambda M: trace(M @ M)),
    "one root too many": ("norm not squared", lambda M: trace(M @ M) / np.sqrt(square(M))),
    "trace squared": ("square of the trace", lambda M: trace(M)**2 / square(M)),
    "entrywise": ("square of the trace", lambda M: trace(M * M) / square(M)),
    "symmetric share": ("share of the symmetric part",
                        lambda M: square((M + t(M)) / 2) / square(M)),
    "ratio of norms": ("share of the symmetric part",
                       lambda M: np.sqrt(square((M + t(M)) / 2) / square(M))),
    "skew share": ("share of the skew part", lambda M: square((M - t(M)) / 2) / square(M)),
    "minus": ("share of the skew part", lambda M: -trace(M @ M) / square(M)),
    "largest singular value": ("spectral norm",
                               lambda M: trace(M @ M) / np.linalg.norm(M, 2, (-2, -1))**2),
    "over the batch": ("wrong shape", lambda M: (M * t(M)).sum((-1, -2))[None] / square(M)),
}


@pytest.mark.parametrize("name, fn", WRONG_SCORES.values(), ids=WRONG_SCORES)
def test_symmetry_score_names_the_mistake(name, fn):
    result = check.symmetry_score(fn)
    assert result.passed is False and result.misconception == name, result


def test_every_name_is_planted():
    assert {m.name for m in symmetry.MISCONCEPTIONS} <= {name for name, _ in WRONG_SCORES.values()}


@pytest.mark.parametrize("tokens", [
    [[1.0], [5.0]], [[0, 1], [0, 9]], np.array([[1.0, 1.0], [4.0, 4.0], [-1.0, 0.0]]),
    [[-2.0], [-3.5]]])
def test_one_sided_accepts(tokens):
    assert check.one_sided(tokens)


def test_one_sided_accepts_tensors():
    torch = pytest.importorskip("torch")
    assert check.one_sided(torch.tensor([[1.0], [5.0]], requires_grad=True))


WRONG_TOKENS = {
    "backwards": ("the wrong way round", [[5.0], [1.0]]),
    "equal": ("equal lengths", [[3.0, 0.0], [0.0, 3.0]]),
    "the same": ("equal lengths", [[3.0], [3.0]]),
    "a third": ("another token wins", [[1.0], [5.0], [9.0]]),
    "apart": ("token 1 keeps to itself", [[3.0, 0.0], [0.0, 5.0]]),
    "opposite": ("token 1 keeps to itself", [[1.0], [-5.0]]),
    "near": ("not sharp enough", [[1.0], [2.5]]),
    "small": ("token 2 looks back", [[0.1], [1.0]]),
    "one token": ("not a table of tokens", [[1.0, 5.0]]),
    "a row": ("not a table of tokens", [1.0, 5.0]),
    "words": ("not a table of numbers", [["one"], ["five"]]),
    "infinite": ("not a table of tokens", [[1.0], [np.inf]]),
}


@pytest.mark.parametrize("name, tokens", WRONG_TOKENS.values(), ids=WRONG_TOKENS)
def test_one_sided_names_the_mistake(name, tokens):
    result = check.one_sided(tokens)
    assert result.passed is False and result.misconception == name, result
    assert check.one_sided(...).passed is None
