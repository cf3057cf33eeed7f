"""The claims' tests can fail: each planted fault of the library turns those of its claim red."""

import multiprocessing
import re
import shutil
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from bookbuild import claims

ROOT = Path(__file__).parents[1]


class Mutant(NamedTuple):
    """One line of qkvlib, put wrong, and a claim that no longer holds."""

    file: str
    right: str
    wrong: str
    breaks: str


MUTANTS = {
    "scale of one's own ignored": Mutant(
        "attention.py", "else check_scale(scale))", "else 1.0)", "R2"),
    "divided by d_k, not by its root": Mutant(
        "attention.py", "(1 / math.sqrt(query.shape[-1]) if", "(1 / query.shape[-1] if", "S5"),
    "keys of unit length": Mutant(
        "attention.py", "    query = query *", "    key = key / (key**2).sum(-1)[..., None]**.5\n"
        "    query = query *", "V5"),
    "normalised over all pairs": Mutant(
        "attention.py", "xp.sum(weights, axis=axis, keepdims=True)", "xp.sum(weights)", "S1"),
    "another noun made animate": Mutant(
        "tasks.py", "one_hot(antecedent, nouns)", "one_hot((antecedent + 1) % nouns, nouns)", "S2"),
    "all vectors of one length": Mutant("forms.py", "3.0 ** -np.array", "1.0 ** -np.array", "S3"),
    "a pair allowed for a tied form": Mutant("forms.py", '{"tied": 1,', '{"tied": 2,', "S3"),
    "rounds allowed for a symmetric form": Mutant(
        "forms.py", '"symmetric": 2,', '"symmetric": 9,', "S4"),
    "causal order off by one": Mutant(
        "attention.py", "row[:, None] >= column", "row[:, None] + 1 >= column", "S4"),
    "score without the transpose": Mutant("forms.py", "xp.sum(M * M.mT,", "xp.sum(M * M,", "S6"),
    "free queries that are keys": Mutant("forms.py", "key[list(f)]", "key", "S7"),
    "gauge not taken off": Mutant("rank.py", "else d_k**2)", "else 0)", "L1"),
    "a teacher of full rank": Mutant(
        "teacher.py", "torch.randn(WIDTH, rank, generator=g) @ torch.randn(rank,",
        "torch.randn(WIDTH, WIDTH, generator=g) @ torch.randn(WIDTH,", "L2"),
    "one of two factors counted": Mutant("rank.py", "return 2 * d * d_k", "return d * d_k", "L3"),
    "the bound not kept": Mutant(
        "teacher.py", "[normal(student.rank, std), normal(student.rank, std)]",
        "[normal(WIDTH, std), normal(WIDTH, std)]", "L4"),
    "keys on half a circle": Mutant(
        "rank.py", "np.cos(2 * np.pi * np.arange", "np.cos(np.pi * np.arange", "L5"),
    "logarithms not centred": Mutant(
        "rank.py", "logs - logs.mean(-1, keepdims=True)", "logs", "L5"),
    "a regression held down": Mutant("values.py", "strength * count", "1e3 * count", "V1"),
    "filter blind to the signal's own variance": Mutant(
        "values.py", "solve(signal.mT @ signal + rest, signal.mT)", "solve(rest, signal.mT)", "V2"),
    "hidden units that do not bend": Mutant(
        "probes.py", "torch.relu(z) @ layers[2]", "z @ layers[2]", "V3"),
    "values longer, not leaner": Mutant(
        "values.py", "W_O @ xp.linalg.pinv(W_O)", "W_O @ W_O.mT", "V3"),
    "not the animate noun meant": Mutant(
        "tasks.py", "one_hot(antecedent, nouns)", "one_hot((antecedent + 1) % nouns, nouns)", "V4"),
    "scale dropped": Mutant(
        "attention.py", "(1 / math.sqrt(query.shape[-1]) if", "(1 if", "B9"),
    "softmax over the queries": Mutant(
        "attention.py", "xp.softmax(scores, dim=-1)", "xp.softmax(scores, dim=-2)", "B7"),
    "one added to the denominator": Mutant(
        "attention.py", "    query = query *",
        "    value = value / (1 + xp.exp(-query @ key.mT).sum(-1)[..., :1, None])\n"
        "    query = query *", "B7"),
    "keys normalised": Mutant(
        "attention.py", "    query = query *", "    key = key / (key**2).sum(-1)[..., None]**.5\n"
        "    query = query *", "B7"),
    "mask inverted": Mutant(
        "attention.py", "xp.where(mask, scores", "xp.where(~mask, scores", "B7"),
    "causal order reversed": Mutant(
        "attention.py", "row[:, None] >= column", "row[:, None] <= column", "B7"),
    "b_Q · k_j laid along the rows": Mutant(
        "bias.py", "(key @ b_Q)[..., None, :]", "(key @ b_Q)[..., :, None]", "B2"),
    "q_i · b_K laid along the keys": Mutant(
        "bias.py", "(query @ b_K)[..., :, None]", "(query @ b_K)[..., None, :]", "B16"),
    "constant term dropped": Mutant("bias.py", "b_Q * b_K)", "0 * b_K)", "B1"),
    "prior with the wrong sign": Mutant(
        "bias.py", "softmax((key @ b_Q)", "softmax((key @ -b_Q)", "B9"),
    "b_V folded without W_O": Mutant("bias.py", "(b_V @ W_O)", "b_V[: W_O.shape[-1]]", "B8"),
    "the old b_O forgotten": Mutant("bias.py", "else b_O + folded", "else folded", "B8"),
    "row sums not looked at": Mutant("bias.py", "min(1e-3, 100 * eps)", "1e9", "B8"),
    "b_K added after the softmax": Mutant(
        "vit.py", "@ self.W_O + self.b_O", "@ self.W_O + self.b_O + self.keep[1] * self.b_K", "B5"),
    "b_K added to the values": Mutant(
        "vit.py", "self.keep[2] * self.b_V", "self.keep[1] * self.b_K", "B4"),
    "b_Q hung on the key's switch": Mutant("vit.py", "self.keep[0]", "self.keep[1]", "B6"),
    "biases left out by default": Mutant(
        "vit.py", 'biases="qkv", seed', 'biases="qv", seed', "B17"),
    "rank counts parameters": Mutant(
        "freedom.py", "rtol=tolerance", "rtol=0 * tolerance", "B3"),
    "scores capped at one": Mutant(
        "attention.py", "xp.softmax(scores, dim=axis)", "xp.softmax(xp.tanh(scores), dim=axis)",
        "R1"),
    "a released key not used": Mutant(
        "tying.py", "{name[-1]: p[name] for", '{name[-1]: p["W_Q"] for', "R3"),
    "a pair served by a tied form": Mutant("serving.py", "k == i, 1 / 2, 2", "k == i, 1, 2", "R4"),
    "K = V given a value of its own": Mutant("tying.py", '"QKK"', '"QKV"', "R5"),
    "the tokens themselves left out": Mutant(
        "tying.py", "torch.eye(d_model,", "torch.zeros(d_model, d_model,", "R6"),
    "output blind to the weights": Mutant(
        "attention.py", "return weights @ value, weights", "return value, weights", "R7"),
    "readout not trained": Mutant(
        "tying.py", 'W_V @ p["W_O"]', 'W_V @ p["W_O"].detach()', "R8"),
    "form made of W_Q alone": Mutant("tying.py", "W_Q @ W_K.mT", "W_Q @ W_Q.mT", "R9"),
}


@pytest.fixture(scope="module")
def processes():
    """Processes for the mutants, forked where that can be from one that has made the imports."""
    kind = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(kind)
    # torch._dynamo: the first step of an optimiser imports it.
    context.set_forkserver_preload(
        ["hypothesis", "pytest", "sklearn.datasets", "torch", "torch._dynamo", "torch.func"])
    return context


def test_every_claim_has_a_mutant():
    assert {mutant.breaks for mutant in MUTANTS.values()} == {claim.id for claim in claims.load()}


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_planted_fault_is_caught_by_the_claim_it_breaks(mutant, tmp_path, processes):
    shutil.copytree(ROOT / "qkvlib", tmp_path / "qkvlib")
    path = tmp_path / "qkvlib" / mutant.file
    source = path.read_text(encoding="utf-8")
    assert source.count(mutant.right) == 1, "the line to be put wrong is gone; plant it anew"
    path.write_text(source.replace(mutant.right, mutant.wrong), encoding="utf-8")

    report = tmp_path / "report.xml"
    run = processes.Process(target=pytest.main, args=([
        f"--rootdir={ROOT}", f"--config-file={ROOT / 'pyproject.toml'}", "--override-ini=addopts=",
        f"--override-ini=pythonpath={tmp_path}", "--hypothesis-profile=mutants",
        *[f"-pno:{plugin}" for plugin in ("anyio", "cacheprovider", "nbval", "terminal")],
        "--exitfirst", f"--junitxml={report}", f"-ktest_{mutant.breaks}_",
        f"{ROOT / 'tests/claims'}"],))
    run.start()
    run.join()

    cases = list(ElementTree.parse(report).iter("testcase"))
    assert all(case.get("name").startswith(f"test_{mutant.breaks}_") for case in cases), cases
    failures = [failure.get("message") for case in cases for failure in case.iter("failure")]
    assert len(failures) == 1, f"{len(cases)} tests have run, not one has failed, or not by itself"
    assert re.match("AssertionError|assert|Failed", failures[0]), failures[0]
