"""The exercise `three_tokens`: attention weights by hand, with a key bias."""

from fractions import Fraction

import numpy as np

from ..attention import softmax
from .result import failed, not_attempted, passed
from .trial import as_array, brief

EXERCISE = "three_tokens"

# The book's example: X = [[1, 0], [0, 1], [1, 1]], W_Q = (1, −1)ᵀ, W_K = (ln 2, ln 3)ᵀ, d_k = 1.
QUERY = np.array([1.0, -1.0, 0.0])
KEY = np.log([2.0, 3.0, 6.0])
KEY_BIAS = np.log(5.0)


def three_tokens(weights):
    """Check the 3 × 3 weights of the three-token example with the key bias b_K = ln 5.

    `weights`: three rows of three entries, one row for each query; entries are fractions
    (`Fraction(1, 2)` or "1/2") or numbers right to three decimals; lists, arrays or tensors.
    Returns a `Result` that names the misconception when it knows it.
    """
    try:
        weights = _lists(weights)
        missing = _missing(weights)
        if missing is not None:
            return missing
        table = as_array(_numbers(weights)).astype(np.float64)
    except Exception as error:  # whatever was handed in, the notebook goes on
        return failed(EXERCISE, "not a table of numbers", f"cannot be read: {brief(error)}.",
                      'Give three rows of three numbers; a fraction may be written as "1/2".')
    if table.shape != (3, 3):
        return failed(EXERCISE, "wrong shape", f"has shape {table.shape}, wanted (3, 3).",
                      "One row for each query, one column for each key.")
    wanted = softmax(_scores(QUERY, KEY + KEY_BIAS))
    right = _agree(table, wanted)
    if np.all(right):
        return passed(EXERCISE, "all nine weights are right: they are those without a key bias.")
    if np.all(_agree(table, wanted, decimals=2)):
        return failed(EXERCISE, "rounded too early", "right to two decimals.",
                      "Give three decimals or, better, the fractions themselves.")
    for name, hint, tables in _misconceptions():
        if any(np.all(_agree(table, wrong)) for wrong in tables):
            return failed(EXERCISE, name, f"{name}.", hint)
    count = int(right.sum())
    rows = [str(i + 1) for i in range(3) if not np.all(right[i])]
    return failed(EXERCISE, None,
                  f"{count} of 9 weights are right; look again at row {' and '.join(rows)}.",
                  "e to the power of a logarithm is a plain number, so each row is a short sum.")


def _missing(weights):
    """A Result for a table that is not filled in yet, else None."""
    if weights is None or weights is Ellipsis:
        return not_attempted(EXERCISE)
    if isinstance(weights, (list, tuple)):
        entries = [entry for row in weights
                   for entry in (row if isinstance(row, (list, tuple)) else [row])]
        filled = sum(not _is_blank(entry) for entry in entries)
        if not filled:
            return not_attempted(EXERCISE)
        if filled < len(entries):
            return not_attempted(EXERCISE, f"{filled} of {len(entries)} entries filled in so far.")
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


def _scores(query, key):
    return np.outer(query, key)


def _misconceptions():
    """Name, hint and the tables that come of it, the likeliest first."""
    biased = _scores(QUERY, KEY + KEY_BIAS)
    plain = _scores(QUERY, KEY)
    weights = softmax(plain)
    yield ("exponentials not normalised",
           "These are the right proportions. What does each row have to sum to?",
           [np.exp(biased), np.exp(plain)])
    yield ("scores instead of weights",
           "These are the scores. What does softmax do with a row of them?",
           [biased, plain])
    yield ("columns normalised",
           "Each query shares out a total of 1 among the keys: which entries belong together?",
           [softmax(biased, axis=0), softmax(plain, axis=0)])
    yield ("query and key swapped",
           "Rows belong to queries here: row i says whom token i reads.",
           [weights.T, softmax(biased.T)])
    yield ("key bias added after the softmax",
           "The bias is part of the key, so it enters before the exponential. What happens then?",
           [weights + KEY_BIAS, (weights + KEY_BIAS) / (1 + 3 * KEY_BIAS), 5 * weights,
            np.exp(biased) / np.exp(plain).sum(-1, keepdims=True)])
    yield ("key bias added to one key only",
           "A bias is the same for every token. Which keys does b_K reach?",
           [softmax(_scores(QUERY, KEY + KEY_BIAS * np.eye(3)[j])) for j in range(3)])
    yield ("query bias instead of key bias",
           "Which of the two vectors in q · k does b_K belong to?",
           [softmax(_scores(QUERY + KEY_BIAS, KEY)),
            softmax(_scores(QUERY + KEY_BIAS, KEY + KEY_BIAS))])
    yield ("logarithm of a sum",
           "ln 2 + ln 5 is the logarithm of which number?",
           [softmax(_scores(QUERY, np.log(np.exp(KEY) + 5)))])
    yield ("sign of the query forgotten",
           "The second token's query is −1. What is e to the power of −ln 2?",
           [softmax(_scores(np.abs(QUERY), KEY))])
    yield ("key bias multiplied",
           "The bias is added to a key, not multiplied with it.",
           [softmax(_scores(QUERY, KEY * KEY_BIAS))])
    yield ("uniform weights",
           "Only a query of zero finds all keys alike. Which token has that one?",
           [np.full((3, 3), 1 / 3)])
