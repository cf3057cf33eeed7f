"""Judge a learner's function: against the reference, and against functions known to be wrong."""

import numpy as np

from .result import failed, not_attempted, passed
from .trial import MUTATES, RAISES, STUB, UNSTEADY, run

HINTS = {
    STUB: "Some inputs are not dealt with yet: is there a way through without a return?",
    MUTATES: "Whoever calls the function may still need its inputs: build new arrays instead.",
    UNSTEADY: "It draws random numbers, remembers earlier calls, or returns an array that it "
              "writes into again.",
    RAISES: "Call it by hand on arrays of these shapes and look at each step.",
    "not finite": "Look at each step by hand: which one divides by zero or overflows?",
    "not an array of real numbers": "Return one array of float64 or float32 numbers.",
    "wrong shape": "Follow the axes by hand: which one is summed over, which one stays?",
}


class Misconception:
    """A way to be wrong that has a name: `wrong` are functions that answer like that.

    The hint asks the question that leads on, and does not contain the solution.
    """

    def __init__(self, name, hint, *wrong):
        self.name, self.hint, self.wrong = name, hint, wrong

    def explains(self, cases, outcomes, wanted):
        """Whether one of the wrong functions gives all of the learner's answers."""
        return any(_same(wrong, cases, outcomes, wanted) for wrong in self.wrong)


def judge(exercise, fn, cases, reference, misconceptions):
    """The `Result` for `fn`, which passes if it agrees with `reference` on every case.

    `reference` and the functions of `misconceptions` take the inputs of a case, in float64.
    Of several misconceptions that explain the answers the first is named; an answer that none
    explains is described by its largest error and by what the failing cases share.
    """
    early = refuse(exercise, fn)
    if early is not None:
        return early
    outcomes = run(fn, cases)
    early = fault(exercise, cases, outcomes, only=(MUTATES, UNSTEADY))
    if early is not None:
        return early
    wanted = [reference(*in_float64(case)) for case in cases]
    right = [outcome.agrees(answer) for outcome, answer in zip(outcomes, wanted, strict=True)]
    if all(right):
        return passed(exercise, f"agrees with the reference on {len(cases)} random cases.")
    for misconception in misconceptions:
        if misconception.explains(cases, outcomes, wanted):
            name, hint = misconception.name, misconception.hint
            return failed(exercise, name, f"{name}.", hint)
    return _describe(exercise, cases, outcomes, wanted, right)


def refuse(exercise, fn):
    """A Result for what is no function at all, else None."""
    if fn is None or fn is Ellipsis:
        return not_attempted(exercise)
    if not callable(fn):
        return failed(exercise, "not a function", f"got {type(fn).__name__}, wanted a function.",
                      f"Pass the function itself, uncalled: check.{exercise}(my_function).")
    return None


def fault(exercise, cases, outcomes, *, only=None):
    """A Result for the first case that came to no answer, else None; `only` these faults."""
    if all(outcome.fault == STUB for outcome in outcomes):
        return not_attempted(exercise, f"not attempted yet (the function {outcomes[0].story}).")
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.fault and (only is None or outcome.fault in only):
            return failed(exercise, outcome.fault, f"{outcome.story}, for {case}.",
                          HINTS[outcome.fault])
    return None


def in_float64(case):
    """The inputs of a case, in the precision in which answers are compared."""
    return [array.astype(np.float64) for array in case.inputs.values()]


def _same(wrong, cases, outcomes, wanted):
    """Whether `wrong` answers like the learner wherever there is an answer, and unlike us once."""
    told_apart = False
    for case, outcome, right in zip(cases, outcomes, wanted, strict=True):
        if outcome.fault:
            continue  # a second mistake must not hide the first
        try:
            with np.errstate(all="ignore"):
                answer = wrong(*in_float64(case))
        except ValueError:  # the shapes of this case do not let one be wrong in this way
            return False
        if not outcome.agrees(answer):
            return False
        told_apart = told_apart or not outcome.agrees(right)
    return told_apart


def _describe(exercise, cases, outcomes, wanted, right):
    """A failure without a name of its own: the first failing case, and what such cases share."""
    first = right.index(False)
    case, outcome, answer = cases[first], outcomes[first], wanted[first]
    misconception, hint = outcome.fault, HINTS.get(outcome.fault, "")
    if outcome.fault:
        finding = f"{outcome.story}, for {case}."
    elif outcome.answer.shape != answer.shape:
        misconception = "wrong shape"
        finding = f"returns shape {outcome.answer.shape}, wanted {answer.shape}, for {case}."
        hint = HINTS[misconception]
    else:
        error = np.max(np.abs(outcome.answer - answer))
        finding = f"differs from the reference by up to {error:.2g}, for {case}."
    if any(right):
        hint = f"Right on {sum(right)} of {len(cases)} cases."
        if trait := _shared(cases, right):
            misconception = f"wrong only when {trait}"
            hint = f"{hint[:-1]}, {misconception}."
    else:
        hint = hint or "Take small arrays and compare each step with the formula by hand."
    return failed(exercise, misconception, finding, hint)


def _shared(cases, right):
    """The rarest trait that all failing cases have, or None."""
    failing = [case.traits for case, good in zip(cases, right, strict=True) if not good]
    shared = frozenset.intersection(*failing)
    return min(sorted(shared), default=None,
               key=lambda trait: sum(trait in case.traits for case in cases))
