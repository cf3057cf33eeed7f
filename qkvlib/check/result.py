"""What a check answers: passed or not, and why, in one or two lines of plain text."""

from dataclasses import dataclass

MARKS = {True: "✓", False: "✗", None: "…"}


@dataclass(frozen=True, repr=False)
class Result:
    """The answer to one attempt at an exercise; true if the attempt passed.

    Its text is the same in every run, so it can be stored and compared in a notebook.

    Parameters
        passed         True, False, or None while the exercise is not attempted yet.
        exercise       the name of the exercise.
        misconception  the name of what went wrong, if the checker knows one.
        message        what the learner reads: a finding and, on a second line, a hint.
    """

    passed: bool | None
    exercise: str
    misconception: str | None
    message: str

    def __bool__(self):
        return bool(self.passed)

    def __repr__(self):
        return f"{MARKS[self.passed]} {self.exercise}: {self.message}"


def passed(exercise, message):
    """A pass."""
    return Result(True, exercise, None, message)


def failed(exercise, misconception, finding, hint):
    """A failure: what was found, and on its own line a hint that leads on."""
    return Result(False, exercise, misconception, f"{finding}\n  {hint}")


def not_attempted(exercise, message="not attempted yet."):
    """Neither: the exercise is still as the book left it."""
    return Result(None, exercise, None, message)
