"""The claims of the chapter "Asymmetry", each decided by a test that could fail."""

from itertools import product
from math import comb, factorial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from qkvlib import attention, language, softmax
from qkvlib.forms import realise, symmetry_score, top_map
from qkvlib.results import recorded
from qkvlib.tasks import coreference
from qkvlib.train import fit

claim = pytest.mark.claim
ROUNDING = 1e-12
MOVES = 1e-2  # what counts as an effect
KINDS = ("tied", "symmetric", "free")
LINE, RING = (0, 0, 1, 2, 3, 4, 5, 6), (7, 0, 1, 2, 3, 4, 5, 6)


def longest_cycle(f):
    """By walking n steps, which ends on a cycle, and then once around it."""
    longest = 0
    for i in range(len(f)):
        for _ in f:
            i = f[i]
        j, length = f[i], 1
        while j != i:
            j, length = f[j], length + 1
        longest = max(longest, length)
    return longest


def kinds_of(f):
    """The kinds of form that the theorem allows for a map."""
    return {kind for kind, most in {"tied": 1, "symmetric": 2, "free": len(f)}.items()
            if longest_cycle(f) <= most}


def maps(n):
    return product(range(n), repeat=n)


@claim("S1")
@pytest.mark.parametrize("seed", range(3))
def test_S1_symmetric_scores_give_a_reversible_chain(seed):
    rng = np.random.default_rng(seed)
    X, W_Q, W_K = (rng.normal(size=(k, 8)) for k in (20, 8, 8))
    for tied in (True, False):
        query, key = X @ W_Q / 3, X @ (W_Q if tied else W_K) / 3
        _, A = attention(query, key, X, return_weights=True)
        Z = np.exp(query @ key.T / np.sqrt(8)).sum(-1)
        np.testing.assert_allclose(A.sum(-1), 1)
        flow = Z[:, None] * A / Z.sum()  # of a walk that starts with probability Z_i / Σ Z
        assert (abs(flow - flow.T).max() < ROUNDING) == tied
        assert (abs(np.linalg.eigvals(A).imag).max() < ROUNDING) == tied
        assert abs(A - A.T).max() > 0.1  # the weights themselves are symmetric in neither case


@claim("S1")
def test_S1_lengths_make_the_weights_one_sided():
    def one_sidedness(X):
        A = softmax(X @ X.T / np.sqrt(X.shape[1])) * (1 - np.eye(len(X)))
        return np.linalg.norm(A - A.T) / np.linalg.norm(A + A.T)

    draws = [np.random.default_rng(seed).normal(size=(32, 16)) for seed in range(10)]
    even = [4 * X / np.linalg.norm(X, axis=1, keepdims=True) for X in draws]
    assert 0.3 < np.mean([one_sidedness(X) for X in draws]) < 0.6
    assert max(one_sidedness(X) for X in even) < 0.15
    extreme = softmax(np.outer([1.0, 9.0], [1.0, 9.0]))
    assert extreme[0, 1] > 0.99 and extreme[1, 0] < 0.01


@claim("S2")
def test_S2_coreference_is_directed_and_one_matrix_does_it():
    told = coreference(torch.Generator().manual_seed(1), (500,), dtype=torch.float64)
    x, who = told.tokens, told.antecedent
    nouns = x[:, :4]
    assert torch.equal(nouns[..., 0].argmax(-1), who)  # the antecedent is the animate noun
    assert torch.equal(x[..., :3].sum(-1), torch.ones(500, 5)) and (x[:, 4, 2] == 1).all()
    assert torch.equal(nouns[torch.arange(500), who, 3:9].argmax(-1), told.colour)

    # By hand: animate and pronoun share a direction, in which the animate noun is the longer.
    W = torch.zeros(15, 2, dtype=torch.float64)
    W[0], W[1], W[2] = torch.tensor([[9.0, 0.0], [0.0, 9.0], [3.0, 0.0]])
    rows = torch.arange(500)
    for scores, works in [((x @ W) @ (x @ W).mT, True), (x @ x.mT, False)]:
        A = softmax(scores)
        there, back = A[rows, 4, who], A[rows, who, 4]
        assert bool((there > 0.99).all() and (back < 0.01).all()) == works


@claim("S2")
def test_S2_a_tied_form_learns_it():
    generator = torch.Generator().manual_seed(0)
    W = (torch.randn(15, 8, generator=generator) / 2).requires_grad_()

    def weights(batch):
        told = coreference(generator, (batch,))
        query = told.tokens @ W
        return softmax(query @ query.mT / 8**0.5), told.antecedent

    def loss():
        A, who = weights(64)
        own = A.diagonal(dim1=-2, dim2=-1)[:, :4].log().mean()
        return -own - A[torch.arange(64), 4, who].log().mean()

    fit(loss, [W], steps=200, lr=3e-2)
    with torch.no_grad():
        A, who = weights(300)
    rows = torch.arange(300)
    assert A[rows, 4, who].mean() > 0.8 and A[rows, who, 4].mean() < 0.1


@claim("S3")
@pytest.mark.parametrize("n", range(1, 6))
def test_S3_what_is_built_works_and_its_number_is_the_formulas(n):
    counts = dict.fromkeys(KINDS, 0)
    for f in maps(n):
        for kind in KINDS:
            if kind not in kinds_of(f):
                with pytest.raises(ValueError, match="is a cycle of length"):
                    realise(f, kind)
                continue
            query, key = realise(f, kind)
            scores = query @ key.T
            assert top_map(scores) == f
            lead = np.sort(scores)[:, -1] - np.sort(scores)[:, -2] if n > 1 else 1
            assert np.min(lead) > 1e-6  # not by rounding
            assert kind == "free" or np.array_equal(scores, scores.T)
            assert kind != "tied" or np.linalg.eigvalsh(scores).min() > -ROUNDING
            assert kind != "free" or query.shape == key.shape == (n, 2)
            counts[kind] += 1

    involutions = [1, 1]
    for k in range(2, n + 1):
        involutions.append(involutions[-1] + (k - 1) * involutions[-2])

    def formula(permutations):  # of the k tokens on cycles; n^(n-k-1) k forests lead there
        return sum(comb(n, k) * permutations(k) * k * n**(n - k) // n for k in range(1, n + 1))

    assert counts == {"tied": (n + 1)**(n - 1), "free": n**n,
                      "symmetric": formula(lambda k: involutions[k])}
    assert formula(lambda k: 1) == counts["tied"] and formula(factorial) == n**n


@claim("S3")
@pytest.mark.parametrize("n", [3, 4])
def test_S3_a_linear_program_agrees_on_every_map(n):
    """Variables: s_ij for i ≤ j (or all i, j) and c_j; a lead of one in every row."""
    for kind in KINDS:
        variable = {(i, j): (i, j) if kind == "free" else (min(i, j), max(i, j))
                    for i in range(n) for j in range(n)}
        index = {pair: k for k, pair in enumerate(sorted(set(variable.values())))}
        width = len(index) + n

        def row(*terms, width=width, index=index, variable=variable):
            coefficients = np.zeros(width)
            for factor, i, j, constant in terms:
                coefficients[index[variable[i, j]]] += factor
                if constant:
                    coefficients[len(index) + j] += factor
            return coefficients

        gram = [row((2, i, j, 0), (-1, i, i, 0), (-1, j, j, 0)) for i in range(n)
                for j in range(i)] if kind == "tied" else []
        for f in maps(n):
            leads = [row((1, i, j, 1), (-1, i, f[i], 1))
                     for i in range(n) for j in range(n) if j != f[i]]
            bounds = [-1.0] * len(leads) + [0.0] * len(gram)
            found = linprog(np.zeros(width), leads + gram, bounds, bounds=(None, None))
            assert found.status in (0, 2)  # solved, or no solution
            assert (found.status == 0) == (kind in kinds_of(f)), (f, kind)
            built = True
            try:
                realise(f, kind)
            except ValueError:
                built = False
            assert built == (found.status == 0)


@claim("S3")
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**31), n=st.integers(2, 6), size=st.sampled_from([0.0, 1.0, 5.0]))
def test_S3_no_scores_realise_a_forbidden_cycle(seed, n, size):
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n, 4)), rng.normal(size=(4, 4))
    rows, columns = size * rng.normal(size=(n, 1)), size * rng.normal(size=n)
    tied = top_map(X @ W @ (X @ W).T + rows + columns)
    symmetric = top_map(X @ (W + W.T) @ X.T + rows + columns)
    assert longest_cycle(tied) == 1 and longest_cycle(symmetric) <= 2


@claim("S4")
def test_S4_without_positions_or_mask_no_head_can_tell():
    rng = np.random.default_rng(0)
    X, W_Q, W_K = (rng.normal(size=(k, 5)) for k in (7, 5, 5))
    swapped = X[[0, 1, 4, 3, 2, 5, 6]]  # the neighbours of token 3
    for W in (W_Q, W_K):  # tied, free
        def output(x, W=W, **options):
            return attention(x @ W_Q, x @ W, x, **options)[3]

        assert abs(output(X) - output(swapped)).max() < ROUNDING
        assert abs(output(X, causal=True) - output(swapped, causal=True)).max() > MOVES


@claim("S4")
def test_S4_previous_token_on_a_line_and_not_on_a_ring():
    vectors, _ = realise(LINE, "tied")
    _, A = attention(vectors, vectors, np.eye(8), scale=1e9, return_weights=True)
    assert tuple(A.argmax(-1)) == LINE and A.max(-1).min() > 0.99
    assert sum(a == b for a, b in zip(LINE, RING, strict=True)) == 7  # the ceiling on the ring
    for kind in ("tied", "symmetric"):
        with pytest.raises(ValueError, match="cycle of length 8"):
            realise(RING, kind)
    query, key = realise(RING, "free")
    assert top_map(query @ key.T) == RING


@claim("S4")
def test_S4_rotary_positions_need_a_bias_apart_or_a_mask():
    def rotated(x):  # eight identical tokens, pairs of features as complex numbers
        return x * np.exp(1j * np.outer(np.arange(8), [1.0, 10**-0.25, 10**-0.5, 0.1]))

    def scores(query, key):
        query, key = rotated(query), rotated(key)
        return np.concatenate([query.real, query.imag], -1), np.concatenate(
            [key.real, key.imag], -1)

    one = np.ones(4)
    query, key = scores(one, one)
    tied = query @ key.T
    assert abs(tied - tied.T).max() < ROUNDING and top_map(tied) == tuple(range(8))
    query, key = scores(one, rotated(one)[1])  # the same weights, a key bias a step back
    assert top_map(query @ key.T) == LINE
    amplitude, sign = np.array([1, 0, 8**0.5, 0]), np.array([-1, 1, 1, 1])
    query, key = scores(amplitude, sign * amplitude)
    symmetric = query @ key.T
    assert abs(symmetric - symmetric.T).max() < ROUNDING and top_map(symmetric) != LINE
    _, A = attention(query, key, np.eye(8), causal=True, scale=100.0, return_weights=True)
    assert top_map(A) == LINE  # a causal mask hides the right neighbour


@claim("S6")
def test_S6_judging_both_ways_makes_the_form_symmetric():
    """Denoise kinds with the help of a partner: 12 kinds in a ring, three pairs a sequence."""
    generator = torch.Generator().manual_seed(0)
    others = ~torch.eye(6, dtype=torch.bool)
    masks = torch.stack([others, others.tril(), others])
    masks = torch.cat([masks, torch.ones(3, 6, 1, dtype=torch.bool)], -1)[:, None, None]
    p = {name: (torch.randn(3, 4, 1, 12, 12, generator=generator) / 5).requires_grad_()
         for name in ("Q", "K", "V")}

    def losses():
        first = torch.rand(4, 24, 12, generator=generator).argsort(-1)[..., :3]
        slots = torch.rand(4, 24, 6, generator=generator).argsort(-1).view(4, 24, 3, 2).sort(-1)[0]
        kind, second = torch.zeros(4, 24, 6, dtype=torch.long), torch.zeros(4, 24, 6)
        kind.scatter_(-1, slots[..., 0], first).scatter_(-1, slots[..., 1], (first + 1) % 12)
        second.scatter_(-1, slots[..., 1], 1.0)
        told = torch.eye(12)[kind]
        x = told + 0.3 * torch.randn(told.shape, generator=generator)
        key, value = (torch.nn.functional.pad(x @ p[name], (0, 0, 0, 1)) for name in "KV")
        answer = x + attention(x @ p["Q"], key, value, mask=masks, scale=1.0)
        each = -(told * (4 * answer).log_softmax(-1)).sum(-1)
        judged = torch.stack([torch.ones_like(second), torch.ones_like(second), second])
        return (each * judged).sum() / 24

    fit(losses, p.values(), steps=200, lr=1e-2)
    M = (p["Q"] @ p["K"].mT).detach()[:, :, 0] * (1 - torch.eye(12))
    both, causal, second_only = symmetry_score(M)
    exact = torch.diagonal(M @ M, dim1=-2, dim2=-1).sum(-1) / M.square().sum((-1, -2))
    assert torch.allclose(symmetry_score(M), exact, atol=1e-5)
    assert both.min() > 0.4
    assert causal.mean().abs() < 0.2 and second_only.mean().abs() < 0.2


@claim("S6")
def test_S6_on_text_only_models_that_look_both_ways():
    """What is recorded says so, and the first hundred steps of a seed come out as recorded."""
    runs = recorded("symmetry")["characters"]
    last = {name: np.array(run["scores"][-1]) for name, run in runs["objectives"].items()}
    both, *causal = (last[name] for name in language.OBJECTIVES)
    assert both.min() > 0.4
    for scores in causal:
        assert abs(scores.mean()) < 0.2 and (both - scores).min() > 0.3
    forms, _ = language.train([0], [0, 100])
    again = symmetry_score(forms.sum(3))[..., 0].T
    for scores, run in zip(again, runs["objectives"].values(), strict=True):
        then = [step[0] for step in run["scores"][:2]]
        assert np.allclose(scores, then, atol=0.03)  # the text grows with the version of Python
    query = torch.randn(3, 1000, 8, generator=torch.Generator().manual_seed(0)).double()
    assert abs(symmetry_score(query @ query.mT[[1, 2, 0]]).max()) < 0.05  # of strangers, nothing


@claim("S7")
def test_S7_a_free_form_is_no_metric():
    query, key = realise((1, 2, 0), "free")  # X = I: the scores are the form
    M = query @ key.T
    assert abs(M - M.T).max() > 0.5  # not symmetric
    assert np.diagonal(M).max() < 0  # no token is like itself
    # a tied form is what the word would fit: √(x − y) M (x − y)ᵀ is a distance
    U, _ = realise((0, 0, 1), "tied")
    assert np.linalg.eigvalsh(U @ U.T).min() > 0
    W_Q, W_K = np.array([[1.0], [-1.0]]), np.log([[2.0], [3.0]])  # the book's three tokens
    form = W_Q @ W_K.T
    assert form[0, 1] != form[1, 0] and form[1, 1] < 0
