"""Check a table that was computed by hand: three rows of three weights, as fractions or numbers."""

from fractions import Fraction

import numpy as np

from .result import failed, not_attempted, passed
from .trial import as_array, brief


def check_table(exercise, weights, wanted, misconceptions, *, praise, hint, entries="weights",
                axes="One row for each query, one column for each key."):
    """The `Result` for a table of weights or other entries, which passes if it is `wanted`, (3, 3).

    `misconceptions` yields a name, a hint and the tables that come of it, the likeliest first.
    `praise` follows a pass; `hint` helps where no misconception explains the table.
    """
    try:
        weights = _lists(weights)
        missing = _missing(exercise, weights)
        if missing is not None:
            return missing
        table = as_array(_numbers(weights)).astype(np.float64)
    except Exception as error:  # whatever was handed in, the notebook goes on
        return failed(exercise, "not a table of numbers", f"cannot be read: {brief(error)}.",
                      'Give three rows of three numbers; a fraction may be written as "1/2".')
    if table.shape != (3, 3):
        return failed(exercise, "wrong shape", f"has shape {table.shape}, wanted (3, 3).", axes)
    right = _agree(table, wanted)
    if np.all(right):
        return passed(exercise, f"all nine {entries} are right: {praise}")
    if np.all(_agree(table, wanted, decimals=2)):
        return failed(exercise, "rounded too early", "right to two decimals.",
                      "Give three decimals or, better, the fractions themselves.")
    for name, question, tables in misconceptions:
        if any(np.all(_agree(table, wrong)) for wrong in tables):
            return failed(exercise, name, f"{name}.", question)
    count = int(right.sum())
    rows = [str(i + 1) for i in range(3) if not np.all(right[i])]
    return failed(exercise, None,
                  f"{count} of 9 {entries} are right; look again at row {' and '.join(rows)}.",
                  hint)


def _missing(exercise, weights):
    """A Result for a table that is not filled in yet, else None."""
    if weights is None or weights is Ellipsis:
        return not_attempted(exercise)
    if isinstance(weights, (list, tuple)):
        entries = [entry for row in weights
                   for entry in (row if isinstance(row, (list, tuple)) else [row])]
        filled = sum(not _is_blank(entry) for entry in entries)
        if not filled:
            return not_attempted(exercise)
        if filled < len(entries):
            return not_attempted(exercise, f"{filled} of {len(entries)} entries filled in so far.")
    return None


def _is_blank(entry):
    return entry is None or entry is Ellipsis or isinstance(entry, float) and np.isnan(entry)


def _lists(entry):
    """Arrays and tensors, of whatever precision and content, as lists, however deep they stand."""
    if isinstance(entry, (list, tuple)):
        return [_lists(part) for part in entry]
    if hasattr(entry, "detach"):  # a tensor, perhaps in a graph, perhaps on a device
        entry = entry.detach().cpu()
    return entry.tolist() if hasattr(entry, "tolist") else entry


def _numbers(entry):
    """The entry with "1/2" read as a fraction, however deep in lists it stands."""
    if isinstance(entry, (list, tuple)):
        return [_numbers(part) for part in entry]
    return Fraction(entry.replace(" ", "")) if isinstance(entry, str) else entry


def _agree(table, wanted, decimals=3):
    """Entry by entry: equal to one unit of the last decimal or, above 1, of the last digit."""
    return np.abs(table - wanted) <= 10.0**-decimals * np.maximum(1, np.abs(wanted))
