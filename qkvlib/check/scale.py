"""The exercise `break_the_scale`: queries and keys for which √d_k is the wrong scale."""

import numpy as np

from .cases import Case
from .judge import fault, refuse
from .result import failed, passed
from .trial import run

EXERCISE = "break_the_scale"
DRAWS = 20_000  # means and variances of single features are then off by a few hundredths at most
FEATURE, PRODUCT = 0.15, 1.25  # tolerance for a feature, factor by which the product has to differ
WIDTHS = (8, 32)


def break_the_scale(fn):
    """Check `fn(noise)`: queries and keys whose product has not the variance d_k.

    Shapes: noise (2, N, d_k), independent standard normal numbers; `fn` returns the pair of
    queries and keys, (2, N, d_k), in which every feature still has mean 0 and variance 1, and is
    made of the noise of its own draw. NumPy or torch.
    Returns a `Result` that names the reason why the scale is still right, when it knows it.
    """
    early = refuse(EXERCISE, fn)
    if early is not None:
        return early
    rng = np.random.default_rng(0)
    cases = [Case({"noise": rng.normal(size=(2, DRAWS, d_k))}) for d_k in WIDTHS]
    outcomes = run(fn, cases)
    early = fault(EXERCISE, cases, outcomes)
    if early is not None:
        return early
    ratios = []
    for case, outcome in zip(cases, outcomes, strict=True):
        noise, pairs = case.inputs["noise"], outcome.answer
        if pairs.shape != noise.shape:
            return failed(EXERCISE, "wrong shape",
                          f"returns shape {pairs.shape}, wanted {noise.shape}, for {case}.",
                          "Queries first, then keys: a pair of arrays, or one array.")
        early = _features(pairs)
        if early is not None:
            return early
        ratios.append((pairs[0] * pairs[1]).sum(-1).var() / noise.shape[-1])
    if not all(ratio > PRODUCT or ratio < 1 / PRODUCT for ratio in ratios):
        return _still_right(cases, outcomes)
    shown = " and ".join(f"{ratio:.2g} d_k at d_k = {d_k}"
                         for ratio, d_k in zip(ratios, WIDTHS, strict=True))
    return passed(EXERCISE, f"every feature has mean 0 and variance 1, and the variance of q · k "
                            f"is {shown}.")


def _features(pairs):
    """A failure if a feature of queries or keys has not mean 0 and variance 1, else None."""
    mean, variance = pairs.mean(1), pairs.var(1)
    if np.any(np.abs(mean) > FEATURE):
        worst = mean.flat[np.abs(mean).argmax()]
        return failed(EXERCISE, "mean not 0", f"a feature has the mean {worst:.2g}, wanted 0.",
                      "Only independence is to be given up: each feature keeps mean 0, variance 1.")
    if np.any(np.abs(variance - 1) > FEATURE):
        worst = variance.flat[np.abs(variance - 1).argmax()]
        return failed(EXERCISE, "variance not 1",
                      f"a feature has the variance {worst:.2g}, wanted 1.",
                      "Only independence is to be given up: each feature keeps mean 0, variance 1.")
    return None


def _still_right(cases, outcomes):
    """A failure that names why the variance of the product is still d_k."""
    name, hint = "still uncorrelated", (
        "The terms q_1 k_1, q_2 k_2, … of the product are uncorrelated. How could they agree?")
    if all(np.array_equal(outcome.answer, case.inputs["noise"])
           for case, outcome in zip(cases, outcomes, strict=True)):
        name, hint = "noise unchanged", (
            "This is the case of the theorem. Which of its conditions could be given up?")
    elif all(_one_repeats(outcome.answer) for outcome in outcomes):
        name, hint = "only one of the two repeats", (
            "Equal features on one side alone leave the terms uncorrelated. And on both sides?")
    return failed(EXERCISE, name, f"{name}: the variance of q · k is still d_k.", hint)


def _one_repeats(pairs):
    """Whether all features are the same number up to sign in the queries or in the keys alone."""
    repeats = [np.allclose(np.abs(part), np.abs(part[:, :1])) and part.std() > 0
               for part in pairs]
    return repeats[0] != repeats[1]
