"""The exercises `least_forms`, by hand, and `tied_vectors`: the two halves of the cycle theorem."""

import numpy as np

from ..forms import cycles, top_map
from .cases import Case
from .judge import fault, refuse
from .result import failed, not_attempted, passed
from .trial import run

# Six maps on four tokens, counted from 1 as in the exercise's text; f sends token i to entry i.
MAPS = {
    "chain": (1, 1, 2, 3),
    "star": (4, 4, 4, 4),
    "each itself": (1, 2, 3, 4),
    "two pairs": (2, 1, 4, 3),
    "chase": (4, 4, 4, 3),
    "round": (2, 3, 1, 1),
}
LEAST = {1: "tied", 2: "symmetric", 3: "free"}  # by the length of the longest cycle


def least_forms(answers):
    """Check, for each map of `MAPS`, the narrowest kind of form that realises it.

    `answers`: a dictionary from the names of the maps to "tied", "symmetric" or "free".
    Returns a `Result` that names the misconception when it knows it.
    """
    exercise = "least_forms"
    if not isinstance(answers, dict) or set(answers) != set(MAPS):
        return failed(exercise, "not an answer for each map", "cannot be read.",
                      f"Give a dictionary with the keys {', '.join(MAPS)}.")
    given = {name: str(answer).strip().lower() for name, answer in answers.items()
             if answer is not None and answer is not Ellipsis and str(answer).strip()}
    if len(given) < len(MAPS):
        return not_attempted(exercise, f"{len(given)} of {len(MAPS)} maps answered so far.")
    if strange := sorted(set(given.values()) - set(LEAST.values())):
        return failed(exercise, "not a kind of form", f"{strange[0]!r} is no kind of form.",
                      "The kinds are tied, symmetric and free.")
    lengths = {name: [len(cycle) for cycle in cycles([j - 1 for j in f])]
               for name, f in MAPS.items()}
    wanted = {name: LEAST[max(of)] for name, of in lengths.items()}
    if given == wanted:
        return passed(exercise, "all six are right: only the length of the longest cycle counts.")
    for name, hint, least in MISTAKES:
        if given == {name: least(of) for name, of in lengths.items()}:
            return failed(exercise, name, f"{name}.", hint)
    right = sum(given[name] == wanted[name] for name in MAPS)
    first = next(name for name in MAPS if given[name] != wanted[name])
    return failed(exercise, None, f"{right} of {len(MAPS)} are right; look again at {first!r}.",
                  "Draw the arrows, and follow them until they come back.")


# Name, hint, and the answer to which the mistake leads, from the lengths of all cycles of a map.
MISTAKES = [
    ("fixed points taken for pairs",
     "A token that attends to itself is a cycle of length one. What does a Gram matrix do best?",
     lambda of: "free" if max(of) > 2 else "symmetric"),
    ("a pair taken for tied",
     "Add up the two inequalities: can s_12 exceed both s_11 and s_22 in a Gram matrix?",
     lambda of: "free" if max(of) > 2 else "tied"),
    ("a pair taken for free",
     "Two tokens that want each other: which single number is to be large?",
     lambda of: "free" if max(of) > 1 else "tied"),
    ("long cycles taken for symmetric",
     "Three tokens in a round: each prefers the next to the last. Add the inequalities up.",
     lambda of: "symmetric" if max(of) > 1 else "tied"),
    ("tokens on cycles counted",
     "How many tokens are on cycles does not matter. What does?",
     lambda of: LEAST[min(sum(of), 3)]),
    ("the kinds turned round",
     "Every tied form is symmetric, and every symmetric form is free. Which is the narrowest?",
     lambda of: LEAST[4 - min(max(of), 3)]),
]


def tied_vectors(fn):
    """Check `fn(f)`: vectors under which token i attends most to token f[i], queries being keys.

    `f` is an array of n whole numbers, counted from 0, whose only cycles are fixed points; `fn`
    returns vectors (n, d), whose products with one another are the scores. NumPy or torch; any
    vectors will do. Returns a `Result` that names the misconception when it knows it.
    """
    exercise = "tied_vectors"
    early = refuse(exercise, fn)
    if early is not None:
        return early
    cases = _forests()
    outcomes = run(fn, cases)
    early = fault(exercise, cases, outcomes)
    if early is not None:
        return early
    for case, outcome in zip(cases, outcomes, strict=True):
        f = case.inputs["f"].tolist()
        if outcome.answer.ndim != 2 or len(outcome.answer) != len(f):
            return failed(exercise, "wrong shape",
                          f"returns shape {outcome.answer.shape} for {len(f)} tokens.",
                          "One vector a token: (n, d).")
        scores = outcome.answer @ outcome.answer.T
        # Rounding must not decide who is first; it grows with the lengths of the two vectors.
        length = np.linalg.norm(outcome.answer, axis=1, keepdims=True)
        scale = np.maximum(length * length.max(), np.finfo(float).tiny)
        found = top_map(np.round(scores / scale, 12))
        if list(found) != f:
            name, hint = _why(f, found, np.diagonal(scores))
            return failed(exercise, name, f"f = {f}: the greatest scores stand at "
                                          f"{list(found)}.", hint)
    return passed(exercise, f"realises all of {len(cases)} random maps.")


def _forests():
    """Random maps whose only cycles are fixed points: each token wants an earlier one, or itself.

    Then the tokens are shuffled. Two are fixed: a star and a long chain, where the longest paths
    and the most rivals are.
    """
    rng = np.random.default_rng(0)
    maps = [np.array([0, 0, 0, 0, 0]), np.array([0, 0, 1, 2, 3, 4])]
    for n in (1, 2, 3, 3, 4, 4, 5, 6, 7, 7):
        f, names = [rng.integers(i + 1) for i in range(n)], rng.permutation(n)
        shuffled = np.empty(n, dtype=int)
        shuffled[names] = names[f]
        maps.append(shuffled)
    return [Case({"f": f}) for f in maps]


def _why(f, found, norms):
    """What went wrong, from the first map that is not realised."""
    wrong = [i for i in range(len(f)) if found[i] != f[i]]
    if np.allclose(norms, norms[0]):
        return ("equal lengths", "Among vectors of one length each is closest to itself. Which "
                                 "token's vector must be the longer one, i's or f(i)'s?")
    if all(found[i] is None for i in wrong):
        return "a tie", "Two scores share the first place. What could make one of them smaller?"
    if all(found[i] == i for i in wrong):
        return ("the token itself wins", "The score with itself is the squared length. How much "
                                         "longer than i's must the vector of f(i) be?")
    if all(norms[f[i]] < norms[i] for i in range(len(f)) if f[i] != i):
        return "lengths fall", "From each token to the one it wants, do the vectors get longer?"
    if all(found[i] in _path(f, i) for i in wrong):
        return ("the end of the path wins", "Vectors far down the path are longest. What if i "
                                            "shared a direction with f(i) alone?")
    return None, "Take three tokens in a chain, and compute their nine products by hand."


def _path(f, i):
    """The tokens to which the map leads from i."""
    path = [f[i]]
    while f[path[-1]] != path[-1]:
        path.append(f[path[-1]])
    return path
