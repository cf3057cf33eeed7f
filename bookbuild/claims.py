"""The claims ledger: reading `chapters/claims.yml`, and finding every broken link around it.

Imports neither Sphinx nor pytest nor any test, so that the site, the plain notebooks and the
tests of the book share one reading of the ledger.
"""

import ast
import json
import re
from dataclasses import dataclass, fields
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
LEDGER = "chapters/claims.yml"
VERDICTS = ("true", "true if", "imprecise", "false", "unsupported")
PLANES = ("algebra", "function", "training", "evidence")


class LedgerError(ValueError):
    """The ledger cannot be read; the message names file, entry and cure, one line each."""


@dataclass(frozen=True)
class Claim:
    """One claim and what the book makes of it.

    `statement` is plain text, `reason` Markdown that may hold maths between dollars;
    `verdict` is one of VERDICTS, "true if" followed by its condition; `chapter` is a document
    name without suffix; `tests` are pytest node ids such as tests/claims/test_x.py::test_B7_y.
    """

    id: str
    statement: str
    source: str
    verdict: str
    plane: str
    reason: str
    chapter: str
    tests: tuple[str, ...]

    @property
    def word(self) -> str:
        """The verdict without the condition of "true if …"."""
        return "true if" if self.verdict.startswith("true if ") else self.verdict


@dataclass(frozen=True)
class ClaimTest:
    """A test function found in the source: its node id, the claims it is marked for, its code."""

    id: str
    claims: tuple[str, ...]
    source: str

    @property
    def name(self) -> str:
        return self.id.rpartition("::")[2]


def load(path: Path = ROOT / LEDGER) -> list[Claim]:
    """Read the claims in the ledger's order; raise LedgerError with every fault found."""
    # BaseLoader keeps every scalar as text: the verdicts true and false are words, not booleans.
    entries = yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)
    if not isinstance(entries, list):
        raise LedgerError(f"{path}: wanted a list of claims, came {type(entries).__name__}")
    faults = [f"{path}: {fault}" for number, entry in enumerate(entries, 1)
              for fault in _faults(number, entry)]
    ids = [entry.get("id") for entry in entries if isinstance(entry, dict)]
    faults += [f"{path}: claim {i} stands there twice; merge the two entries"
               for i in sorted({i for i in ids if i and ids.count(i) > 1})]
    if faults:
        raise LedgerError("\n".join(faults))
    return [Claim(**entry | {"tests": tuple(entry["tests"])}) for entry in entries]


def _faults(number: int, entry: object):
    """What is wrong with one entry of the ledger, in words."""
    wanted = [field.name for field in fields(Claim)]
    if not isinstance(entry, dict):
        yield f"entry {number} is no mapping; give it the fields {', '.join(wanted)}"
        return
    name = f"claim {entry['id']}" if entry.get("id") else f"entry {number}"
    for field in wanted:
        if not entry.get(field) and field != "tests":
            yield f"{name} lacks the field {field}; add it"
    for field in sorted(entry.keys() - set(wanted)):
        yield f"{name} has the unknown field {field}; the fields are {', '.join(wanted)}"
    if not isinstance(entry.get("tests"), list):
        yield f"{name} lacks the list of tests; list pytest node ids, one a line"
    verdict = entry.get("verdict", "true")
    if verdict not in set(VERDICTS) - {"true if"} and not re.match(r"true if \S", str(verdict)):
        yield f"{name} has the verdict {verdict!r}; use {', '.join(VERDICTS)} (with its condition)"
    if entry.get("plane", PLANES[0]) not in PLANES:
        yield f"{name} has the plane {entry['plane']!r}; use one of {', '.join(PLANES)}"


def find_tests(root: Path = ROOT) -> dict[str, ClaimTest]:
    """Every top-level test function under `root`/tests by node id, read without importing it."""
    found = {}
    for path in sorted(root.glob("tests/**/test_*.py")):
        text = path.read_text("utf-8")
        for node in ast.parse(text, str(path)).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                first = min([node.lineno] + [mark.lineno for mark in node.decorator_list])
                test = ClaimTest(f"{path.relative_to(root).as_posix()}::{node.name}",
                                 tuple(_marked_claims(node)),
                                 "\n".join(text.splitlines()[first - 1:node.end_lineno]))
                found[test.id] = test
    return found


def _marked_claims(function: ast.FunctionDef):
    """The ids in a test's decorators @pytest.mark.claim("B7", …), or @claim("B7") for short."""
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func).split(".")[-1] == "claim":
            yield from (arg.value for arg in mark.args if isinstance(arg, ast.Constant))


def chapter_file(claim: Claim, root: Path = ROOT) -> Path | None:
    """The notebook or Markdown page that should hold the claim's verdict box."""
    files = (root / f"{claim.chapter}{suffix}" for suffix in (".ipynb", ".md"))
    return next((file for file in files if file.is_file()), None)


def boxes(chapter: Path) -> list[str]:
    """The ids in the chapter's {claim} directives, in reading order."""
    text = chapter.read_text("utf-8")
    if chapter.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return re.findall(r"^\s*(?:`{3,}|:{3,})\{claim\}\s+(\S+)\s*$", text, re.MULTILINE)


def broken_links(claims: list[Claim], root: Path = ROOT) -> list[str]:
    """Every missing link between claims, tests and verdict boxes: where, what, and the cure."""
    tests, broken = find_tests(root), []
    for claim in claims:
        mark = f'@pytest.mark.claim("{claim.id}")'
        if not claim.tests:
            broken.append(f"{LEDGER}: claim {claim.id} has no test; "
                          f"write one under tests/claims, mark it {mark}, and list it")
        for test in claim.tests:
            if test not in tests:
                broken.append(f"{LEDGER}: claim {claim.id} names the test {test}, which does not "
                              "exist; write it as a top-level function, or correct the name")
            elif claim.id not in tests[test].claims:
                broken.append(f"{test}: is listed for claim {claim.id} but not marked; add {mark}")
        chapter = chapter_file(claim, root)
        if chapter is None:
            broken.append(f"{LEDGER}: claim {claim.id} names the chapter {claim.chapter}, which "
                          "is neither a notebook nor a Markdown page; correct the name")
        elif (count := boxes(chapter).count(claim.id)) != 1:
            broken.append(f"{chapter.relative_to(root).as_posix()}: holds {count} verdict boxes "
                          f"for claim {claim.id}; write {{claim}} {claim.id} in it once")
    listed = {claim.id: claim.tests for claim in claims}
    broken += [f"{test.id}: is marked for claim {claim} but not listed; add it to the claim in "
               f"{LEDGER}, or remove the mark"
               for test in tests.values() for claim in test.claims
               if test.id not in listed.get(claim, ())]
    return broken
