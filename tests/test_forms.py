"""Forms: vectors for a map, its cycles, how symmetric a matrix is; and a map as a picture."""

import subprocess
import sys

import numpy as np
import pytest

from qkvlib import figures
from qkvlib.forms import cycles, forbidding_cycle, realise, symmetry_score, top_map


@pytest.mark.parametrize("f, wanted", [
    ([0], [(0,)]),
    ([0, 0, 1], [(0,)]),
    ([1, 0, 2], [(0, 1), (2,)]),
    ([2, 0, 1, 0], [(0, 2, 1)]),
    ([1, 2, 0, 4, 3, 5, 5], [(0, 1, 2), (3, 4), (5,)]),
])
def test_cycles_are_listed_once_from_their_smallest_token(f, wanted):
    assert cycles(f) == cycles(np.array(f)) == wanted


def test_the_longest_forbidden_cycle_is_named():
    f = [1, 0, 3, 4, 2, 5]  # a pair, a round of three, a fixed point
    assert forbidding_cycle(f, "free") is None
    assert forbidding_cycle(f, "symmetric") == forbidding_cycle(f, "tied") == (2, 3, 4)
    assert forbidding_cycle([1, 0, 2], "symmetric") is None
    assert forbidding_cycle([1, 0, 2], "tied") == (0, 1)
    with pytest.raises(ValueError, match="symmetric form realises this map: 2 → 3 → 4 → 2 is a "
                                         "cycle of length 3.*none longer than 2"):
        realise(f, "symmetric")


def test_vectors_serve_any_invertible_tokens():
    f, X = (0, 0, 1, 1, 3), np.random.default_rng(0).normal(size=(5, 5))
    query, key = realise(f, "tied")
    W_Q, W_K = np.linalg.solve(X, query), np.linalg.solve(X, key)
    assert np.array_equal(W_Q, W_K) and top_map((X @ W_Q) @ (X @ W_K).T) == f


def test_top_map_reports_ties():
    assert top_map([[1, 3, 2], [4, 4, 0], [0, 0, 1]]) == (1, None, 2)


def test_symmetry_score_of_known_matrices():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 6, 6))
    symmetric, skew = A + A.swapaxes(1, 2), A - A.swapaxes(1, 2)
    np.testing.assert_allclose(symmetry_score(symmetric), 1)
    np.testing.assert_allclose(symmetry_score(skew), -1)
    one_way = np.triu(A, 1)
    np.testing.assert_allclose(symmetry_score(one_way), 0)
    np.testing.assert_allclose(
        symmetry_score(A), [np.trace(M @ M) / np.linalg.norm(M)**2 for M in A])
    parts = [np.linalg.norm(part, axis=(1, 2))**2 / 4 for part in (symmetric, skew)]
    np.testing.assert_allclose(symmetry_score(A), (parts[0] - parts[1]) / (parts[0] + parts[1]))
    torch = pytest.importorskip("torch")
    np.testing.assert_allclose(symmetry_score(torch.tensor(A)), symmetry_score(A))


@pytest.mark.parametrize("call, error, words", [
    (lambda: realise([0, 1], "loose"), ValueError, "kind is 'loose'; wanted one of 'tied'"),
    (lambda: realise([0, 2], "free"), ValueError, r"\(0, 2\) leads out of its 2 tokens"),
    (lambda: cycles([-1, 0]), ValueError, "leads out"),
    (lambda: cycles([]), ValueError, "leads out of its 0 tokens"),
    (lambda: cycles([0.0]), TypeError, "whole numbers"),
    (lambda: cycles(3), TypeError, "whole numbers"),
    (lambda: symmetry_score(np.ones((2, 3))), ValueError, r"shape \(2, 3\); wanted .* square"),
    (lambda: symmetry_score(np.ones(3)), ValueError, "a form is square"),
])
def test_what_is_no_map_or_no_form_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_forms_need_no_torch():
    code = "import sys; sys.modules['torch'] = None; from qkvlib import forms; forms.cycles([0])"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_arrows_draw_one_arrow_a_token_and_mark_the_cycle():
    svg = figures.arrows([1, 0, 2, 2], alt="a map", title="a < b", marked=(0, 1)).svg
    assert svg.count('fill="none" stroke="#D55E00"') == 2  # of four, those of the pair
    assert svg.count('fill="none" stroke="currentColor" stroke-width="1.5"') == 2
    assert "a &lt; b" in svg and ">4</text>" in svg and ">5</text>" not in svg
    assert "C" in figures.arrows([0], alt="a loop").svg  # a fixed point is drawn as a loop
    with pytest.raises(ValueError, match="alt text"):
        figures.arrows([0], alt="")
