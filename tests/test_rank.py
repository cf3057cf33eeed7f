"""Rank: what a head holds, the cut of a form, the rank of weights; what is refused and how."""

import numpy as np
import pytest

from qkvlib.rank import (
    best_form,
    circle_beta,
    circle_weight,
    degrees_of_freedom,
    excluded,
    least_rank,
    parameters,
)
from qkvlib.results import as_text, recorded


def test_numbers_of_known_heads():
    assert parameters(2, 1) == 4 and degrees_of_freedom(2, 1) == 3
    assert degrees_of_freedom(6, 6) == 36 and degrees_of_freedom(6, 6, rotary=True) == 66
    with pytest.raises(ValueError, match="d_k=7 and d=6; wanted 1 ≤ d_k ≤ d"):
        degrees_of_freedom(6, 7)
    with pytest.raises(ValueError, match="d_k=3 is odd"):
        degrees_of_freedom(6, 3, rotary=True)


def test_a_cut_works_on_batches_and_tensors():
    M = np.random.default_rng(0).normal(size=(3, 5, 5))
    cut = best_form(M, 2)
    assert (np.linalg.matrix_rank(cut) == 2).all() and np.array_equal(best_form(M, 0), 0 * M)
    np.testing.assert_allclose(best_form(M, 5), M)
    torch = pytest.importorskip("torch")
    np.testing.assert_allclose(best_form(torch.tensor(M), 2), cut, atol=1e-12)
    with pytest.raises(ValueError, match="rank=6 of matrices .*wanted 0 to 5"):
        best_form(M, 6)


def test_weights_of_known_rank():
    assert least_rank([[0.5, 0.5], [0.5, 0.5]]) == 0 and least_rank([[0.9, 0.1], [0.2, 0.8]]) == 1
    for wrong in ([[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.6], [0.5, 0.5]], [0.5, 0.5]):
        with pytest.raises(ValueError, match="all entries positive and each row with the sum 1"):
            least_rank(wrong)


def test_a_circle_of_four_by_hand():
    a = np.exp(-3.0)
    np.testing.assert_allclose(circle_weight(4, 3.0), 1 / (1 + 2 * a + a * a))
    np.testing.assert_allclose(circle_beta(4, circle_weight(4, 3.0)), 3.0)
    with pytest.raises(ValueError, match="wanted more than 1 / n = 0.25"):
        circle_beta(4, 0.2)


def test_what_is_excluded_shrinks_with_rank_and_heat():
    least = [next(r for r in range(1, 129) if not excluded(128, r, beta, 0.9))
             for beta in (8, 16, 32, 256, 2000)]
    assert least == [7, 4, 3, 3, 2]
    for wrong in [(3, 2, 8.0, 0.9), (128, 0, 8.0, 0.9), (128, 2, 0.0, 0.9), (128, 2, 8.0, 0.5)]:
        with pytest.raises(ValueError, match="wanted n ≥ 4, rank ≥ 1, beta > 0 and a weight"):
            excluded(*wrong)


def test_the_record_is_kept_in_its_one_form():
    record = recorded("students")
    assert recorded("students") == record and as_text(record).endswith("}\n")
    assert set(record["errors"]) == {"2", "24"} and record["seeds"] == 5
    for counts in record["errors"].values():
        for students in counts.values():
            assert all(len(part) == 5 for s in students.values() for part in s.values())
