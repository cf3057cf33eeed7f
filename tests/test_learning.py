"""Digits, the small vision transformer, training, the toy task, the Jacobian's rank."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits

from qkvlib import language, shipped
from qkvlib.data import digits
from qkvlib.freedom import jacobian_rank
from qkvlib.tasks import coreference, market, salient
from qkvlib.train import accuracy, batches, fit
from qkvlib.vit import Attention, ViT


def test_digits_are_split_without_overlap_and_in_proportion():
    parts = digits(3, dtype=torch.float64)
    assert [len(part.labels) for part in parts] == [1078, 359, 360]
    images = torch.cat([part.images for part in parts]).flatten(1)
    assert abs(images.mean()) < 1e-12 and abs(images.std() - 1) < 1e-3
    theirs = load_digits().data
    restored = images * theirs.std() + theirs.mean()  # the same images, every one once
    code = np.arange(64)  # tells the images apart
    np.testing.assert_allclose(np.sort(restored.numpy() @ code), np.sort(theirs @ code))
    counts = torch.stack([part.labels.bincount() / len(part.labels) for part in parts])
    assert (counts - 0.1).abs().max() < 0.02
    assert len(digits(3, n_train=10).train.labels.unique()) == 10
    assert not torch.equal(digits(4).test.labels, digits(3).test.labels)
    with pytest.raises(ValueError, match="n_train=9; wanted 10 to 1078"):
        digits(n_train=9)


@pytest.mark.parametrize("biases", ["", "q", "kv", "qkv"])
def test_attention_layer_equals_pytorchs(biases):
    torch.manual_seed(0)
    ours = Attention(12, 3, biases).double()
    theirs = torch.nn.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_Q.T, ours.W_K.T, ours.W_V.T]))
        theirs.in_proj_bias.copy_(torch.cat([(n in biases) * getattr(ours, f"b_{n.upper()}")
                                             for n in "qkv"]))
        theirs.out_proj.weight.copy_(ours.W_O.T)
        theirs.out_proj.bias.copy_(ours.b_O)
    x = torch.randn(2, 5, 12, dtype=torch.float64)
    assert torch.allclose(ours(x), theirs(x, x, x)[0], atol=1e-12, rtol=0)


def test_models_that_differ_in_biases_share_every_initial_value():
    one, other = ViT(biases="qkv", seed=5), ViT(biases="v", seed=5)
    for (name, a), (_, b) in zip(one.named_parameters(), other.named_parameters(), strict=True):
        assert torch.equal(a, b), name
    assert not torch.equal(one.W_E, ViT(seed=6).W_E)
    state = torch.get_rng_state()
    ViT()
    assert torch.equal(torch.get_rng_state(), state)  # and leaves the caller's randomness alone


def test_vit_sees_patches_as_tokens():
    model = ViT(size=8, patch=4)
    with torch.no_grad():
        model.position.zero_()
    image = torch.randn(1, 8, 8)
    swapped = torch.cat([image[:, 4:], image[:, :4]], dim=1)  # the patches, in another order
    assert torch.allclose(model(image), model(swapped), atol=1e-5)
    assert not torch.allclose(model(image), model(image.transpose(1, 2)), atol=1e-2)
    assert model(torch.zeros(0, 8, 8)).shape == (0, 10)


@pytest.mark.parametrize("options", [{"patch": 3}, {"heads": 5}, {"biases": "qx"}])
def test_vit_refuses_sizes_that_do_not_fit(options):
    with pytest.raises(ValueError, match=str(next(iter(options.values())))):
        ViT(**options)


def test_fit_minimises_and_is_repeatable():
    def run():
        w = torch.zeros(3, requires_grad=True)
        history = fit(lambda: (w - torch.arange(3)).square().sum(), [w], steps=300, lr=0.05)
        return w.detach(), history

    (w, history), (again, _) = run(), run()
    assert torch.allclose(w, torch.arange(3.0), atol=1e-2) and len(history) == 300
    assert history[0] == 5 and history[-1] < 1e-3 and torch.equal(w, again)


def test_fit_stops_at_a_loss_that_is_not_finite():
    w = torch.ones(1, requires_grad=True)
    with pytest.raises(FloatingPointError, match="nan at step 0 of 5"):
        fit(lambda: w.sum() * math.nan, [w], steps=5, lr=0.1)


def test_batches_repeat_with_their_seed_and_accuracy_counts():
    part = digits().validation
    one, again, other = (batches(part, 7, seed=s) for s in (0, 0, 1))
    images, labels = next(one)
    assert images.shape == (7, 8, 8) and torch.equal(labels, next(again)[1])
    assert not torch.equal(images, next(other)[0]) and not torch.equal(images, next(one)[0])
    right = F.one_hot(part.labels, 10)
    assert accuracy(lambda _: right, part) == 1.0
    right[: len(right) // 2] = F.one_hot((part.labels[: len(right) // 2] + 1) % 10, 10)
    assert accuracy(lambda _: right, part) == pytest.approx(0.5, abs=0.01)


def test_salient_targets_are_the_payload_of_the_winner():
    x, target = salient(torch.Generator().manual_seed(0), (3, 5), tokens=4, width=6, payload=2)
    assert x.shape == (3, 5, 4, 6) and target.shape == (3, 5, 1, 2)
    for sequence, wanted in zip(x.flatten(0, 1), target.flatten(0, 1), strict=True):
        best = max(sequence, key=lambda token: token[0])
        assert torch.equal(wanted[0], best[1:3])
    with pytest.raises(ValueError, match="payload=6 .* width ≥ 7"):
        salient(torch.Generator(), (1,), width=6, payload=6)


def cycles(wanted):
    """The lengths of a map's cycles, in order."""
    found = set()
    for start in range(len(wanted)):
        place = start
        for _ in wanted:  # after as many steps as there are tokens one is on a cycle
            place = wanted[place]
        cycle = [place]
        while wanted[cycle[-1]] != place:
            cycle.append(wanted[cycle[-1]])
        found.add(frozenset(cycle))
    return sorted(map(len, found))


@pytest.mark.parametrize("kind, wanted_cycles, askers", [
    ("self", [1] * 6, [1] * 6), ("mutual", [2] * 3, [1] * 6), ("directed", [6], [1] * 6),
    ("chain", [1], [0, 1, 1, 1, 1, 2]), ("star", [1], [0, 0, 0, 0, 0, 6]),
    ([1, 2, 2, 4, 5, 5], [1, 1], [0, 0, 1, 1, 2, 2])])
def test_market_asks_for_the_value_of_the_token_so_named(kind, wanted_cycles, askers):
    x, target, wanted = market(torch.Generator().manual_seed(0), (3, 5), kind, dtype=torch.float64)
    assert x.shape == (3, 5, 6, 36) and x.dtype == torch.float64
    assert target.shape == wanted.shape == (3, 5, 6)
    assert torch.allclose(x.square().mean(-1), torch.ones(3, 5, 6, dtype=torch.float64))
    for sequence, answers, places in zip(*(t.flatten(0, 1) for t in (x, target, wanted)),
                                         strict=True):
        name, wants, value = (part.argmax(-1).tolist() for part in sequence.split(12, -1))
        assert len(set(name)) == 6
        assert [value[name.index(want)] for want in wants] == answers.tolist()
        assert [name.index(want) for want in wants] == places.tolist()
        assert cycles(places.tolist()) == wanted_cycles
        assert sorted(places.tolist().count(i) for i in range(6)) == askers
    assert len(wanted.flatten(0, 1).unique(dim=0)) > (kind != "self")  # in random order


def test_market_draws_every_id_and_any_map():
    x, target, wanted = market(torch.Generator().manual_seed(0), (9000,), "random")
    for part in x.split(12, -1):
        np.testing.assert_allclose(part.mean((0, 1)) * math.sqrt(12), 1, atol=0.05)
    assert (target.flatten().bincount() / target.numel() - 1 / 12).abs().max() < 0.008
    shares = torch.stack([(wanted == i).double().mean(0) for i in range(6)])
    assert (shares - 1 / 6).abs().max() < 0.02  # whoever asks, and for whomever
    again = market(torch.Generator().manual_seed(0), (9000,), "random")
    assert all(map(torch.equal, again, (x, target, wanted)))


@pytest.mark.parametrize("kind, options, words", [
    ("ring", {}, "kind='ring'; wanted one of self, mutual"),
    ("mutual", {"tokens": 5}, "tokens=5 cannot be paired"),
    ("self", {"tokens": 7, "ids": 6}, "tokens=7 .* ids=6"),
    ([0, 1], {}, "wanted 6 positions from 0 to 5"),
    ([0, 1, 2, 3, 4, 6], {}, "wanted 6 positions from 0 to 5")])
def test_market_refuses_what_is_no_map(kind, options, words):
    with pytest.raises(ValueError, match=words):
        market(torch.Generator(), (1,), kind, **options)


def test_it_stands_for_the_one_animate_noun():
    told = coreference(torch.Generator().manual_seed(0), (3, 50), nouns=5, kinds=4)
    assert told.tokens.shape == (3, 50, 6, 11) and told.size.shape == (3, 50)
    for tokens, who, colour, size in zip(*(x.flatten(0, 1) for x in told), strict=True):
        assert tokens[:5, 0].tolist() == [float(i == who) for i in range(5)]
        assert torch.equal(tokens[:5, 1], 1 - tokens[:5, 0]) and tokens[5].tolist() == [
            0, 0, 1, *[0] * 8]
        assert tokens[who, 3 + colour] == tokens[who, 7 + size] == 1 and tokens.sum() == 16
    with pytest.raises(ValueError, match="nouns=1; wanted at least 2"):
        coreference(torch.Generator(), (1,), nouns=1)


def test_jacobian_rank_counts_directions_not_parameters():
    x = torch.randn(20, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    W = {"U": torch.randn(4, 2, dtype=torch.float64), "V": torch.randn(2, 5, dtype=torch.float64)}
    assert jacobian_rank(lambda p: x @ p["U"] @ p["V"], W) == 2 * (4 + 5 - 2)  # matrices of rank 2
    assert jacobian_rank(lambda p: x @ p["U"], W) == 8  # V unused
    with pytest.raises(TypeError, match="U has dtype torch.float32; wanted float64"):
        jacobian_rank(lambda p: p["U"], {"U": torch.ones(2, 2)})


def test_character_models_see_what_their_objective_lets_them():
    """Of the first character's loss: does it depend on the last character, hidden or not?"""
    kinds = 5
    p = language._fresh([torch.Generator().manual_seed(0)], kinds)
    seen = torch.zeros(len(language.OBJECTIVES), 1, 2, language.LENGTH, dtype=torch.long)
    first = torch.zeros(seen.shape)
    first[..., 0] = 1
    other = seen.clone()
    other[..., -1] = 1
    change = [abs(language._losses(p, x, seen, first, kinds)
                  - language._losses(p, seen, seen, first, kinds)).max(-1).values
              for x in (seen, other)]
    assert (change[0] == 0).all()
    for (causal, _), moved in zip(language.OBJECTIVES.values(), change[1], strict=True):
        assert (moved == 0) == causal


def test_character_models_are_asked_for_what_is_hidden_or_for_the_next():
    text = torch.arange(1000) % 7
    draws = language._draw([torch.Generator().manual_seed(0)], text, 7)
    cases = zip(language.OBJECTIVES.values(), *draws, strict=True)
    for (_, hidden), seen, wanted, counted in cases:
        if hidden:
            assert ((seen == 7) == counted).all() and 0.1 < counted.float().mean() < 0.3
            assert (seen == wanted)[~counted].all()
        else:
            assert counted.all() and (wanted == (seen + 1) % 7).all()


def test_a_weight_for_all_heads_becomes_one_for_each():
    weight = np.random.default_rng(0).normal(size=(24, 5)).astype("float32")  # 12 heads of width 2
    x = np.random.default_rng(1).normal(size=(3, 5))
    by_head = shipped._by_head(weight)
    assert np.allclose(np.concatenate(x @ by_head, axis=-1), x @ weight.T)
