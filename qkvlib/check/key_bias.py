"""The exercise `wake_key_bias`: find weights in which a key bias is felt."""

import numpy as np

from ..attention import softmax
from .cases import Case, random_cases
from .judge import fault, refuse
from .result import failed, passed
from .trial import run

EXERCISE = "wake_key_bias"
MOVE = 0.02  # of the largest weight: far above what half precision rounds, below any real effect
ASLEEP = {
    "plain softmax":
        "Numerator and denominator grow by one factor. What if something beside them did not?",
    "softmax at another temperature":
        "A constant stays one when all scores are multiplied: the normaliser has to change.",
    "softmax over some of the keys":
        "The keys that are left are all shifted alike. What could stand in a row unshifted?",
    "blind to shifts":
        "Only differences within a row are used. Which step takes the common part away?",
}


def wake_key_bias(fn):
    """Check `fn(scores)`: weights, other than softmax, in which a key bias does not cancel.

    Shapes: scores (..., n, m), keys on the last axis; `fn` returns weights of the same shape,
    finite and not negative, that depend on the scores alone. NumPy or torch. A key bias adds to
    row i of the scores a constant c_i of its own (b_K · q_i / √d_k): the weights have to move.
    Returns a `Result` that names the reason why they do not, when it knows it.
    """
    early = refuse(EXERCISE, fn)
    if early is not None:
        return early
    rng = np.random.default_rng(1)
    cases = [_on_grid(case) for case in random_cases(_shapes())]
    trials = [*cases, *(_fresh(case, rng) for case in cases),
              *(_shift(case, rng) for case in cases)]
    outcomes = run(fn, trials)
    for find in (fault, _not_weights):
        early = find(EXERCISE, trials, outcomes)
        if early is not None:
            return early
    plain, fresh, shifted = (outcomes[i * len(cases):(i + 1) * len(cases)] for i in range(3))
    if not _moved(plain, fresh):
        return failed(EXERCISE, "ignores the scores", "the weights are the same for any scores.",
                      "Attention without scores attends to nothing in particular: use them.")
    move = _largest_change(plain, shifted)
    if move <= MOVE * max(np.max(outcome.answer) for outcome in plain):
        name = _asleep(cases, plain)
        finding = "moves no weight beyond rounding" if _moved(plain, shifted) else "changes nothing"
        return failed(EXERCISE, name, f"{name}: adding a constant c_i to row i {finding}, "
                                      "so a key bias still cancels.", ASLEEP[name])
    return passed(EXERCISE, _awake(plain, move))


def _shapes():
    for leading in ((), (2,), (2, 3)):
        for n, m in [(4, 4), (3, 6), (7, 2), (2, 1)]:
            yield ({"there are leading axes"} if leading else set()), {"scores": (*leading, n, m)}


def _on_grid(case):
    """The scores in halves, plus 1/16: shifted by halves, they round alike even in bfloat16.

    The sixteenth keeps scores, and sums of up to seven of them, away from zero.
    """
    return Case({"scores": np.floor(2 * case.inputs["scores"]) / 2 + 1 / 16}, case.traits)


def _fresh(case, rng):
    """Other scores of the same shape."""
    scores = case.inputs["scores"]
    return _on_grid(Case({"scores": (2 * rng.standard_normal(scores.shape)).astype(scores.dtype)}))


def _shift(case, rng):
    """What a key bias does: a constant of its own for each row, the same for all keys."""
    scores = case.inputs["scores"]
    constants = np.clip(8 * rng.standard_normal((*scores.shape[:-1], 1)), -20, 20)
    return Case({"scores": scores + (np.round(2 * constants) / 2).astype(scores.dtype)})


def _not_weights(exercise, cases, outcomes):
    """A failure if an answer has the wrong shape or a negative entry, else None."""
    for case, outcome in zip(cases, outcomes, strict=True):
        wanted = case.inputs["scores"].shape
        if outcome.answer.shape != wanted:
            return failed(exercise, "wrong shape",
                          f"returns shape {outcome.answer.shape}, wanted {wanted}, for {case}.",
                          "One weight for each score.")
        if np.any(outcome.answer < 0):
            return failed(exercise, "negative weights",
                          f"gives weights down to {outcome.answer.min():.2g}, for {case}.",
                          "A weight is a share of attention: what keeps it at 0 or above?")
    return None


def _moved(before, after):
    return any(not b.agrees(a.answer) for a, b in zip(before, after, strict=True))


def _largest_change(before, after):
    return max(np.max(np.abs(b.answer - a.answer)) for a, b in zip(before, after, strict=True))


def _awake(plain, move):
    """The message of a pass, which says what else has changed."""
    message = ("the key bias is awake: shifting a row of scores moves its weights "
               f"by up to {move:.2g}.\n  ")
    if all(np.allclose(outcome.answer.sum(-1), 1, atol=1e-4) for outcome in plain):
        return message + "Its rows still sum to 1, so a value bias still passes straight through."
    if all(np.allclose(outcome.answer.sum(-2), 1, atol=1e-4) for outcome in plain):
        return message + ("Its columns sum to 1: the keys share out the queries. Which of b_Q and "
                          "b_K would cancel now?")
    return message + "Its rows no longer sum to 1: can a value bias still be folded away?"


def _asleep(cases, outcomes):
    """The name of the reason why a shift of the rows is not felt."""
    if all(np.allclose(outcome.answer, softmax(case.inputs["scores"]), rtol=0, atol=MOVE)
           for case, outcome in zip(cases, outcomes, strict=True)):
        return "plain softmax"  # in any precision
    slopes = [_slope(case.inputs["scores"].astype(np.float64), outcome.answer)
              for case, outcome in zip(cases, outcomes, strict=True)]
    if None in slopes:
        return "blind to shifts"
    if any(np.any(outcome.answer == 0) for outcome in outcomes):
        return "softmax over some of the keys"
    return "softmax at another temperature"


def _slope(scores, weights):
    """The t for which each row of weights is a softmax of t · scores where it is not 0, or None."""
    kept = weights > 0
    count = np.maximum(kept.sum(-1, keepdims=True), 1)

    def centred(x):
        x = np.where(kept, x, 0.0)
        return np.where(kept, x - x.sum(-1, keepdims=True) / count, 0.0)

    x, y = centred(scores), centred(np.log(np.where(kept, weights, 1.0)))
    if not np.any(x):
        return 1.0  # one key a row: any softmax gives 1
    slope = np.sum(x * y) / np.sum(x * x)
    return slope if np.allclose(y, slope * x, atol=1e-3) else None
