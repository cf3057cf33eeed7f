"""How a check treats what it is given: stubs, faults, hidden state, and its own text."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from qkvlib import check
from qkvlib.check.cases import random_cases
from qkvlib.check.judge import Misconception, judge

FUNCTION_EXERCISES = [check.attention, check.fold_value_bias, check.query_bias_prior,
                      check.wake_key_bias]
each_exercise = pytest.mark.parametrize("exercise", FUNCTION_EXERCISES, ids=lambda f: f.__name__)


def attend(query, key, value):
    """A right answer, to be spoilt below."""
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value


def raise_not_implemented(*inputs):
    raise NotImplementedError


@each_exercise
@pytest.mark.parametrize("stub", [None, ..., lambda *inputs: None, lambda *inputs: ...,
                                  raise_not_implemented],
                         ids=["None", "...", "returns None", "returns ...", "NotImplementedError"])
def test_a_stub_is_not_attempted(exercise, stub):
    result = exercise(stub)
    assert not result and result.passed is None and result.misconception is None
    assert repr(result).startswith(f"… {exercise.__name__}: not attempted yet")


@each_exercise
@pytest.mark.parametrize("fn", [
    lambda *inputs: 1 / 0, lambda: 0, lambda *inputs: sys.exit(3), lambda *inputs: {}["key"],
    lambda *inputs: undefined_name, lambda *inputs: fails_again(),  # noqa: F821
], ids=["ZeroDivisionError", "arguments", "SystemExit", "KeyError", "NameError", "nested"])
def test_an_exception_is_reported(exercise, fn):
    result = exercise(fn)
    assert not result and result.misconception == "raises an error"
    assert "raises " in repr(result) and "(4, 4)" in repr(result)
    assert repr(result).count("\n") == 1


def test_an_exception_is_named_with_its_message_and_shapes():
    def picky(query, key, value):
        raise ValueError("no such\nthing as <object at 0x7f00deadbeef>")

    assert repr(check.attention(picky)).startswith(
        "✗ attention: raises ValueError: no such thing as <object>, "
        "for query (4, 4), key (4, 4), value (4, 4), float64.\n  ")


@each_exercise
@pytest.mark.parametrize("returned, misconception", [
    ("a string", "not an array of real numbers"),
    (object(), "not an array of real numbers"),
    ([[1.0, 2.0], [3.0]], "not an array of real numbers"),
    (np.array([1j]), "not an array of real numbers"),
    (np.array([True]), "not an array of real numbers"),
    (np.float16(1), "not an array of real numbers"),
    (np.array([np.nan]), "not finite"),
    (np.array([np.inf]), "not finite"),
    (np.zeros((2, 3, 5, 7, 11)), "wrong shape"),
    (1.0, "wrong shape"),
], ids=["text", "object", "ragged", "complex", "boolean", "float16", "NaN", "infinite", "array",
        "scalar"])
def test_what_is_no_answer_is_named(exercise, returned, misconception):
    result = exercise(lambda *inputs: returned)
    assert not result and result.misconception == misconception
    assert "0x" not in repr(result)


@each_exercise
def test_what_is_no_function_is_named(exercise):
    result = exercise(np.ones((3, 3)))
    assert not result and result.misconception == "not a function"


def scale_in_place(query, key, value):
    query /= np.sqrt(query.shape[-1])
    return attend(query * np.sqrt(query.shape[-1]), key, value)


def write_into_value(query, key, value):
    value[:] = value - value.mean()
    return value


def reshape_in_place(query, key, value):
    answer = attend(query, key, value)
    query.shape = (query.size,)
    return answer


@pytest.mark.parametrize("fn", [scale_in_place, write_into_value, reshape_in_place])
def test_changed_inputs_are_named_even_if_the_answer_is_right(fn):
    result = check.attention(fn)
    assert not result and result.misconception == "changes its inputs"


def test_changed_inputs_are_seen_in_torch():
    torch = pytest.importorskip("torch")

    def fn(key, b_Q):
        return torch.softmax(key.mul_(b_Q).sum(-1) / b_Q.numel() ** 0.5, -1)

    assert check.query_bias_prior(fn).misconception == "changes its inputs"
    assert "its input key" in check.query_bias_prior(fn).message


def remembers_its_calls():
    calls = []

    def fn(query, key, value):
        calls.append(1)
        return attend(query, key, value) + 1e-3 * len(calls)
    return fn


def wrong_every_other_time():
    calls = itertools.count()
    return lambda query, key, value: attend(query, key, value) * (-1) ** next(calls)


def lags_one_call_behind():
    last = {}

    def fn(b_V, W_O, b_O):
        answer = last.get(W_O.shape, b_V @ W_O + b_O)
        last[W_O.shape] = b_V @ W_O + b_O
        return answer
    return fn


def returns_its_own_buffer():
    buffers = {}

    def fn(key, b_Q):
        buffer = buffers.setdefault(key.shape[:-1], np.empty(key.shape[:-1]))
        scores = key @ b_Q / np.sqrt(b_Q.size)
        buffer[:] = np.exp(scores)
        buffer /= buffer.sum(-1, keepdims=True)
        return buffer
    return fn


@pytest.mark.parametrize("exercise, fn", [
    (check.attention, remembers_its_calls()),
    (check.attention, wrong_every_other_time()),
    (check.fold_value_bias, lags_one_call_behind()),
    (check.query_bias_prior, returns_its_own_buffer()),
    (check.wake_key_bias, lambda scores: np.random.default_rng().random(scores.shape)),
    (check.wake_key_bias, lambda scores: np.random.default_rng().permuted(scores**2, axis=-1)),
], ids=["counter", "toggle", "stale", "buffer", "random", "shuffled"])
def test_hidden_state_and_chance_are_named(exercise, fn):
    result = exercise(fn)
    assert not result and result.misconception == "not a function of its inputs"


def test_an_answer_may_be_a_view_of_an_input():
    assert check.wake_key_bias(lambda scores: np.abs(scores)[..., ::-1])


# Right for some inputs only: each names what the failing cases share.

def only(condition):
    """`attend` where the condition on (query, key, value) holds, else an error."""
    def fn(query, key, value):
        assert condition(query, key, value)
        return attend(query, key, value)
    return fn


@pytest.mark.parametrize("fn, trait", [
    (only(lambda q, k, v: q.ndim == 2), "there are leading axes"),
    (only(lambda q, k, v: q.shape[-2] == k.shape[-2]), "n ≠ m"),
    (only(lambda q, k, v: q.shape[-1] == v.shape[-1]), "d_k ≠ d_v"),
    (only(lambda q, k, v: q.dtype == np.float64), "the inputs are float32"),
    (only(lambda q, k, v: q.dtype == np.float32), "the inputs are float64"),
    (only(lambda q, k, v: k.size > 3 * k.shape[-1]), "there is a single token"),
    (only(lambda q, k, v: all(x.flags.c_contiguous for x in (q, k, v))),
     "an input is not contiguous"),
])
def test_a_partly_right_answer_hears_where_it_fails(fn, trait):
    result = check.attention(fn)
    assert not result and result.misconception == f"wrong only when {trait}"
    assert "Right on " in result.message and result.message.endswith(f"wrong only when {trait}.")


def test_square_matrices_alone_are_not_enough():
    def lucky(b_V, W_O, b_O):
        return np.reshape(b_V, b_O.shape) @ W_O + b_O  # d_v = d_model only
    assert check.fold_value_bias(lucky).misconception == "wrong only when W_O is not square"


def test_a_second_mistake_does_not_hide_the_first():
    def unscaled_and_flat(query, key, value):  # .T and no scaling
        weights = np.exp(query @ key.T)
        return weights / weights.sum(-1, keepdims=True) @ value
    assert check.attention(unscaled_and_flat).misconception == "no scaling"


def test_an_unknown_mistake_is_measured():
    result = check.attention(lambda query, key, value: attend(query, key, value) + 0.25)
    assert not result and result.misconception is None
    assert "differs from the reference by up to 0.25, for query (4, 4)" in result.message


def test_nothing_is_printed_or_warned(capfd, recwarn):
    def loud(scores):
        print("scores", scores)
        np.log(-1.0 - np.abs(scores))
        return np.exp(scores)
    assert check.wake_key_bias(loud)
    assert capfd.readouterr() == ("", "") and not recwarn.list


def test_an_interrupt_is_not_swallowed():
    def interrupted(*inputs):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        check.attention(interrupted)


ATTEMPTS = """
import numpy as np
from qkvlib import check
def right(q, k, v):
    w = np.exp(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5)
    return w / w.sum(-1, keepdims=True) @ v
for fn in (right, lambda q, k, v: right(q + 1, k, v), lambda q, k, v: right(q, k, v) + 1,
           lambda q, k, v: q.softmax(-1), ...):
    print(check.attention(fn))
print(check.wake_key_bias(lambda s: 1 / (1 + np.exp(-s))))
print(check.fold_value_bias(lambda b_V, W_O, b_O: b_V @ W_O + b_O))
print(check.query_bias_prior(lambda key, b_Q: key))
print(check.three_tokens([["2/11", "3/11", "6/11"], [1 / 2, 1 / 3, 1 / 6], [1 / 3] * 3]))
"""


def transcript(code):
    """What `code` prints in a fresh interpreter in which every warning is an error."""
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True,
                         text=True, encoding="utf-8", cwd=Path(__file__).parents[1],
                         env={**os.environ, "PYTHONHASHSEED": "random", "PYTHONUTF8": "1"})
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_without_torch_all_works_and_the_text_is_the_same_in_every_run():
    code = 'import sys\nsys.modules["torch"] = None\n' + ATTEMPTS
    once = transcript(code)
    assert once == transcript(code) and "0x" not in once
    assert [once.count(f"{mark} ") for mark in "✓✗…"] == [4, 4, 1]
    assert "query bias added" in once and "no attribute 'softmax'" in once


def test_a_right_numpy_answer_never_waits_for_torch():
    loaded = transcript("import sys; from qkvlib import attention, check; "
                        "print(bool(check.attention(attention)), 'torch' in sys.modules)")
    assert loaded == "True False\n"


def test_a_new_exercise_takes_a_few_lines():
    def total(fn):
        cases = random_cases([(set(), {"weights": (n, m)}) for n, m in [(2, 3), (4, 4)]])
        summed = Misconception("summed over queries", "Which axis holds the keys?",
                               lambda weights: weights.sum(-2))
        return judge("total", fn, cases, lambda weights: weights.sum(-1), [summed])

    assert repr(total(lambda weights: weights.sum(-1))) == (
        "✓ total: agrees with the reference on 4 random cases.")
    assert repr(total(lambda weights: weights.sum(0))) == (
        "✗ total: summed over queries.\n  Which axis holds the keys?")
