"""Tied heads, their races and records: what the library promises beside the claims."""

import json
from itertools import product

import numpy as np
import pytest
import torch

from qkvlib.race import heads, race, score, train
from qkvlib.results import as_text, recorded
from qkvlib.serving import FORMS, ceilings, scores, serves
from qkvlib.train import fit
from qkvlib.tying import VARIANTS, count, fresh, products, projections


def test_any_three_letters_make_a_head():
    x = torch.randn(2, 3, 6, 36, generator=torch.Generator().manual_seed(0))
    every = ["".join(letters) for letters in product("QKVSX", repeat=3)]
    pairs = [(roles, fresh(roles, [4, 5])) for roles in every]
    logits, weights = heads(pairs, x)
    assert logits.shape == (125, 2, 3, 6, 12) and weights.shape == (125, 2, 3, 6, 6)
    assert torch.isfinite(logits).all() and torch.allclose(weights.sum(-1), torch.ones(1))


def test_a_head_is_the_formula():
    p = fresh("QKV", [3], d_model=8, d_k=5, classes=4, dtype=torch.float64)
    p["log_beta"].data.fill_(0.7)
    p["b_O"].data.normal_(generator=torch.Generator().manual_seed(1))
    x = torch.randn(1, 2, 6, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    W_Q, W_K, W_V = (p[f"W_{role}"] for role in "QKV")
    A = (np.exp(0.7) * (x @ W_Q) @ (x @ W_K).mT / 5**0.5).softmax(-1)
    logits, weights = heads([("QKV", p)], x)
    assert torch.allclose(weights[0], A, atol=1e-12, rtol=0)
    assert torch.allclose(logits[0], A @ x @ W_V @ p["W_O"] + p["b_O"], atol=1e-12, rtol=0)


def test_a_seed_draws_the_same_whoever_is_beside_it():
    for roles in VARIANTS.values():
        alone, beside = fresh(roles, [7]), fresh(roles, [3, 7])
        assert all(torch.equal(alone[name][0], beside[name][1]) for name in alone)
    assert [count(fresh(roles, [0])) for roles in ("XXX", "QXX", "QQQ", "QSV", "QKV")] == [
        0, 36 * 36, 36 * 12, 2 * 36 * 12, 3 * 36 * 12]


def test_a_symmetric_form_has_both_signs():
    form, _ = products("QSV", fresh("QSV", [0], dtype=torch.float64))
    assert torch.allclose(form, form.mT)
    values = torch.linalg.eigvalsh(form)
    assert values.min() < -0.1 and values.max() > 0.1
    tied, _ = products("QQV", fresh("QQV", [0], dtype=torch.float64))
    assert torch.linalg.eigvalsh(tied).min() > -1e-12


@pytest.mark.parametrize("roles", ["QK", "QKW", "qkv", ""])
def test_letters_that_are_no_roles_are_refused(roles):
    with pytest.raises(ValueError, match="wanted three letters of Q, K, V, S, X"):
        fresh(roles, [0])
    with pytest.raises(ValueError, match="as in 'QQV'"):
        projections(roles, fresh("QKV", [0]))


def test_a_race_keeps_the_rate_with_the_least_loss():
    entries = {"full": ("QKV", 12)}
    both = race(entries, "self", seeds=[0, 1], rates=(1e-5, 0.1), steps=60)["full"]
    good = race(entries, "self", seeds=[0, 1], rates=(0.1,), steps=60)["full"]
    assert both.rate == 0.1 and len(both.looks) == 2
    np.testing.assert_allclose(both.losses, good.losses, atol=1e-3)
    assert max(both.losses) < 1 and min(both.answers) > 0.7


def test_heads_that_train_side_by_side_do_not_meet():
    def trained(*entries):
        runs = [(roles, rate, fresh(roles, [0, 1])) for roles, rate in entries]
        train(runs, "mutual", [0, 1], steps=20)
        return score([(roles, p) for roles, _, p in runs], "mutual", [9, 10])[2][0]

    alone = trained(("QKV", 0.03))
    assert torch.allclose(alone, trained(("QKV", 0.03), ("QQQ", 0.3), ("XXX", 0.1)), atol=1e-3)


def test_decay_ends_at_rate_zero():
    w = torch.zeros(1, requires_grad=True)
    steps = []

    def loss():
        steps.append(w.item())
        return -w.sum()

    fit(loss, [w], steps=100, lr=0.1, decay=True)
    moves = np.diff(steps)
    assert moves[0] == pytest.approx(0.1, rel=1e-3) and moves[-1] < 1e-3
    assert np.all(np.diff(moves) < 1e-6)


def test_ceilings_take_many_maps_and_name_what_they_do_not_know():
    every = np.indices((3,) * 3).reshape(3, -1).T
    for kind in FORMS:
        assert ceilings(every, kind).shape == scores(every, FORMS[kind]).shape[:-1] == (27, 3)
        assert serves(every, kind).tolist() == [bool(serves(f, kind)) for f in every.tolist()]
    with pytest.raises(ValueError, match="kind='tied'; wanted one of 'K = Q', 'symmetric', 'free'"):
        ceilings([0], "tied")


def test_a_record_comes_back_as_it_was_written():
    record = recorded("market")
    assert as_text(record) == as_text(json.loads(as_text(record)))
    assert as_text({"a": [0.12345, 1], "b": {"c": 2}}) == (
        '{\n "a": [ 0.1235, 1 ],\n "b": {\n  "c": 2\n }\n}\n')
    assert {"date", "python", "torch", "processor", "seeds", "steps", "rates"} <= set(record)
    with pytest.raises(FileNotFoundError):
        recorded("nothing")
