"""Teacher and student: how well the form of a head is learned from examples, by its rank.

A teacher has a form of known rank and reads one number of each token, through a direction that is
told. A student is to find the form from noisy answers. Three kinds of student differ in what they
write it as: one free matrix; two factors as wide as the tokens, which bound nothing; two narrower
factors, which bound the rank.
"""

import math
from typing import NamedTuple

import torch

from .attention import softmax
from .train import fit

WIDTH, TOKENS = 24, 8  # d, and how many tokens a sequence has
SHARP, NOISE = 1.5, 0.3  # the teacher's scores, and the spread of what is added to its answers
BATCH, UNSEEN = 40, 200  # sequences a step; sequences each for validation and for test
RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
LOOKS = 25  # how often validation data are looked at


class Student(NamedTuple):
    """Its factors are (d, rank) each, or with `rank` None it is one free (d, d) matrix. `start` is
    the standard deviation of the entries of the form before training."""

    rank: int | None
    start: float = 0.1


class Score(NamedTuple):
    """What became of a student, a number a seed. Errors are squared ones on new sequences, against
    answers without noise, over the variance of these: 1 is what the mean answer would get.

    `stopped`: at the rate and the step that were best on validation data; `last`: after all steps,
    at the rate that was best there; `rate`: that rate; `train`: its error on its own noisy
    examples; `rank`: (Σ σ)² / Σ σ² of its singular values, a soft count.
    """

    stopped: list
    last: list
    rate: list
    train: list
    rank: list


def examples(generators, rank, count):
    """For each generator a teacher of this rank, and sequences it has answered.

    Returns tokens X (seeds, count, n, d), the direction v (seeds, d, 1) in which tokens are read,
    and clean answers y (seeds, count, n). The teacher's form is scaled to the norm SHARP · d.
    A generator's teacher is always the same if it is freshly seeded.
    """
    parts = []
    for g in generators:
        M = torch.randn(WIDTH, rank, generator=g) @ torch.randn(rank, WIDTH, generator=g)
        v = torch.randn(WIDTH, 1, generator=g)
        X = torch.randn(count, TOKENS, WIDTH, generator=g)
        M, v = SHARP * WIDTH * M / M.norm(), v / v.norm()
        parts.append((X, v, answers(X[None], M[None, None], v[None])[0, 0]))
    return tuple(map(torch.stack, zip(*parts, strict=True)))


def answers(X, M, v):
    """Answers (runs, seeds, count, n) of forms M (runs, seeds, d, d) on X (seeds, count, n, d)."""
    runs, (seeds, count, n, d) = len(M), X.shape
    wide = M.permute(1, 2, 0, 3).reshape(seeds, d, runs * d)
    query = (X.flatten(1, 2) @ wide).reshape(seeds, count, n * runs, d)  # all runs in one product
    weights = softmax(query @ X.mT / math.sqrt(d))
    told = weights @ (X @ v[:, None])
    return told.reshape(seeds, count, n, runs).permute(3, 0, 1, 2)


def compare(students, *, rank, count, seeds, rates=RATES, steps=1000, progress=None):
    """Teach students from `count` sequences; returns a dictionary of `Score`, one for each student.

    `students` maps names to `Student`, `rank` is the teacher's. Each student is trained at each
    rate, and each seed has a teacher and examples of its own. Raises ValueError for a rank, of
    teacher or student, that is not between 1 and WIDTH.
    """
    ranks = {"the teacher": rank} | {name: s.rank for name, s in students.items()}
    for who, width in ranks.items():
        if width is not None and not 1 <= width <= WIDTH:
            raise ValueError(f"{who} has rank {width}; wanted 1 to {WIDTH}, the tokens' width")
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    X, v, clean = examples(generators, rank, count + 2 * UNSEEN)
    noise = NOISE * torch.stack([torch.randn(clean[0].shape, generator=g) for g in generators])
    scale = clean.var((1, 2))
    parts = [count, UNSEEN, UNSEEN]
    (X, X_val, X_test), (y, y_val, _), (_, _, y_test) = (
        part.split(parts, 1) for part in (X, clean + noise, clean))

    runs = [(rate, _fresh(student, seeds)) for student in students.values() for rate in rates]
    picks = torch.Generator().manual_seed(0)

    def forms():
        return torch.stack([_form(p) for _, p in runs])

    def error(M, X, y):
        return ((answers(X, M, v) - y)**2).mean((-1, -2)) / scale

    seen, step = [], 0

    def loss():
        nonlocal step
        if step % -(-steps // LOOKS) == 0:
            look()
        step += 1
        some = torch.randint(count, (BATCH,), generator=picks) if count > BATCH else slice(None)
        return ((answers(X[:, some], forms(), v) - y[:, some])**2).mean((-1, -2)).sum()

    @torch.no_grad()
    def look():
        M = forms()
        seen.append(torch.stack([error(M, X_val, y_val), error(M, X_test, y_test)]))

    groups = [{"params": [part for at, p in runs if at == rate for part in p], "lr": rate}
              for rate in rates]
    fit(loss, groups, steps=steps, lr=rates[0], decay=True, progress=progress)
    look()
    with torch.no_grad():
        own, values = error(forms(), X, y), torch.linalg.svdvals(forms())
    soft = values.sum(-1)**2 / values.square().sum(-1)
    val, test = torch.stack(seen, 1).unflatten(2, (len(students), len(rates)))  # looks, …, seeds
    own, soft = (part.unflatten(0, (len(students), len(rates))) for part in (own, soft))
    return {name: _score(val[:, k], test[:, k], own[k], soft[k], rates)
            for k, name in enumerate(students)}


def _score(val, test, own, soft, rates):
    """The choice for each seed: val and test (looks, rates, seeds), own and soft (rates, seeds)."""
    best = val.flatten(0, 1).argmin(0)
    rate = val[-1].argmin(0)
    pick = [part.gather(0, rate[None])[0].tolist() for part in (test[-1], own, soft)]
    stopped = test.flatten(0, 1).gather(0, best[None])[0].tolist()
    return Score(stopped, pick[0], [rates[k] for k in rate], *pick[1:])


def _fresh(student, seeds):
    """The factors of a student, or its one matrix, before training: (seeds, …) each."""
    generators = [torch.Generator().manual_seed(1_000_000 + seed) for seed in seeds]

    def normal(width, std):
        entries = [torch.randn(WIDTH, width, generator=g) for g in generators]
        return (std * torch.stack(entries)).requires_grad_()

    if student.rank is None:
        return [normal(WIDTH, student.start)]
    std = math.sqrt(student.start) / student.rank**0.25  # so that the product has `start`
    return [normal(student.rank, std), normal(student.rank, std)]


def _form(p):
    return p[0] if len(p) == 1 else p[0] @ p[1].mT
