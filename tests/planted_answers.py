"""How answers to an exercise are tried: right ones pass, planted wrong ones hear their name.

Tables hold, for each exercise of `qkvlib.check`, answers by a name of their own.
"""

import numpy as np
import pytest


def cases(table):
    """The answers of a table, as parameters of a test."""
    return [pytest.param(exercise, answer, id=f"{exercise.__name__}-{name}")
            for exercise, answers in table.items() for name, answer in answers.items()]


def passes(exercise, fn):
    """Assert that a right answer passes, written for NumPy arrays and for torch tensors only."""
    for result in (exercise(fn), exercise(in_torch(fn))):
        assert result and result.misconception is None, result
        assert repr(result).startswith(f"✓ {exercise.__name__}: ")


def hears(exercise, name, fn):
    """Assert that a wrong answer is refused, by its name and in one more line."""
    for result in (exercise(fn), exercise(in_torch(fn))):
        assert result.passed is False and result.misconception == name, result
        assert repr(result).startswith(f"✗ {exercise.__name__}: ")
        assert repr(result).count("\n") == 1


def in_torch(fn):
    """`fn` for torch tensors only."""
    torch = pytest.importorskip("torch")

    def wrapped(*tensors):
        answer = fn(*(torch.clone(tensor).numpy() for tensor in tensors))
        return torch.from_numpy(np.ascontiguousarray(answer))
    return wrapped
