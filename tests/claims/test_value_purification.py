"""The claims of the chapter "Value purification", each decided by a test that could fail."""

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

from qkvlib import attention, softmax
from qkvlib.probes import ceiling, probe
from qkvlib.tasks import coreference
from qkvlib.train import fit
from qkvlib.values import best_filter, pruned, ridge, snr

claim = pytest.mark.claim
ROUNDING = 1e-9


def oblique(seed, d, tilt=0.4):
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return (np.eye(d) + tilt * rng.normal(size=(d, d)) / d**0.5) @ frame


@claim("V1")
@pytest.mark.parametrize("seed", range(3))
def test_V1_every_part_is_mixed_in_and_none_is_lost(seed):
    rng = np.random.default_rng(seed)
    B = oblique(seed, 24)
    z, other = rng.normal(size=(2, 1500, 24))
    x, fresh = (numbers @ B + 0.1 * rng.normal(size=numbers.shape) for numbers in (z, other))
    for part in (slice(0, 4), slice(4, 8), slice(8, 24)):
        def explained(target, part=part):
            guess = fresh @ ridge(x, target)
            return 1 - ((guess - other[:, part])**2).mean() / (other[:, part]**2).mean()

        alone = np.corrcoef(x.T, z[:, part].T)[:24, 24:]**2  # of one feature and one number
        assert alone.max() < 0.6
        assert explained(z[:, part]) > 0.9
        assert abs(explained(rng.permutation(z[:, part]))) < 0.1


@claim("V2")
@pytest.mark.parametrize("seed", range(5))
def test_V2_no_filter_beats_wieners(seed):
    """E‖xW − z‖² = tr(WᵀΣW) − 2 tr(WᵀDᵀ) + k, and its excess over the least is quadratic."""
    rng = np.random.default_rng(seed)
    k, d = 3, 7
    D, root = rng.normal(size=(k, d)), rng.normal(size=(d, d + 1))
    C = root @ root.T / d
    sigma = D.T @ D + C

    def error(W):
        return np.trace(W.T @ sigma @ W) - 2 * np.trace(D @ W) + k

    best = best_filter(D, C)
    for size in (1e-3, 0.1, 1.0):
        W = best + size * rng.normal(size=(d, k))
        excess = np.trace((W - best).T @ sigma @ (W - best))
        assert abs(error(W) - error(best) - excess) < ROUNDING * (1 + excess)
        assert abs(snr(W, D, C) + 10 * np.log10(error(W) / k)) < ROUNDING
        assert snr(W, D, C) < snr(best, D, C)
    clean = best @ D  # signal over signal plus noise, for rows
    assert np.allclose(clean, np.linalg.inv(D.T @ D + C) @ (D.T @ D), atol=ROUNDING)


@claim("V2")
def test_V2_learning_comes_near_where_noise_can_be_told_apart():
    d, k = 24, 3
    raw, learned, ridged, bound = [], [], [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        B = oblique(seed, d)
        D, C = B[:k], B[k:].T @ B[k:] + 0.01 * np.eye(d)
        z = rng.normal(size=(1000, d))
        x = z @ B + 0.1 * rng.normal(size=z.shape)
        X, target = torch.from_numpy(x), torch.from_numpy(z[:, :k])
        W = torch.zeros(d, k, dtype=torch.float64, requires_grad=True)
        fit(lambda X=X, W=W, target=target: (X @ W - target).square().mean(), [W],
            steps=400, lr=0.02)
        for ratios, filtered in ((raw, np.linalg.pinv(D)), (learned, W.detach().numpy()),
                                 (ridged, ridge(x, z[:, :k])), (bound, best_filter(D, C))):
            ratios.append(snr(filtered, D, C))
        same_place = D.T @ D * (d - k) / k + 0.01 * np.eye(d)
        assert snr(best_filter(D, same_place), D, same_place) < 1.5  # 0 dB is to say nothing
    assert np.mean(raw) < 9 and np.mean(bound) > 14
    assert abs(np.subtract(learned, ridged)).max() < 0.1
    assert 0 < np.subtract(bound, learned).min() and np.subtract(bound, learned).max() < 0.5


@claim("V2")
def test_V2_the_readout_can_do_the_same():
    rng = np.random.default_rng(0)
    X, q, k, W = (rng.normal(size=size) for size in ((9, 6), (9, 4), (9, 4), (6, 2)))
    assert abs(attention(q, k, X @ W) - attention(q, k, X) @ W).max() < 1e-12


def heads(widths, frozen, seeds=3, steps=200):
    """Value weights and readouts, (widths, seeds, …), of heads that answer the colour; features
    are coordinates, and noise falls on each."""
    generator = torch.Generator().manual_seed(0)
    kept = torch.stack([torch.arange(15) < d_v for d_v in widths]).double()[:, None, None]
    p = {name: torch.randn(len(widths), seeds, 15, k, generator=generator, dtype=torch.float64)
         / 15**0.5 for name, k in {"Q": 8, "K": 8, "V": 15, "O": 6}.items()}
    for name, part in p.items():
        part.requires_grad_(not (frozen and name == "V"))

    def answer(batch):
        told = coreference(generator, (seeds, batch), dtype=torch.float64)
        x = told.tokens + 0.1 * torch.randn(told.tokens.shape, generator=generator,
                                            dtype=torch.float64)
        asked = x[:, :, -1] @ p["Q"] @ p["K"].mT
        weights = softmax((asked[..., None, :] * x).sum(-1))
        return (weights[..., None] * x).sum(-2) @ (kept * p["V"]) @ p["O"], told.colour

    def loss():
        logits, colour = answer(24)
        return -(one_hot(colour, 6) * logits.log_softmax(-1)).sum((-1, -2)).mean(-1).sum()

    fit(loss, [part for part in p.values() if part.requires_grad], steps=steps, lr=2e-2)
    with torch.no_grad():
        logits, colour = answer(400)
        right = (logits.argmax(-1) == colour).double().mean(-1)
    return (kept * p["V"]).detach(), p["O"].detach(), right


def nouns(seed, count, seeds=3):
    generator = torch.Generator().manual_seed(seed)
    told = coreference(generator, (seeds, count), nouns=2, dtype=torch.float64)
    features = told.tokens[:, :, 0]
    x = features + 0.1 * torch.randn(features.shape, generator=generator, dtype=torch.float64)
    return x, features[..., 9:].argmax(-1), features[..., 0].long()


@claim("V3")
def test_V3_what_is_to_spare_leaks_and_less_of_it_where_values_are_narrow():
    (x, size, animate), (fresh, fresh_size, fresh_animate) = nouns(1, 1500), nouns(2, 500)
    linear = {}
    for frozen in (False, True):
        W_V, _, right = heads([4, 15], frozen)
        linear[frozen] = probe((x @ W_V, size), (fresh @ W_V, fresh_size), steps=200).mean(-1)
        assert frozen or right.min() > 0.95
    assert linear[False][1] > 0.95  # nothing is removed where there is room
    assert linear[False][0] < 0.45 < linear[True][0]  # training turns narrow values away from it
    W_V, _, _ = heads([4], False)
    mark = probe((x @ W_V, animate), (fresh @ W_V, fresh_animate), hidden=24, steps=300, lr=0.01)
    assert mark.mean() > 0.65  # the matched feature itself, a coin being right in half of the cases


@claim("V3")
def test_V3_a_linear_probe_that_fails_does_not_show_that_something_is_gone():
    """Labels are the parity of two bits: no linear probe can, and the best of all always does."""
    generator = torch.Generator().manual_seed(0)
    corners = torch.cartesian_prod(torch.arange(2), torch.arange(2))
    kind = torch.randint(4, (2, 3000), generator=generator)
    x = corners[kind] * 1.0 + 0.1 * torch.randn(2, 3000, 2, generator=generator)
    parity = corners.sum(-1) % 2
    known, unseen = (x[:, :2000], parity[kind[:, :2000]]), (x[:, 2000:], parity[kind[:, 2000:]])
    assert probe(known, unseen).max() < 0.85
    assert probe(known, unseen, hidden=16).min() > 0.95
    centres = (corners * 1.0).expand(2, 4, 2)
    best = ceiling(torch.eye(2).expand(2, 2, 2), *unseen, centres, parity, noise=0.1)
    assert best.min() > 0.99
    gone = torch.tensor([[1.0, 0.0], [0.0, 0.0]]).expand(2, 2, 2)  # one of the bits
    assert abs(ceiling(gone, *unseen, centres, parity, noise=0.1) - 0.5).max() < 0.06


@claim("V3")
@pytest.mark.parametrize("seed", range(3))
def test_V3_idle_parts_of_values_can_go(seed):
    rng = np.random.default_rng(seed)
    W_V, W_O = rng.normal(size=(6, 5)), rng.normal(size=(5, 2))
    lean = pruned(W_V, W_O)
    assert abs(lean @ W_O - W_V @ W_O).max() < ROUNDING
    ignored = np.linalg.svd(W_O)[0][:, 2:]  # what W_O maps to zero
    assert abs(lean @ ignored).max() < ROUNDING < abs(W_V @ ignored).max()
    assert np.linalg.matrix_rank(lean) == 2


@claim("V3")
def test_V3_two_numbers_can_carry_two_attributes():
    colour, size = np.divmod(np.arange(36), 6)
    c = np.arange(6)
    for kind in (colour, size):  # the affine probe c v − c²/2 is greatest at the nearest c
        assert (np.argmax(np.outer(kind, c) - c**2 / 2, axis=1) == kind).all()


@claim("V4")
def test_V4_a_head_by_hand_solves_it_with_raw_values_and_a_readout():
    told = coreference(torch.Generator().manual_seed(0), (300,), dtype=torch.float64)
    x, rows = told.tokens.numpy(), np.arange(300)
    W_Q, W_K, W_O = np.zeros((15, 1)), np.zeros((15, 1)), np.zeros((15, 15))
    W_Q[2] = W_K[0] = 10.0  # the pronoun looks for the animate
    W_O[3:9, 3:9] = np.eye(6)  # reads the colour alone
    target = np.zeros((300, 15))
    target[rows, 3 + told.colour.numpy()] = 1
    raw = attention(x @ W_Q, x @ W_K, x)[:, -1]
    assert abs(raw @ W_O - target).max() < 1e-6
    assert abs(attention(x @ W_Q, x @ W_K, x @ W_O)[:, -1] - target).max() < 1e-6
    assert ((raw - target)**2).sum(-1).min() > 1.9  # the mark and the size come along


@claim("V4")
def test_V4_without_a_readout_no_weights_help():
    """Each token has one of three marks and the answer none: ‖o − t‖ ≥ 1/‖g‖ with x g = 1."""
    generator = torch.Generator().manual_seed(0)
    E = torch.randn(15, 20, generator=generator, dtype=torch.float64)
    told = coreference(generator, (50,), dtype=torch.float64)
    x, target = told.tokens @ E, E[3 + told.colour]
    marks = torch.tensor(3 * [1.0] + 12 * [0.0], dtype=torch.float64)
    g = torch.linalg.pinv(E) @ marks
    assert (x @ g - 1).abs().max() < ROUNDING and (target @ g).abs().max() < ROUNDING
    scores = torch.zeros(50, 5, dtype=torch.float64, requires_grad=True)

    def errors():
        return ((softmax(scores)[..., None] * x).sum(-2) - target).square().sum(-1)

    fit(lambda: errors().sum(), [scores], steps=300, lr=0.1)
    assert errors().min() >= 1 / g.square().sum()


@claim("V4")
def test_V4_learned_with_a_readout_and_not_without():
    generator = torch.Generator().manual_seed(0)
    p = [(torch.randn(2, 3, 15, k, generator=generator, dtype=torch.float64) / 15**0.5)
         .requires_grad_() for k in (8, 8, 15)]
    eye, readout = torch.eye(15, dtype=torch.float64), torch.tensor([0.0, 1.0]).view(2, 1, 1, 1)

    def errors(batch):
        told = coreference(generator, (3, batch), dtype=torch.float64)
        x = told.tokens
        asked = x[:, :, -1] @ p[0] @ p[1].mT
        mixed = (softmax((asked[..., None, :] * x).sum(-1))[..., None] * x).sum(-2)
        output = mixed @ (readout * p[2] + (1 - readout) * eye)
        return (output - eye[3 + told.colour]).square().sum(-1).mean(-1)

    fit(lambda: errors(24).sum(), p, steps=250, lr=3e-2)
    with torch.no_grad():
        without, with_readout = errors(300)
    assert with_readout.max() < 0.1 and without.min() > 0.5
