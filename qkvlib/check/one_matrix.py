"""The exercise `one_matrix`: solve the market with W_Q and a readout, keys and values being X."""

import numpy as np

from ..attention import softmax
from .result import failed, not_attempted, passed
from .trial import as_array, brief

EXERCISE = "one_matrix"
IDS, TOKENS, DRAWS = 12, 6, 50


def one_matrix(W_Q, W_O):
    """Check W_Q (36, 36) and W_O (36, 12): softmax(X W_Q Xᵀ / 6) X W_O has to solve the market.

    A token of the market is [name | wants | value], three one-hot vectors of 12 times √12. All
    answers have to be right, on random maps. Arrays, tensors or nested lists.
    Returns a `Result` that says what goes wrong when it knows it.
    """
    if any(part is None or part is Ellipsis for part in (W_Q, W_O)):
        return not_attempted(EXERCISE)
    try:
        W_Q, W_O = (as_array(part).astype(np.float64) for part in (W_Q, W_O))
    except Exception as error:  # whatever was handed in, the notebook goes on
        return failed(EXERCISE, "not matrices of numbers", f"cannot be read: {brief(error)}.",
                      "Give two arrays, W_Q (36, 36) and W_O (36, 12).")
    if (W_Q.shape, W_O.shape) != ((3 * IDS, 3 * IDS), (3 * IDS, IDS)):
        return failed(EXERCISE, "wrong shape", f"has shapes {W_Q.shape} and {W_O.shape}.",
                      "W_Q is (36, 36), so that X can be the key; W_O is (36, 12).")
    if not (np.all(np.isfinite(W_Q)) and np.all(np.isfinite(W_O))):
        return failed(EXERCISE, "not finite", "some entry is NaN or infinite.",
                      "Large numbers are allowed, infinite ones are not.")
    rng = np.random.default_rng(0)
    name, wanted, value = draw(rng)
    x = np.concatenate([_one_hot(part) for part in
                        (name, np.take_along_axis(name, wanted, -1), value)], -1) * np.sqrt(IDS)
    weights = softmax(x @ W_Q @ x.swapaxes(-1, -2) / np.sqrt(3 * IDS))
    looks = _right(weights, wanted)
    answers = _right(weights @ x @ W_O, np.take_along_axis(value, wanted, -1))
    if answers == 1:
        return passed(EXERCISE, f"all {DRAWS * TOKENS} answers are right, with one matrix and a "
                                "readout. Keys and values are the tokens themselves.")
    why, hint = _why(W_Q, weights, wanted, looks)
    return failed(EXERCISE, why, f"{answers:.0%} of the answers and {looks:.0%} of the looks are "
                                 "right.", hint)


def draw(rng):
    """Names, wanted positions and values of many sequences, (draws, tokens) each."""
    name = rng.permuted(np.tile(np.arange(IDS), (DRAWS, 1)), axis=1)[:, :TOKENS]
    return name, *(rng.integers(top, size=(DRAWS, TOKENS)) for top in (TOKENS, IDS))


def _one_hot(numbers):
    return np.eye(IDS)[numbers]


def _right(guesses, truth):
    """The share of right guesses; one that ties with another does not count."""
    best = guesses.max(-1, keepdims=True)
    alone = (guesses >= best - 1e-9 * np.maximum(1, abs(best))).sum(-1) == 1
    return np.mean(alone & (guesses.argmax(-1) == truth))


def _why(W_Q, weights, wanted, looks):
    """The name of a fault and a question that leads on."""
    own = np.arange(TOKENS)
    back = wanted[:, None, :] == own[:, None]  # entry i, j: j wants i
    asked = back.any(-1)
    if np.ptp(weights) < 1e-6:
        return "uniform weights", "All tokens get the same weight. Where do the scores come from?"
    if np.mean(weights.argmax(-1) == own) > 0.95:
        return "reads itself", "Each token finds itself. Which part should meet which other part?"
    if np.mean(np.take_along_axis(back, weights.argmax(-1)[..., None], -1)[..., 0][asked]) > 0.95:
        return ("wants and name swapped",
                "Each token reads one that wants it. Which part of X does W_Q take, and where to?")
    if looks == 1 and weights.max(-1).min() < 0.5:
        return ("scores too small", "The right token is first, but only just: what makes a row of "
                                    "weights sharper?")
    if looks == 1:
        return ("readout of the wrong part", "The right token is read. Which of its three parts is "
                                             "the answer?")
    if np.allclose(W_Q, W_Q.T):
        return "a symmetric form", "Then j scores i as i scores j. Which block leads one way only?"
    return None, "Print the weights of one sequence beside who wants whom."
