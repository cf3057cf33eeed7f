"""Run a learner's function on every case, as NumPy or as torch, and come back whatever happens."""

import contextlib
import io
import re
import textwrap
import warnings
from dataclasses import dataclass

import numpy as np

STUB = "unfinished"
RAISES = "raises an error"
MUTATES = "changes its inputs"
UNSTEADY = "not a function of its inputs"

# Far above rounding, far below what any misconception does.
TOLERANCE = {"float64": 1e-5, "float32": 1e-4}


@dataclass(frozen=True)
class Outcome:
    """What came of one call: an answer in float64, or the name and the story of a fault."""

    answer: np.ndarray | None = None
    tolerance: float = 0.0
    fault: str | None = None
    story: str = ""

    def agrees(self, wanted):
        """Whether there is an answer, and it equals `wanted` within the tolerance of its dtype."""
        if self.fault or self.answer.shape != np.shape(wanted):
            return False
        if not np.all(np.isfinite(wanted)):
            return False
        bound = self.tolerance * max(1.0, np.max(np.abs(wanted), initial=0.0))
        return bool(np.all(np.abs(self.answer - wanted) <= bound))


def run(fn, cases):
    """The outcome of `fn` on each case: with NumPy arrays or, if that fails, with torch tensors.

    Each call gets its own copies, is made twice, and is silent: what it prints or warns of
    is dropped, as are floating-point errors, which show in the answer.
    """
    as_numpy = _run(fn, cases, np.asarray)
    if not _raised(as_numpy):
        return as_numpy
    try:
        import torch  # only now: a NumPy solution never waits for it
    except (ImportError, OSError):
        return as_numpy
    as_torch = _run(fn, cases, torch.from_numpy)
    if _raised(as_torch) < _raised(as_numpy):
        return as_torch
    if _raised(as_numpy) == len(cases):  # nobody can tell which of the two was meant
        return [_both(*pair) for pair in zip(as_numpy, as_torch, strict=True)]
    return as_numpy


def _run(fn, cases, wrap):
    calls = [_call(fn, case, wrap) for case in cases]
    # Backwards, so that a function that remembers its last call gives itself away.
    again = [_call(fn, case, wrap)[0] for case in reversed(cases)][::-1]
    return [_steady(*call, repeat) for call, repeat in zip(calls, again, strict=True)]


def _call(fn, case, wrap):
    """One call: its outcome, and what it returned, untouched."""
    given = [wrap(np.copy(array, order="K")) for array in case.inputs.values()]
    try:
        with _quiet():
            returned = fn(*given)
    except NotImplementedError:
        return Outcome(fault=STUB, story="raises NotImplementedError"), None
    except (Exception, SystemExit) as error:
        return Outcome(fault=RAISES, story=f"raises {brief(error)}"), None
    if returned is None or returned is Ellipsis:
        return Outcome(fault=STUB, story=f"returns {returned}"), None
    changed = [name for (name, array), copy in zip(case.inputs.items(), given, strict=True)
               if not np.array_equal(as_array(copy), array)]
    if changed:
        return Outcome(fault=MUTATES, story=f"changes its input {changed[0]}"), None
    return _read(returned, case), returned


def _read(returned, case):
    try:
        answer = as_array(returned)
    except (Exception, SystemExit) as error:
        kind = type(returned).__name__
        return Outcome(fault="not an array of real numbers",
                       story=f"returns something of type {kind} that cannot be read as an array "
                             f"of real numbers ({brief(error)})")
    if not np.all(np.isfinite(answer)):
        kind = "NaN" if np.any(np.isnan(answer)) else "infinite"
        return Outcome(fault="not finite", story=f"gives {kind} entries")
    dtypes = [str(answer.dtype), *(str(array.dtype) for array in case.inputs.values())]
    tolerance = max(TOLERANCE.get(dtype, 0) for dtype in dtypes)
    return Outcome(answer.astype(np.float64), tolerance)


def _steady(outcome, returned, repeat):
    """The outcome, unless the second call disagreed or the first answer has changed since."""
    if outcome.fault or repeat.fault:
        return outcome if outcome.fault else repeat
    if repeat.agrees(outcome.answer) and np.array_equal(as_array(returned), outcome.answer):
        return outcome
    return Outcome(fault=UNSTEADY, story="gives different answers to the same question")


def as_array(returned):
    """A copy, as a NumPy array of real numbers, of an array, a tensor or nested lists of them."""
    array = np.array(_without_torch(returned))
    if array.dtype == object:  # of fractions, say
        array = array.astype(np.float64)
    if array.dtype.kind not in "fiu" or array.dtype == np.float16:
        raise TypeError(f"its dtype is {array.dtype}")
    return array


def _without_torch(returned):
    if isinstance(returned, (list, tuple)):
        return [_without_torch(part) for part in returned]
    if hasattr(returned, "detach"):  # a tensor, perhaps in a graph, perhaps on a device
        return returned.detach().cpu().numpy()
    return returned


def brief(error):
    """An exception on one line, without addresses in memory."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", f"{type(error).__name__}: {error}".rstrip(": "))
    return textwrap.shorten(text, 160, placeholder=" …")


@contextlib.contextmanager
def _quiet():
    with (contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()),
          warnings.catch_warnings(), np.errstate(all="ignore")):
        warnings.simplefilter("ignore")
        yield


def _raised(outcomes):
    return sum(outcome.fault == RAISES for outcome in outcomes)


def _both(as_numpy, as_torch):
    if as_numpy.story == as_torch.story:
        return as_numpy
    return Outcome(fault=RAISES, story=f"{as_numpy.story} (NumPy arrays); "
                                       f"{as_torch.story} (torch tensors)")
