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
    """How a variant did on sequences it had not seen, one number a seed.

    `looks`: the share of tokens that give the one they want the largest weight; `answers`: that of
    tokens whose largest logit is the right value; `losses`: the cross entropy, which is what
    training minimises; `rate`: the learning rate, the one with the least loss on validation data.
    """

    rate: float
    looks: list
    answers: list
    losses: list


def race(entries, kind, *, seeds, rates=(0.01, 0.03, 0.1), steps=1000, batch=32, progress=None):
    """Train and score heads on a map of the market: a dictionary of `Score`, one for each entry.

    `entries` maps a name to (roles, d_k), as in {"K = Q": ("QQV", 12)}; `kind` is a map of
    `tasks.market`. Each entry is trained at each rate, each seed on data of its own.
    """
    runs = [(name, roles, rate, fresh(roles, seeds, d_k=d_k))
            for name, (roles, d_k) in entries.items() for rate in rates]
    train([(roles, rate, p) for _, roles, rate, p in runs], kind, seeds, steps=steps, batch=batch,
          progress=progress)
    pairs = [(roles, p) for _, roles, _, p in runs]
    *_, losses = score(pairs, kind, [VALIDATION + seed for seed in seeds])
    measured = score(pairs, kind, [TEST + seed for seed in seeds])
    best, least = {}, {}
    for run, (name, _, rate, _) in enumerate(runs):
        validation = losses[run].mean().item()
        if validation < least.get(name, float("inf")):
            best[name] = Score(rate, *(numbers[run].tolist() for numbers in measured))
            least[name] = validation
    return best


def train(runs, kind, seeds, *, steps=1000, batch=32, progress=None):
    """Train heads side by side, in place: `runs` is a list of (roles, rate, parameters)."""
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def loss():
        x, target, _ = draw(generators, batch, kind)
        logits, _ = heads([(roles, p) for roles, _, p in runs], x)
        return cross_entropy(logits, target).sum()  # each head has a term of its own

    groups = [{"params": list(p.values()), "lr": rate} for _, rate, p in runs]
    fit(loss, groups, steps=steps, lr=runs[0][1], decay=True, progress=progress)


@torch.no_grad()
def score(pairs, kind, seeds):
    """Right looks, right answers and cross entropy of (roles, parameters), each (runs, seeds)."""
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    x, target, wanted = draw(generators, UNSEEN, kind)
    logits, weights = heads(pairs, x)
    looks, answers = ((guess.argmax(-1) == truth).double().mean((-1, -2))
                      for guess, truth in ((weights, wanted), (logits, target)))
    return looks, answers, cross_entropy(logits, target)


def cross_entropy(logits, target):
    """The mean over batch and tokens for each head (runs, seeds): logits as `heads` gives them."""
    target = target.expand(len(logits), *target.shape)
    return F.cross_entropy(logits.movedim(-1, 1), target, reduction="none").mean((-1, -2))


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
