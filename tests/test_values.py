"""Filters and probes: against other formulas, in NumPy and torch, and what they refuse."""

import numpy as np
import pytest
import torch

from qkvlib.probes import ceiling, probe
from qkvlib.values import best_filter, pruned, readable, ridge, snr


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_numpy_and_torch_agree_with_leading_axes(rng):
    D, root, x, z = (rng.normal(size=size) for size in ((3, 2, 5), (3, 5, 5), (3, 9, 5), (3, 9, 2)))
    C = root @ root.mT + np.eye(5)
    ours = [best_filter(D, C), snr(best_filter(D, C), D, C), ridge(x, z), pruned(x.mT, z),
            readable(root[..., :2], D, C)]
    D, C, x, z, root = map(torch.from_numpy, (D, C, x, z, root))
    theirs = [best_filter(D, C), snr(best_filter(D, C), D, C), ridge(x, z), pruned(x.mT, z),
              readable(root[..., :2], D, C)]
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)


def test_ridge_is_least_squares_with_rows_of_its_own(rng):
    x, z = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    longer = np.vstack([x, np.sqrt(0.1 * 30) * np.eye(4)])
    wanted = np.linalg.lstsq(longer, np.vstack([z, np.zeros((4, 2))]))[0]
    np.testing.assert_allclose(ridge(x, z, strength=0.1), wanted, atol=1e-12)
    np.testing.assert_allclose(ridge(x, z, strength=0), np.linalg.lstsq(x, z)[0], atol=1e-12)


def test_readable_is_the_share_that_a_regression_explains(rng):
    D, noise, W = rng.normal(size=(3, 6)), rng.normal(size=(6, 6)), rng.normal(size=(6, 2))
    z, other = rng.normal(size=(200_000, 3)), rng.normal(size=(200_000, 6))
    values = (z @ D + other @ noise) @ W
    left = z - values @ np.linalg.lstsq(values, z)[0]
    share = readable(W, D, D.T @ D + noise.T @ noise)
    assert share == pytest.approx(1 - (left**2).sum() / (z**2).sum(), abs=0.01)
    assert readable(np.eye(6), np.eye(6), np.eye(6)) == pytest.approx(1)


def test_snr_of_silence_is_zero():
    D, C = np.eye(4)[:2], np.eye(4)
    assert snr(np.zeros((4, 2)), D, C) == pytest.approx(0)
    assert snr(best_filter(D, C), D, C) == pytest.approx(10 * np.log10(2))  # half of the error


def test_a_probe_minds_neither_scale_nor_basis():
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(3, (2, 900), generator=generator)
    x = torch.eye(3, dtype=torch.float64)[y] + 0.4 * torch.randn(
        2, 900, 3, generator=generator, dtype=torch.float64)
    change = torch.tensor([[30.0, 0, 0], [30, 1, 0], [0, 1, 0.1]], dtype=torch.float64)
    both = torch.stack([x, x @ change, torch.cat([x[..., :2], x[..., :1]], -1)])
    share = probe((both[..., :600, :], y[:, :600]), (both[..., 600:, :], y[:, 600:]))
    assert share.shape == (3, 2) and (share[0] - share[1]).abs().max() < 0.03
    assert share.min() > 0.75


def test_the_ceiling_is_bayes_rule_in_whatever_basis(rng):
    """Against the densities of the values themselves, whose noise is longer in some directions."""
    centres, named = rng.normal(size=(6, 4)), np.arange(6) % 2
    kind = rng.integers(6, size=2000)
    x = centres[kind] + 0.7 * rng.normal(size=(2000, 4))
    W = rng.normal(size=(4, 2)) @ [[10.0, 3.0], [0.0, 0.1]]
    apart = (x[:, None] - centres) @ W
    precise = np.linalg.inv(0.49 * W.T @ W)
    density = np.exp(-0.5 * np.einsum("nma,ab,nmb->nm", apart, precise, apart))
    guess = density[:, named == 1].sum(1) > density[:, named == 0].sum(1)
    wanted = (guess == named[kind]).mean()
    x, kind, centres, W, named = map(torch.from_numpy, (x, kind, centres, W, named))
    ours = ceiling(W[None], x[None], named[kind][None], centres[None], named, noise=0.7)
    assert ours.shape == (1,) and ours.item() == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize("call, words", [
    (lambda: best_filter(np.ones((2, 4)), np.eye(3)), r"wanted a covariance \(..., 4, 4\)"),
    (lambda: snr(np.ones((4, 2)), np.ones((2, 4)), np.ones(4)), "covariance"),
    (lambda: ridge(np.ones((5, 2)), np.ones((4, 1))), "x has 5 rows and target 4"),
    (lambda: pruned(np.ones((3, 4)), np.ones((5, 2))), "width 4 and W_O reads 5"),
    (lambda: readable(np.ones((4, 2)), np.ones((2, 4)), np.eye(3)), "wanted a covariance"),
    (lambda: probe((torch.ones(5, 2), torch.ones(4)), (torch.ones(5, 2), torch.ones(5))),
     "5 vectors came with 4 labels"),
    (lambda: ceiling(torch.eye(2), torch.ones(5, 2), torch.ones(5), torch.ones(3, 2), torch.ones(2),
                     noise=1), "3 vectors came with 2 labels"),
    (lambda: ceiling(torch.eye(2), torch.ones(5, 2), torch.ones(5), torch.ones(3, 2), torch.ones(3),
                     noise=0), "above 0")])
def test_shapes_that_do_not_fit_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
