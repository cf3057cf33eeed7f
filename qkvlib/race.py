"""The market with many heads at once: every variant, learning rate and seed in one batch."""

from typing import NamedTuple

import torch
import torch.nn.functional as F

from .attention import attention
from .tasks import market
from .train import fit
from .tying import fresh, products

IDS = 12
UNSEEN = 500  # sequences for each seed, in validation and in test
VALIDATION, TEST = 1_000_000, 2_000_000  # far from the seeds of training


class Score(NamedTuple):
    """How a variant did on sequences it had not seen, one number a seed, from 0 to 1.

    `looks`: the wanted token has the largest weight; `answers`: the right value has the largest
    logit; `rate`: the learning rate, chosen on validation data; `validation`: what it got there.
    """

    rate: float
    looks: list
    answers: list
    validation: float


def race(entries, kind, *, seeds, rates=(0.01, 0.1, 0.3), steps=500, batch=32, progress=None):
    """Train and score heads on a map of the market: a dictionary of `Score`, one for each entry.

    `entries` maps a name to (roles, d_k), as in {"K = Q": ("QQV", 12)}; `kind` is a map of
    `tasks.market`. Each entry is trained at each rate, each seed on data of its own.
    """
    runs = [(name, roles, rate, fresh(roles, seeds, d_k=d_k))
            for name, (roles, d_k) in entries.items() for rate in rates]
    train([(roles, rate, p) for _, roles, rate, p in runs], kind, seeds, steps=steps, batch=batch,
          progress=progress)
    pairs = [(roles, p) for _, roles, _, p in runs]
    _, chosen = score(pairs, kind, [VALIDATION + seed for seed in seeds])
    looks, answers = score(pairs, kind, [TEST + seed for seed in seeds])
    best = {}
    for run, (name, _, rate, _) in enumerate(runs):
        validation = chosen[run].mean().item()
        if name not in best or validation > best[name].validation:
            best[name] = Score(rate, looks[run].tolist(), answers[run].tolist(), validation)
    return best


def train(runs, kind, seeds, *, steps=500, batch=32, progress=None):
    """Train heads side by side, in place: `runs` is a list of (roles, rate, parameters)."""
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def loss():
        x, target, _ = draw(generators, batch, kind)
        logits, _ = heads([(roles, p) for roles, _, p in runs], x)
        losses = F.cross_entropy(logits.movedim(-1, 1),
                                 target.expand(len(runs), *target.shape), reduction="none")
        return losses.mean((-1, -2)).sum()  # each head has a term of its own

    groups = [{"params": list(p.values()), "lr": rate} for _, rate, p in runs]
    fit(loss, groups, steps=steps, lr=runs[0][1], decay=True, progress=progress)


@torch.no_grad()
def score(pairs, kind, seeds):
    """Shares of right looks and of right answers of (roles, parameters), each (runs, seeds)."""
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    x, target, wanted = draw(generators, UNSEEN, kind)
    logits, weights = heads(pairs, x)
    return tuple((guess.argmax(-1) == truth).double().mean((-1, -2))
                 for guess, truth in ((weights, wanted), (logits, target)))


def draw(generators, batch, kind):
    """A batch of the market for each generator, stacked."""
    parts = [market(g, (batch,), kind, ids=IDS) for g in generators]
    return tuple(map(torch.stack, zip(*parts, strict=True)))


def heads(pairs, x):
    """Logits (runs, seeds, batch, n, classes) and weights (runs, seeds, batch, n, n) of all heads.

    x (seeds, batch, n, d_model). All tokens of a seed meet its matrices in one product, which is
    three times as fast as one for each sequence.
    """
    forms, values = zip(*(products(roles, p) for roles, p in pairs), strict=True)
    b_O = torch.stack([p["b_O"] for _, p in pairs])
    tokens, each = x.flatten(1, 2), x.shape[1:3]
    query, value = (tokens @ torch.stack(matrices) for matrices in (forms, values))
    return attention(query.unflatten(-2, each), x, (value + b_O).unflatten(-2, each), scale=1.0,
                     return_weights=True)
