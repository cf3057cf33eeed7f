"""Judge answers by name: several questions of one exercise, each with one number or word."""

from fractions import Fraction

from .result import failed, not_attempted, passed
from .trial import brief


def by_name(exercise, answers, right, mistakes, *, otherwise, tolerance=1e-3):
    """The `Result` for `answers`, a dictionary with the keys of `right`.

    A question whose right answer is a word takes words, in any case; another one takes numbers, or
    fractions as text, within `tolerance` (above 1, relative to the number). `mistakes` are tuples:
    question, wrong answer, name, hint. The first question that is wrong is spoken of, with the hint
    `otherwise` if no mistake explains it.
    """
    if not isinstance(answers, dict) or set(answers) != set(right):
        return failed(exercise, "not an answer for each question", "cannot be read.",
                      f"Give a dictionary with the keys {', '.join(right)}.")
    given = {name: answer for name, answer in answers.items()
             if answer is not None and answer is not Ellipsis}
    if len(given) < len(right):
        return not_attempted(exercise, f"{len(given)} of {len(right)} questions answered so far.")
    try:
        given = {name: _read(answer, right[name]) for name, answer in given.items()}
    except Exception as error:  # whatever was handed in, the notebook goes on
        return failed(exercise, "not a number", f"cannot be read: {brief(error)}.",
                      "Give plain numbers.")

    def same(name, value):
        if isinstance(value, str):
            return given[name] == value
        return abs(given[name] - value) <= tolerance * max(1, abs(value))

    wrong = [name for name in right if not same(name, right[name])]
    if not wrong:
        return passed(exercise, f"all {len(right)} are right.")
    first = wrong[0]
    finding = f"{len(right) - len(wrong)} of {len(right)} are right; look again at {first!r}"
    for name, value, mistake, hint in mistakes:
        if name == first and same(name, value):
            return failed(exercise, mistake, f"{finding}: {mistake}.", hint)
    return failed(exercise, None, f"{finding}.", otherwise)


def _read(answer, right):
    if isinstance(right, str):
        return str(answer).strip().lower()
    return float(Fraction(answer) if isinstance(answer, str) else answer)
