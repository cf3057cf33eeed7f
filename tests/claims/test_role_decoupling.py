"""The claims of the chapter "Role decoupling", each decided by a test that could fail."""

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from bookbuild.market import KINDS, STEPS, TABLE
from qkvlib import attention, softmax
from qkvlib.race import TEST, heads, race, score, train
from qkvlib.results import recorded
from qkvlib.serving import FORMS, ceilings, scores, serves
from qkvlib.tying import VARIANTS, fresh, products, projections

claim = pytest.mark.claim
ROUNDING = 1e-12  # float64, numbers of size one
MAPS_OF_4 = list(product(range(4), repeat=4))
RECORD = recorded("market")


def normal(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


def raced(name, kind, **options):
    options = {"seeds": range(2), "rates": (0.1,), "steps": 300} | options
    return np.mean(race({name: (VARIANTS[name], 12)}, kind, **options)[name].answers)


# --- R1

@claim("R1")
def test_R1_each_token_reads_itself_in_wide_spaces():
    def self_weight(X):
        return softmax(X @ X.mT / X.shape[-1] ** 0.5).diagonal(dim1=-2, dim2=-1).mean().item()

    shares = [self_weight(*normal(0, (20, 32, d))) for d in (4, 16, 64, 256)]
    assert shares == sorted(shares) and shares[0] < 0.25 and shares[2] > 0.95 and shares[3] < 1.001
    own, common = normal(1, (20, 32, 64), (20, 1, 64))
    alike = 0.1**0.5 * own + 0.9**0.5 * common
    assert self_weight(8 * alike / alike.norm(dim=-1, keepdim=True)) < 0.15  # the condition


@claim("R1")
def test_R1_projections_do_not_cure_collapse():
    def stacked(X, layers, projected):
        d = X.shape[-1]
        for layer in range(layers):
            W = normal(layer, *3 * [(d, d)]) if projected else 3 * [math.sqrt(d) * torch.eye(d)]
            X = attention(*(X @ w.double() / math.sqrt(d) for w in W))
        return (X - X.mean(-2, keepdim=True)).norm() / X.norm()

    narrow, wide = normal(2, (32, 16), (32, 256))
    assert stacked(wide, 100, False) > 0.9  # copies
    assert stacked(narrow, 64, False) < 0.05  # collapses
    assert stacked(narrow, 8, True) < 0.01  # and sooner with projections
    assert stacked(narrow, 1, True) > 0.1


# --- R3

@claim("R3")
def test_R3_two_gradients_and_what_a_query_bias_adds():
    X, W_Q, W_K, W_V, b_Q, b_K, downstream = normal(
        3, (9, 6), (6, 4), (6, 4), (6, 5), (4,), (4,), (9, 5))
    W_Q.requires_grad_(), W_K.requires_grad_()
    S = (X @ W_Q + b_Q) @ (X @ W_K + b_K).mT / 2
    S.retain_grad()
    (softmax(S) @ X @ W_V * downstream).sum().backward()
    with torch.no_grad():
        D, C = S.grad, X.mT @ S.grad @ X
        by_bias = (X.mT @ D.mT @ torch.ones(9, 1).double()) @ b_Q[None] / 2
        assert (W_Q.grad - C @ W_K / 2).abs().max() < ROUNDING  # a key bias adds nothing
        assert (W_K.grad - C.mT @ W_Q / 2 - by_bias).abs().max() < ROUNDING
        assert by_bias.abs().max() > 1e-3  # and a query bias does add something


@claim("R3")
def test_R3_a_tied_matrix_hears_nothing_of_direction():
    X, W, A = normal(4, (8, 6), (6, 3), (8, 8))
    antisymmetric = (A - A.mT).requires_grad_(False)
    W.requires_grad_()
    ((X @ W @ W.mT @ X.mT) * antisymmetric).sum().backward()  # D is antisymmetric
    assert W.grad.abs().max() < ROUNDING
    p = fresh("QQV", [0], dtype=torch.float64)  # and so it is for the library's tied head
    form, _ = products("QQV", p)
    (form * (C := normal(5, (36, 36))[0] - normal(5, (36, 36))[0].mT)).sum().backward()
    assert p["W_Q"].grad.abs().max() < ROUNDING < 1 < C.abs().max()


@claim("R3")
def test_R3_releasing_the_key_is_enough():
    start = fresh("QQQ", range(2), d_k=36)
    train([("QQQ", 0.03, start)], "mutual", range(2), steps=200)

    def released(roles):
        p = {name: value.detach().clone() for name, value in start.items()}
        p |= {f"W_{role}": p["W_Q"].clone() for role in roles}
        return {name: value.requires_grad_() for name, value in p.items()}

    pairs = [(roles, released(roles)) for roles in ("QQQ", "QQV", "QKQ", "QKV")]
    with torch.no_grad():  # a copy of a matrix changes nothing by itself
        x = normal(6, (2, 3, 6, 36))[0].float()
        logits, _ = heads(pairs, x)
        assert torch.equal(logits[0].argmax(-1), logits[3].argmax(-1))
    train([(roles, 0.03, p) for roles, p in pairs], "mutual", range(2), steps=300)
    _, answers, losses = score(pairs, "mutual", range(50, 52))
    tied, value, key, all_three = answers.mean(-1)
    assert max(tied, value) < 0.6 < 0.98 < min(key, all_three)
    tied, value, *_ = losses.mean(-1)
    assert value < tied - 0.05  # the value's release is worth something, too

    own = torch.eye(36)  # though one matrix could nearly have done it, with a small value part
    W = torch.cat([own[:, :12] + own[:, 12:24], 0.03 * own[:, 24:]], 1)
    readout = torch.cat([torch.zeros(12, 12), 100 * torch.eye(12)])
    by_hand = {"W_Q": W[None], "W_O": readout[None], "b_O": torch.zeros(1, 1, 12),
               "log_beta": torch.ones(1, 1, 1)}
    assert score([("QQQ", by_hand)], "mutual", [50])[2].item() < tied - 0.05


# --- R4

def best_margin(f, generators):
    """The largest t with which a mean of `generators` (factors) serves f by a margin of t."""
    n = len(f)
    tables = np.array([scores(f, g) for g in generators])
    rows = [np.append(tables[:, i, j] - tables[:, i, f[i]], 1.0)
            for i in range(n) for j in range(n) if j != f[i]]
    k = len(generators)
    found = linprog(np.append(np.zeros(k), -1), A_ub=np.array(rows), b_ub=np.zeros(len(rows)),
                    A_eq=[[1] * k + [0]], b_eq=[1], bounds=[(0, None)] * k + [(None, None)])
    return -found.fun


@claim("R4")
def test_R4_what_a_tied_form_serves():
    # Under renamings a form has four numbers left; if semidefinite, they are a mean of squares.
    turns = np.linspace(0, np.pi, 90, endpoint=False)
    squares = [(c * c, c * s, c * s, s * s)
               for c, s in zip(np.cos(turns), np.sin(turns), strict=True)]
    served = {f for f in MAPS_OF_4 if best_margin(f, squares) > 1e-9}
    idempotent = {f for f in MAPS_OF_4 if all(f[j] == j for j in f)}
    assert served == idempotent and len(idempotent) == 41  # a known count
    assert {f for f in MAPS_OF_4 if serves(f, "K = Q")} == idempotent
    name, wanted_by, wanting, both = FORMS["K = Q"]
    assert wanted_by == wanting and name * both == wanting**2  # a square, so semidefinite


@claim("R4")
def test_R4_what_a_symmetric_form_serves():
    signed = [tuple(sign * x for x in g) for sign in (1, -1)
              for g in ((1, 0, 0, 0), (0, 1, 1, 0), (0, 0, 0, 1))]
    served = {f for f in MAPS_OF_4 if best_margin(f, signed) > 1e-9}
    assert served == {f for f in MAPS_OF_4 if serves(f, "symmetric")}
    assert set(MAPS_OF_4) > served > {f for f in MAPS_OF_4 if serves(f, "K = Q")}
    assert (1, 0, 3, 2) in served and (1, 2, 3, 0) not in served and (1, 2, 3, 3) not in served
    everything = [(0, 0, 1, 0)]
    assert all(best_margin(f, everything) > 1e-9 for f in MAPS_OF_4)


def comparisons(f, ids):
    """Rows over the entries of a form on [name | wants]: for each token, for each sequence,
    x_i M x_j less x_i M x_f(i), for every other j. And every token that can be, as a vector."""
    own = np.eye(ids)
    tokens = {(a, b): np.concatenate([own[a], own[b]]) for a, b in product(range(ids), repeat=2)}
    rows = []
    for i in range(len(f)):
        rows.append([])
        for name in permutations(range(ids), len(f)):
            x = [tokens[name[k], name[f[k]]] for k in range(len(f))]
            rows[i].append([np.outer(x[i], x[j] - x[f[i]]) for j in range(len(f)) if j != f[i]])
    return rows, list(tokens.values())


def exists(rows, tokens, tied):
    """Whether a symmetric form meets all comparisons by 1 (a form can be scaled). If `tied`, it has
    to meet 2 s_xy ≤ s_xx + s_yy, too, as every semidefinite one does."""
    upper = np.triu_indices(len(tokens[0]))
    squares = [-np.outer(x - y, x - y) for x, y in combinations(tokens, 2)] if tied else []
    tables = np.array([*(row for part in rows for row in part), *squares])
    tables = (tables + tables.swapaxes(1, 2))[:, *upper] / np.where(upper[0] == upper[1], 2, 1)
    bounds = np.zeros(len(tables))
    bounds[:len(tables) - len(squares)] = -1
    found = linprog(np.zeros(len(upper[0])), tables, bounds, bounds=(None, None))
    assert found.status in (0, 2)  # solved, or no solution
    return found.status == 0


def kinds_of_map(n):
    """Maps of n tokens, one of those that differ in the order of the tokens only."""
    def orders(f):
        for p in permutations(range(n)):
            yield tuple(p[f[p.index(i)]] for i in range(n))
    return sorted({min(orders(f)) for f in product(range(n), repeat=n)})


@claim("R4")
@pytest.mark.parametrize("n, ids", [(2, 2), (3, 3), (3, 4), (4, 4)])
def test_R4_a_linear_program_over_all_sequences_agrees(n, ids):
    """The theorem without its lemma: every sequence of names is in the program."""
    for f in kinds_of_map(n):
        rows, tokens = comparisons(f, ids)
        for kind in ("K = Q", "symmetric"):
            every = [part for sequences in rows for part in sequences]
            assert exists(every, tokens, kind == "K = Q") == serves(f, kind), (f, kind)


@claim("R4")
@pytest.mark.parametrize("kind", ["K = Q", "symmetric"])
def test_R4_no_form_exceeds_its_ceiling_in_any_set_of_sequences(kind):
    """Three names: a token looks right in no more of the six sequences than the share says."""
    for f in kinds_of_map(3):
        rows, tokens = comparisons(f, 3)
        for sequences, ceiling in zip(rows, ceilings(f, kind), strict=True):
            allowed = round(6 * ceiling)
            assert allowed == pytest.approx(6 * ceiling)
            for chosen in combinations(sequences, min(allowed + 1, 6)):
                assert exists(chosen, tokens, kind == "K = Q") == (allowed == 6), (f, ceiling)


@claim("R4")
def test_R4_a_ring_of_four_sequences_is_never_right_throughout():
    f = (1, 2, 3, 3)
    rows, tokens = comparisons(f, 4)
    named = dict(zip(permutations(range(4)), rows[1], strict=True))
    for name in named:
        ring = [named[name[turn:] + name[:turn]] for turn in range(4)]
        assert not exists(ring, tokens, tied=False)
        assert exists(ring[:3], tokens, tied=False)
    assert ceilings(f, "symmetric").tolist() == [1, 3 / 4, 1, 1]


@claim("R4")
@pytest.mark.parametrize("kind, f", [
    ("K = Q", [1, 2, 3, 4, 5, 0]), ("K = Q", [1, 0, 3, 2, 5, 4]), ("K = Q", [1, 2, 3, 4, 5, 5]),
    ("symmetric", [1, 2, 3, 4, 5, 0]), ("symmetric", [1, 2, 3, 4, 5, 5])])
def test_R4_no_form_exceeds_its_ceiling(kind, f):
    rng, best = np.random.default_rng(0), 0
    names = np.argsort(rng.random((4000, 12)), axis=1)[:, :6]
    x = np.concatenate([np.eye(12)[names], np.eye(12)[names[:, f]]], -1)
    for trial in range(20):
        growth = np.diag(2.5 ** (trial % 3 * np.arange(12)))  # longer, the higher the name
        B = np.concatenate([growth, growth / 2 + 0.1 * rng.normal(size=(12, 12))])
        M = B @ B.T if kind == "K = Q" else np.block([[0 * growth, growth], [growth, 0 * growth]])
        M = M + (0.1 * rng.normal(size=(24, 24)) if kind == "symmetric" else 0)
        s = x @ (M + M.T) @ x.swapaxes(-1, -2)
        best = max(best, (s.argmax(-1) == f).mean())
    ceiling = ceilings(f, kind).mean()
    assert 0.4 < best < ceiling + 0.02 < 0.9
    assert ceilings(f, "free").min() == 1


@claim("R4")
def test_R4_the_record_is_what_training_gives():
    """One seed of the big race, run again for one head of each kind."""
    old = RECORD["maps"]["mutual"]
    again = {name: TABLE[name] for name in ("K = Q", "symmetric", "all tied", "K = V", "full")}
    runs = [(roles, old[name]["rate"], fresh(roles, [0], d_k=d_k))
            for name, (roles, d_k) in again.items()]
    train(runs, "mutual", [0], steps=STEPS)
    pairs = [(roles, p) for roles, _, p in runs]
    tolerances = {"looks": 0.15, "answers": 0.05, "losses": 0.05}
    for measured, shares in zip(tolerances, score(pairs, "mutual", [TEST]), strict=True):
        for name, share in zip(again, shares, strict=True):
            tolerance = tolerances[measured]
            assert abs(share.item() - old[name][measured][0]) < tolerance, (name, measured)


@claim("R4")
@pytest.mark.parametrize("kind", KINDS)
def test_R4_the_record_obeys_the_theorems(kind):
    every = np.indices((6,) * 6).reshape(6, -1).T
    for name, scored in RECORD["maps"][kind].items():
        query, key, _ = TABLE[name][0]
        form = "K = Q" if query == key else "symmetric" if key == "S" else "free"
        ceiling = ceilings(MAPS_OF_6.get(kind, every), form).mean()
        assert np.mean(scored["looks"]) <= ceiling + 0.01, name
        if form == "free":
            assert min(scored["answers"]) > 0.99, name


MAPS_OF_6 = {"self": [0, 1, 2, 3, 4, 5], "mutual": [1, 0, 3, 2, 5, 4], "star": [0] * 6,
             "directed": [1, 2, 3, 4, 5, 0], "chain": [1, 2, 3, 4, 5, 5]}


# --- R5, R6

@claim("R5")
def test_R5_a_tied_value_costs_width():
    entries = {f"{name} {d_k}": (VARIANTS[name], d_k) for name in ("full", "K = V")
               for d_k in (2, 12)}
    found = {name: np.mean(s.answers) for name, s in
             race(entries, "directed", seeds=range(2), rates=(0.03,), steps=400).items()}
    assert found["full 2"] > 0.95 and found["full 12"] > 0.99 and found["K = V 12"] > 0.98
    assert found["K = V 2"] < 0.6
    recorded_means = [np.mean(RECORD["widths"][f"K = V, d_k = {d_k}"]["answers"])
                      for d_k in (2, 4, 6)]
    assert recorded_means[0] < 0.5 and recorded_means[-1] > 0.95


@claim("R6")
def test_R6_one_matrix_is_enough_for_every_map():
    for seed in range(3):  # a head is two products
        W_Q, W_K, W_V, W_O, X = normal(seed, (8, 3), (8, 3), (8, 3), (3, 5), (6, 8))
        usual = attention(X @ W_Q, X @ W_K, X @ W_V) @ W_O
        one = attention(X @ (W_Q @ W_K.mT), X, X, scale=3**-0.5) @ (W_V @ W_O)
        assert (usual - one).abs().max() < ROUNDING
    p = fresh("QXX", [0])
    assert {name for name in p if name.startswith("W_")} == {"W_Q", "W_O"}
    for kind in ("directed", "random"):
        assert raced("W_Q only", kind, seeds=[0]) > 0.99
    assert min(min(RECORD["maps"][kind]["W_Q only"]["answers"]) for kind in KINDS) > 0.99


# --- R7, R8

D_MODEL, D_K = 5, 2
SPLIT = 2 * D_MODEL * D_K


def imitation(seed):
    """A squared loss of small heads, a function of all their numbers; a teacher; a random point."""
    X, teacher, point = normal(seed, (40, 6, D_MODEL), (SPLIT + D_MODEL**2,),
                               (SPLIT + D_MODEL**2,))

    def output(theta):
        W_Q, W_K = theta[:SPLIT].view(2, D_MODEL, D_K)
        return attention(X @ W_Q, X @ W_K, X @ theta[SPLIT:].view(D_MODEL, D_MODEL))

    target = output(teacher)
    return lambda theta: (output(theta) - target).square().mean(), teacher, point


@claim("R7")
@pytest.mark.parametrize("seed", range(3))
def test_R7_separable_but_not_independent(seed):
    loss, teacher, point = imitation(seed)
    for theta in (teacher, point):
        H = torch.func.hessian(loss)(theta)
        finding, both, sending = H[:SPLIT, :SPLIT], H[:SPLIT, SPLIT:], H[SPLIT:, SPLIT:]
        assert both.norm() > 0.02 * (finding.norm() * sending.norm()).sqrt()
        assert torch.linalg.eigvalsh(sending).min() > -1e-9  # convex in W_V
    assert torch.linalg.eigvalsh(finding).min() < -1e-6  # not so in W_Q and W_K


@claim("R8")
@pytest.mark.parametrize("seed", range(3))
def test_R8_the_loss_is_not_a_sum(seed):
    loss, teacher, _ = imitation(seed)
    noise = normal(seed + 10, (2, 8, len(teacher)))[0] / 2
    noise[0, :, SPLIT:] = noise[1, :, :SPLIT] = 0
    points = teacher + noise[0][:, None] + noise[1][None]
    table = torch.vmap(torch.vmap(loss))(points)
    rest = table - table.mean(0) - table.mean(1, keepdim=True) + table.mean()
    assert rest.square().sum() > 0.005 * (table - table.mean()).square().sum()


@claim("R8")
def test_R8_tokens_as_values_train():
    p = fresh("QKX", [0])
    assert torch.equal(projections("QKX", p)[2], torch.eye(36))  # nothing is shared with the value
    assert raced("V = X", "mutual") > 0.99 and raced("V = X", "directed") > 0.99


# --- R9

@claim("R9")
def test_R9_an_optimum_of_one_matrix_is_not_defined():
    p = fresh("QKV", [0], dtype=torch.float64)
    G = normal(7, (12, 12))[0] + 3 * torch.eye(12)
    other = p | {"W_Q": p["W_Q"] @ G, "W_K": p["W_K"] @ torch.linalg.inv(G).mT}
    assert (other["W_Q"] - p["W_Q"]).abs().max() > 0.1
    for mine, theirs in zip(products("QKV", p), products("QKV", other), strict=True):
        assert (mine - theirs).abs().max() < ROUNDING
    assert sum(name in "QKV" for name in set(VARIANTS["W_Q only"])) == 1  # fewer than three
