"""The exercises of the first chapter: right answers pass, planted wrong ones hear their name."""

from fractions import Fraction as F
from math import exp, log, sqrt

import numpy as np
import pytest

from qkvlib import attention, check
from qkvlib.check import block, by_hand, gauge, kernel

# Of the book's three tokens: e to the q_i k_j is 2, 3, 6, their inverses, or 1; here all squared.
ROWS = [[F(4, 49), F(9, 49), F(36, 49)], [F(9, 14), F(2, 7), F(1, 14)], [F(1, 3)] * 3]
PLAIN = [[F(2, 11), F(3, 11), F(6, 11)], [F(1, 2), F(1, 3), F(1, 6)], [F(1, 3)] * 3]
Q, K = [1, -1, 0], [log(2), log(3), log(6)]


def softmax(scores, axis=-1):
    exps = np.exp(scores - scores.max(axis, keepdims=True))
    return exps / exps.sum(axis, keepdims=True)


def squares(query, key):
    return ((query[..., :, None, :] - key[..., None, :, :]) ** 2).sum(-1)


def regression(query, key, value, log_kernel=lambda square, d: -square / (2 * sqrt(d))):
    return softmax(log_kernel(squares(query, key), query.shape[-1])) @ value


def longer(query, key, value, coordinate=lambda square: -square / 2, scale=True):
    """By attention, with a coordinate more."""
    query = np.concatenate([query, 1 + 0 * query[..., :1]], -1)
    scale = 1 / sqrt(key.shape[-1]) if scale else None
    key = np.concatenate([key, coordinate((key**2).sum(-1, keepdims=True))], -1)
    return attention(query, key, value, scale=scale)


def penalised(query, key, value):
    """By attention, with the squared lengths as an additive bias."""
    bias = -(key**2).sum(-1) / (2 * sqrt(key.shape[-1]))
    return attention(query, key, value, bias=bias[..., None, :])


def by_loops(query, key, value):
    if query.ndim > 2:
        return [by_loops(*parts) for parts in zip(query, key, value, strict=True)]
    rows = []
    for q in query:
        shares = [exp(-sum((q - k) ** 2) / (2 * len(q) ** 0.5)) for k in key]
        rows.append(sum(s * v for s, v in zip(shares, value, strict=True)) / sum(shares))
    return rows


def norm(x, axis=-1):
    return (x - x.mean(axis, keepdims=True)) / x.std(axis, keepdims=True)


def step(x, W_Q, W_K, W_V, W_O, before=norm):
    u = before(x)
    return x + attention(u @ W_Q, u @ W_K, u @ W_V) @ W_O


def step_by_loops(x, W_Q, W_K, W_V, W_O):
    if x.ndim > 2:
        return [step_by_loops(part, W_Q, W_K, W_V, W_O) for part in x]
    seen = [(t - sum(t) / len(t)) / sqrt(sum((t - sum(t) / len(t)) ** 2) / len(t)) for t in x]
    rows = []
    for token, u in zip(x, seen, strict=True):
        scores = np.array([(u @ W_Q) @ (other @ W_K) for other in seen]) / sqrt(W_K.shape[1])
        mixed = sum(a * (other @ W_V) for a, other in zip(softmax(scores), seen, strict=True))
        rows.append(token + mixed @ W_O)
    return rows


def step_by_products(x, W_Q, W_K, W_V, W_O):
    """A LayerNorm as libraries have it, with a small number in the root, and the two products."""
    centred = x - x.mean(-1, keepdims=True)
    u = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    scores = u @ (W_Q @ W_K.T) @ u.swapaxes(-1, -2) / sqrt(W_Q.shape[1])
    return softmax(scores) @ u @ (W_V @ W_O) + x


def pair(query, key):
    return np.stack([query, key])


RIGHT = {
    check.kernel_regression: {
        "distances": regression, "coordinate": longer, "bias": penalised, "loops": by_loops,
        "shifted coordinate": lambda q, k, v: longer(q, k, v, lambda square: 7 - square / 2)},
    check.attention_step: {
        "attention": step, "loops": step_by_loops, "products": step_by_products,
        "float32": lambda *arrays: step(*(array.astype(np.float32) for array in arrays))},
    check.same_head: {
        "inverse": lambda W_Q, W_K, G: W_K @ np.linalg.inv(G).T,
        "solve": lambda W_Q, W_K, G: np.linalg.solve(G, W_K.T).T,
        "pinv": lambda W_Q, W_K, G: (np.linalg.pinv(W_Q @ G) @ W_Q @ W_K.T).T,
        "lstsq": lambda W_Q, W_K, G: np.linalg.lstsq(W_Q @ G, W_Q @ W_K.T, rcond=None)[0].T},
    check.break_the_scale: {
        "key is query": lambda noise: pair(noise[0], noise[0]),
        "one number": lambda noise: pair(*np.broadcast_to(noise[..., :1], noise.shape)),
        "signs": lambda noise: pair(np.sign(noise[0]), np.sign(noise[0])),
        "shared": lambda noise: (noise + noise[..., :1]) / np.where(
            np.arange(noise.shape[-1]) > 0, sqrt(2), 2),
        "list": lambda noise: [noise[0], -noise[0]]},
}

WRONG = {
    check.kernel_regression: {
        "plain": ("lengths of the keys forgotten", attention),
        "wide scale": ("scaled by the longer width", lambda q, k, v: longer(q, k, v, scale=None)),
        "no half": ("half forgotten", lambda q, k, v: longer(q, k, v, lambda square: -square)),
        "plus": ("sign flipped", lambda q, k, v: longer(q, k, v, lambda square: square / 2)),
        "attracted": ("sign flipped", lambda q, k, v: regression(
            q, k, v, lambda square, d: square / (2 * sqrt(d)))),
        "root": ("length not squared", lambda q, k, v: longer(
            q, k, v, lambda square: -np.sqrt(square) / 2)),
        "Laplace": ("distance not squared", lambda q, k, v: regression(
            q, k, v, lambda square, d: -np.sqrt(square) / (2 * sqrt(d)))),
        "width 1": ("another width of the kernel", lambda q, k, v: regression(
            q, k, v, lambda square, d: -square / 2)),
        "width d": ("another width of the kernel", lambda q, k, v: regression(
            q, k, v, lambda square, d: -square / (2 * d))),
        "nearest": ("nearest key alone", lambda q, k, v: np.take_along_axis(
            v, squares(q, k).argmin(-1)[..., None], -2)),
        "mean": ("uniform weights", lambda q, k, v: v.mean(-2, keepdims=True) + 0 * q[..., :1]),
        "weights": ("value forgotten", lambda q, k, v: softmax(
            -squares(q, k) / (2 * sqrt(q.shape[-1])))),
        "one row": ("wrong shape", lambda q, k, v: v.mean(-2)),
    },
    check.attention_step: {
        "no way round": ("residual connection forgotten",
                         lambda x, *W: step(x, *W) - x),
        "norm goes round": ("normalised tokens added", lambda x, *W: step(x, *W) - x + norm(x)),
        "no norm": ("norm forgotten", lambda x, *W: step(x, *W, before=lambda x: x)),
        "post-norm": ("norm after the sum",
                      lambda x, *W: norm(step(x, *W, before=lambda x: x))),
        "raw values": ("values not normalised", lambda x, W_Q, W_K, W_V, W_O: x + attention(
            norm(x) @ W_Q, norm(x) @ W_K, x @ W_V) @ W_O),
        "axis -2": ("norm over the tokens",
                    lambda x, *W: step(x, *W, before=lambda x: norm(x, -2)) if x.shape[-2] > 1
                    else np.full_like(x, np.nan)),
        "RMSNorm": ("mean not taken off", lambda x, *W: step(
            x, *W, before=lambda x: x / np.sqrt((x**2).mean(-1, keepdims=True)))),
        "centred": ("spread not divided out", lambda x, *W: step(
            x, *W, before=lambda x: x - x.mean(-1, keepdims=True))),
        "variance": ("divided by the variance", lambda x, *W: step(
            x, *W, before=lambda x: norm(x) / x.std(-1, keepdims=True))),
        "n - 1": ("spread of a sample", lambda x, *W: step(
            x, *W, before=lambda x: norm(x) * sqrt((x.shape[-1] - 1) / x.shape[-1]))),
        "no W_O": ("output projection forgotten", lambda x, W_Q, W_K, W_V, W_O: x + attention(
            norm(x) @ W_Q, norm(x) @ W_K, norm(x) @ W_V) if W_V.shape[1] == x.shape[-1] else 1 / 0),
        "transposed": ("wrong shape", lambda x, *W: step(x, *W).swapaxes(-1, -2)[..., :1]),
    },
    check.same_head: {
        "inverse": ("transpose of the inverse forgotten",
                    lambda W_Q, W_K, G: W_K @ np.linalg.inv(G)),
        "solve": ("transpose of the inverse forgotten",
                  lambda W_Q, W_K, G: np.linalg.solve(G.T, W_K.T).T),
        "transpose": ("inverse forgotten", lambda W_Q, W_K, G: W_K @ G.T),
        "same": ("inverse forgotten", lambda W_Q, W_K, G: W_K @ G),
        "unchanged": ("keys left as they were", lambda W_Q, W_K, G: W_K.copy()),
        "of W_Q": ("query weights taken", lambda W_Q, W_K, G: W_Q @ G),
        "form": ("form returned", lambda W_Q, W_K, G: W_Q @ W_K.T),
        "minus": ("sign flipped", lambda W_Q, W_K, G: -W_K @ np.linalg.inv(G).T),
        "entries": ("entries inverted, not the matrix", lambda W_Q, W_K, G: W_K @ (1 / G.T)),
    },
    check.break_the_scale: {
        "noise": ("noise unchanged", lambda noise: noise.copy()),
        "rotated": ("still uncorrelated", lambda noise: noise[..., ::-1]),
        "coins": ("still uncorrelated", np.sign),
        "query repeats": ("only one of the two repeats",
                          lambda noise: pair(0 * noise[0] + noise[0, :, :1], noise[1])),
        "key repeats": ("only one of the two repeats",
                        lambda noise: pair(noise[0], 0 * noise[1] + noise[1, :, :1])),
        "larger": ("variance not 1", lambda noise: 3 * noise),
        "zero": ("variance not 1", lambda noise: 0 * noise),
        "squares": ("mean not 0", lambda noise: noise**2 / sqrt(2)),
        "shifted": ("mean not 0", lambda noise: noise + 1),
        "queries": ("wrong shape", lambda noise: noise[0]),
        "products": ("wrong shape", lambda noise: (noise[0] * noise[1]).sum(-1)),
        "random": ("not a function of its inputs",
                   lambda noise: np.random.normal(size=noise.shape)),
    },
}


def cases(table):
    return [pytest.param(exercise, answer, id=f"{exercise.__name__}-{name}")
            for exercise, answers in table.items() for name, answer in answers.items()]


def in_torch(fn):
    """`fn` for torch tensors only."""
    torch = pytest.importorskip("torch")

    def wrapped(*tensors):
        answer = fn(*(torch.clone(tensor).numpy() for tensor in tensors))
        return torch.from_numpy(np.ascontiguousarray(answer))
    return wrapped


@pytest.mark.parametrize("exercise, fn", cases(RIGHT))
def test_a_right_answer_passes(exercise, fn):
    for result in (exercise(fn), exercise(in_torch(fn))):
        assert result and result.misconception is None, result
        assert repr(result).startswith(f"✓ {exercise.__name__}: ")


@pytest.mark.parametrize("exercise, answer", cases(WRONG))
def test_a_wrong_answer_hears_its_name(exercise, answer):
    name, fn = answer
    for result in (exercise(fn), exercise(in_torch(fn))):
        assert result.passed is False and result.misconception == name, result
        assert repr(result).startswith(f"✗ {exercise.__name__}: ")
        assert repr(result).count("\n") == 1


@pytest.mark.parametrize("misconceptions, exercise", [
    (block.MISCONCEPTIONS, check.attention_step), (kernel.MISCONCEPTIONS, check.kernel_regression),
    (gauge.MISCONCEPTIONS, check.same_head)])
def test_every_name_in_the_book_of_mistakes_is_planted_here(misconceptions, exercise):
    assert {m.name for m in misconceptions} <= {name for name, _ in WRONG[exercise].values()}
    for misconception in misconceptions:
        assert misconception.hint.endswith(("?", ".")) and len(misconception.hint) <= 100


def test_what_is_no_attempt_is_none():
    for exercise in RIGHT:
        for blank in (None, ..., lambda *_: ..., lambda *_: None):
            assert exercise(blank).passed is None
        assert exercise(3).misconception == "not a function"


A, B = (np.array(rows, dtype=float) for rows in (ROWS, PLAIN))
TABLES = {
    "not doubled": ("scores not doubled", PLAIN),
    "weights doubled": ("weights doubled", 2 * B),
    "exponentials doubled": ("exponentials doubled",
                             [[4, 6, 12], [1, F(2, 3), F(1, 3)], [2, 2, 2]]),
    "squares": ("exponentials not normalised",
                [[4, 9, 36], [F(1, 4), F(1, 9), F(1, 36)], [1, 1, 1]]),
    "squared weights": ("weights squared, not normalised", B**2),
    "scores": ("scores instead of weights", 2 * np.outer(Q, K)),
    "halved": ("scores halved", softmax(np.outer(Q, K) / 2)),
    "hard": ("hard look-up", [[0, 0, 1], [1, 0, 0], ["1/3"] * 3]),
    "columns": ("columns normalised", softmax(2 * np.outer(Q, K), 0)),
    "transposed": ("query and key swapped", A.T),
    "no minus": ("sign of the query forgotten", [ROWS[0], ROWS[0], ROWS[2]]),
    "uniform": ("uniform weights", [[F(1, 3)] * 3] * 3),
    "two decimals": ("rounded too early", np.round(A, 2)),
    "two rows": ("wrong shape", ROWS[:2]),
    "words": ("not a table of numbers", [["a half", 0, 0], ROWS[1], ROWS[2]]),
}


@pytest.mark.parametrize("weights", [
    ROWS, A, A.tolist(), np.round(A, 3), [[str(w) for w in row] for row in ROWS],
    softmax(2 * np.outer(Q, K)), A.astype(np.float32)],
    ids=["fractions", "array", "lists", "decimals", "text", "formula", "float32"])
def test_sharper_tokens_accepts(weights):
    assert repr(check.sharper_tokens(weights)).startswith("✓ sharper_tokens: all nine weights")


@pytest.mark.parametrize("name, weights", TABLES.values(), ids=TABLES)
def test_sharper_tokens_names_the_mistake(name, weights):
    result = check.sharper_tokens(weights)
    assert result.passed is False and result.misconception == name, result
    assert repr(result).startswith("✗ sharper_tokens: ") and repr(result).count("\n") == 1


def test_sharper_tokens_counts_what_is_right_and_waits_for_the_rest():
    result = check.sharper_tokens([ROWS[0], [F(1, 2), F(1, 4), F(1, 4)], ROWS[2]])
    assert result.misconception is None and "look again at row 2" in result.message
    assert check.sharper_tokens([[...] * 3] * 3).passed is None
    names = {name for name, _, _ in by_hand._with_double_scores()}
    assert names <= {name for name, _ in TABLES.values()}
