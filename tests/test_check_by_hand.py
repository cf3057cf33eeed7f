"""`check.three_tokens`: the weights worked out by hand, here as exact fractions.

q = (1, −1, 0) and k = (ln 2, ln 3, ln 6), so e to the q_i k_j is 2, 3, 6, their inverses, or 1.
"""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from qkvlib import check

F = Fraction
ROWS = [[F(2, 11), F(3, 11), F(6, 11)], [F(1, 2), F(1, 3), F(1, 6)], [F(1, 3)] * 3]
DECIMALS = [[0.182, 0.273, 0.545], [0.5, 0.333, 0.167], [0.333] * 3]
L = log(5)


def normalised(x):
    return x / x.sum(-1, keepdims=True)


def weights_of(q, k):
    """The rows, by the definition: e to the q_i k_j, over their sum."""
    return [normalised(np.array([exp(x * y) for y in k])) for x in q]


Q, K = [1, -1, 0], [log(2), log(3), log(6)]


@pytest.mark.parametrize("weights", [
    ROWS, tuple(map(tuple, ROWS)), DECIMALS, np.array(ROWS), np.array(ROWS, dtype=np.float32),
    np.array(ROWS, dtype=np.float16), np.array([[str(entry) for entry in row] for row in ROWS]),
    [["2/11", "3/11", "6 / 11"], ["1/2", "1/3", "1/6"], ["1/3"] * 3],
    [np.array(row, dtype=float) for row in ROWS], weights_of(Q, K),
    weights_of(Q, [k + L for k in K]),
], ids=["fractions", "tuples", "decimals", "objects", "float32", "float16",
        "array of text", "text", "rows", "formula",
        "formula with bias"])
def test_three_tokens_accepts(weights):
    result = check.three_tokens(weights)
    assert result and repr(result).startswith("✓ three_tokens: all nine weights are right")


def test_three_tokens_accepts_tensors():
    torch = pytest.importorskip("torch")
    table = torch.tensor(DECIMALS, requires_grad=True)
    assert check.three_tokens(table) and check.three_tokens(list(table))
    assert check.three_tokens(table.half())
    assert check.three_tokens([list(row) for row in table])


A = np.array(ROWS, dtype=float)
ONLY_FIRST = [log(2) + L, log(3), log(6)]
WRONG_TABLES = {
    "exponentials": ("exponentials not normalised",
                     [[10, 15, 30], [F(1, 10), F(1, 15), F(1, 30)], [1, 1, 1]]),
    "exponentials, no bias": ("exponentials not normalised",
                              [[2, 3, 6], [F(1, 2), F(1, 3), F(1, 6)], [1, 1, 1]]),
    "scores": ("scores instead of weights",
               [[log(10), log(15), log(30)], [-log(10), -log(15), -log(30)], [0, 0, 0]]),
    "columns": ("columns normalised", [
        [F(100, 111), F(225, 241), F(900, 931)], [F(1, 111), F(1, 241), F(1, 931)],
        [F(10, 111), F(15, 241), F(30, 931)]]),
    "columns, no bias": ("columns normalised", [
        [F(4, 7), F(9, 13), F(36, 43)], [F(1, 7), F(1, 13), F(1, 43)],
        [F(2, 7), F(3, 13), F(6, 43)]]),
    "transposed": ("query and key swapped", np.transpose(ROWS)),
    "plus ln 5": ("key bias added after the softmax", A + L),
    "plus ln 5, shared": ("key bias added after the softmax", normalised(A + L)),
    "times 5": ("key bias added after the softmax", 5 * A),
    "numerator": ("key bias added after the softmax", [
        [F(10, 11), F(15, 11), F(30, 11)], [F(1, 10), F(1, 15), F(1, 30)], [F(1, 3)] * 3]),
    "first key": ("key bias added to one key only", weights_of(Q, ONLY_FIRST)),
    "first key, exact": ("key bias added to one key only", [
        [F(10, 19), F(3, 19), F(6, 19)], [F(1, 6), F(5, 9), F(5, 18)], [F(1, 3)] * 3]),
    "last key": ("key bias added to one key only", weights_of(Q, [log(2), log(3), log(30)])),
    "query": ("query bias instead of key bias", weights_of([q + L for q in Q], K)),
    "both": ("query bias instead of key bias", weights_of([q + L for q in Q], [k + L for k in K])),
    "ln 7": ("logarithm of a sum", weights_of(Q, [log(7), log(8), log(11)])),
    "ln 7, exact": ("logarithm of a sum", [
        [F(7, 26), F(8, 26), F(11, 26)], [F(88, 221), F(77, 221), F(56, 221)], [F(1, 3)] * 3]),
    "no minus": ("sign of the query forgotten", [ROWS[0], ROWS[0], ROWS[2]]),
    "product": ("key bias multiplied", weights_of(Q, [k * L for k in K])),
    "uniform": ("uniform weights", [[F(1, 3)] * 3] * 3),
    "two decimals": ("rounded too early", np.round(A, 2)),
    "two rows": ("wrong shape", ROWS[:2]),
    "flat": ("wrong shape", [*ROWS[0], *ROWS[1], *ROWS[2]]),
    "words": ("not a table of numbers", [["a half", F(1, 3), F(1, 6)], ROWS[0], ROWS[2]]),
    "ragged": ("not a table of numbers", [ROWS[0], ROWS[1], ROWS[2][:2]]),
    "over zero": ("not a table of numbers", [["1/0", "1/2", "1/2"], ROWS[1], ROWS[2]]),
    "function": ("not a table of numbers", weights_of),
}


@pytest.mark.parametrize("name, weights", WRONG_TABLES.values(), ids=WRONG_TABLES)
def test_three_tokens_names_the_mistake(name, weights):
    result = check.three_tokens(weights)
    assert result.passed is False and result.misconception == name, result
    assert repr(result).startswith("✗ three_tokens: ") and repr(result).count("\n") == 1
    assert "0x" not in repr(result)


def test_three_tokens_counts_what_is_right():
    result = check.three_tokens([ROWS[0], [F(1, 2), F(1, 4), F(1, 4)], ROWS[2]])
    assert not result and result.misconception is None
    assert result.message.startswith("7 of 9 weights are right; look again at row 2.")


@pytest.mark.parametrize("weights", [None, ..., [[...] * 3] * 3, [[None] * 3] * 3, [..., ..., ...],
                                     np.full((3, 3), None), np.full((3, 3), np.nan)])
def test_three_tokens_not_attempted(weights):
    assert repr(check.three_tokens(weights)) == "… three_tokens: not attempted yet."


def test_three_tokens_half_done():
    result = check.three_tokens([ROWS[0], [F(1, 2), ..., ...], [..., ..., ...]])
    assert not result and result.passed is None
    assert result.message == "4 of 9 entries filled in so far."
