"""The claims ledger: the book's own is consistent, every kind of broken link is caught, and the
directives put claims on the page."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from sphinx.errors import ExtensionError

from bookbuild.claims import LEDGER, ROOT, LedgerError, boxes, broken_links, load
from bookbuild.verdicts import read_ledger

TWO_CLAIMS = """
- id: B1
  statement: Water is wet.
  source: essay, section 1
  verdict: true
  plane: algebra
  reason: Because $w > 0$.
  chapter: chapters/water
  tests: ["tests/claims/test_water.py::test_B1_wet"]
- id: B2
  statement: Ice is wet.
  source: essay, section 2
  verdict: true if it melts
  plane: evidence
  reason: It is dry while it is cold.
  chapter: chapters/water
  tests: ["tests/claims/test_water.py::test_B2_dry"]
"""

TWO_TESTS = """
import no_such_module
import pytest

@pytest.mark.claim("B1")
def test_B1_wet():
    assert "w" < "x"

@no_such_module.given(1)
@pytest.mark.claim("B2")
def test_B2_dry():
    assert True
"""

CELLS = ["# Water", "Text.\n\n```{claim} B1\n```", ":::{claim} B2\n:::"]


def write(root: Path, claims=TWO_CLAIMS, tests=TWO_TESTS, cells=CELLS) -> Path:
    """A book with one chapter, two claims and two tests; returns its ledger."""
    for folder in ("chapters", "tests/claims"):
        (root / folder).mkdir(parents=True)
    notebook = {"cells": [{"cell_type": "markdown", "id": f"c{i}", "metadata": {}, "source": text}
                          for i, text in enumerate(cells)],
                "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (root / "chapters/water.ipynb").write_text(json.dumps(notebook), "utf-8")
    (root / "tests/claims/test_water.py").write_text(tests, "utf-8")
    (root / LEDGER).write_text(claims, "utf-8")
    return root / LEDGER


def test_the_ledger_of_this_book_is_consistent():
    assert broken_links(load()) == []


def test_every_box_of_this_book_names_a_claim_of_its_chapter():
    chapter_of = {claim.id: claim.chapter for claim in load()}
    for page in ROOT.glob("chapters/*.ipynb"):
        for claim in boxes(page):
            assert chapter_of.get(claim) == f"chapters/{page.stem}"


def test_the_small_ledger_of_these_tests_is_consistent(tmp_path):
    claims = load(write(tmp_path))
    assert [(claim.id, claim.word) for claim in claims] == [("B1", "true"), ("B2", "true if")]
    assert broken_links(claims, tmp_path) == []


LEDGER_FAULTS = {
    "no list": ("B1: true", "", ["wanted a list"]),
    "missing field": ("  plane: algebra\n", "", ["claim B1 lacks the field plane"]),
    "missing id": ("- id: B1\n  statement", "- statement", ["entry 1 lacks the field id"]),
    "unknown field": ("  plane: algebra", "  plan: algebra", ["unknown field plan", "plane"]),
    "unknown verdict": ("verdict: true\n", "verdict: maybe\n", ["'maybe'", "unsupported"]),
    "true if nothing": ("true if it melts", "true if", ["claim B2", "'true if'"]),
    "unknown plane": ("plane: evidence", "plane: hearsay", ["'hearsay'", "training"]),
    "twice": ("id: B2", "id: B1", ["B1 stands there twice"]),
    "tests no list": ('["tests/claims/test_water.py::test_B1_wet"]', "all", ["list of tests"]),
}


@pytest.mark.parametrize("kind", LEDGER_FAULTS)
def test_an_unreadable_ledger_is_refused(tmp_path, kind):
    old, new, words = LEDGER_FAULTS[kind]
    claims = old if kind == "no list" else TWO_CLAIMS.replace(old, new, 1)
    assert claims != TWO_CLAIMS
    ledger = write(tmp_path, claims)
    with pytest.raises(LedgerError) as error:
        load(ledger)
    assert all(word in str(error.value) for word in [*words, str(ledger)])


def test_all_faults_of_a_ledger_are_told_at_once(tmp_path):
    ledger = write(tmp_path, TWO_CLAIMS.replace("verdict", "veredict"))
    with pytest.raises(LedgerError) as error:
        load(ledger)
    assert str(error.value).count("lacks the field verdict") == 2


TEST_FILE, CHAPTER = "tests/claims/test_water.py", "chapters/water.ipynb"
BROKEN_LINKS = {
    "no test": ("claims", '["tests/claims/test_water.py::test_B2_dry"]', "[]",
                [f"{LEDGER}: claim B2 has no test", f"{TEST_FILE}::test_B2_dry: is marked"]),
    "test does not exist": ("tests", "def test_B2_dry", "def test_B2_wet",
                            [f"{LEDGER}: claim B2 names the test {TEST_FILE}::test_B2_dry",
                             f"{TEST_FILE}::test_B2_wet: is marked"]),
    "test not marked": ("tests", '@pytest.mark.claim("B1")\n', "",
                        [f'{TEST_FILE}::test_B1_wet: is listed for claim B1 but not marked; '
                         'add @pytest.mark.claim("B1")']),
    "marked for another claim": ("tests", 'claim("B1")', 'claim("B1", "B2")',
                                 [f"{TEST_FILE}::test_B1_wet: is marked for claim B2"]),
    "marked for an unknown claim": ("tests", 'claim("B1")', 'claim("B1", "B3")',
                                    [f"{TEST_FILE}::test_B1_wet: is marked for claim B3"]),
    "no box": ("cells", "{claim} B2", "{note}", [f"{CHAPTER}: holds 0 verdict boxes"]),
    "two boxes": ("cells", "{claim} B2", "{claim} B1",
                  [f"{CHAPTER}: holds 2 verdict boxes for claim B1",
                   f"{CHAPTER}: holds 0 verdict boxes for claim B2"]),
    "no chapter": ("claims", "chapter: chapters/water", "chapter: chapters/ice",
                   [f"{LEDGER}: claim B1 names the chapter chapters/ice"]),
}


@pytest.mark.parametrize("kind", BROKEN_LINKS)
def test_a_broken_link_is_caught(tmp_path, kind):
    part, old, new, wanted = BROKEN_LINKS[kind]
    parts = {"claims": TWO_CLAIMS, "tests": TWO_TESTS, "cells": "\0".join(CELLS)}
    assert old in parts[part]
    parts[part] = parts[part].replace(old, new, 1)
    claims = load(write(tmp_path, **parts | {"cells": parts["cells"].split("\0")}))
    found = broken_links(claims, tmp_path)
    assert len(found) == len(wanted)
    for words in wanted:
        assert any(link.startswith(words) for link in found), found


def build(root: Path, parser: str) -> subprocess.CompletedProcess:
    """Build the small book as strictly as the real one."""
    (root / "index.md").write_text(
        "# Book\n\n```{toctree}\nchapters/water\nledger\n```\n\n```{verdict-board}\n```\n\n"
        "See {ref}`claim-B2`.\n", "utf-8")
    (root / "ledger.md").write_text("# Ledger\n\n```{claims-ledger}\n```\n", "utf-8")
    (root / "conf.py").write_text(
        f"extensions = ['{parser}', 'bookbuild.verdicts']\nnb_execution_mode = 'off'\n"
        "myst_enable_extensions = ['colon_fence', 'dollarmath']\n", "utf-8")
    strictly = ["-b", "html", "-W", "--keep-going", "-q"]
    return subprocess.run([sys.executable, "-m", "sphinx", *strictly, root, root / "out"],
                          cwd=ROOT, capture_output=True, text=True)


def test_the_directives_put_the_claims_on_the_page(tmp_path):
    write(tmp_path)
    result = build(tmp_path, "myst_nb")
    assert result.returncode == 0, result.stderr
    pages = {name: BeautifulSoup((tmp_path / f"out/{name}.html").read_text("utf-8"), "html.parser")
             for name in ("index", "ledger", "chapters/water")}

    box = pages["chapters/water"].find(id="claim-B2")
    assert box.find(class_="verdict").text == "true if it melts"
    assert {"claim", "verdict-true-if"} <= set(box["class"])
    for words in ("Claim B2", "Ice is wet.", "It is dry while it is cold.", "evidence"):
        assert words in box.text
    assert {link["href"] for link in box.find_all("a")} == {
        "../ledger.html#ledger-test_B2_dry", "../ledger.html#ledger-B2"}

    board = pages["index"].find(class_="verdict-board")
    rows = [[cell.text for cell in row.find_all("td")] for row in board.find_all("tr")[1:]]
    assert rows == [["B1", "Water is wet.", "true"], ["B2", "Ice is wet.", "true if …"]]
    assert [link["href"] for link in board.find_all("a")] == [
        "chapters/water.html", "chapters/water.html#claim-B1", "chapters/water.html#claim-B2"]

    entry = pages["ledger"].find(id="ledger-B1")
    assert "essay, section 1" in entry.text and entry.find(class_="math")
    test = pages["ledger"].find(id="ledger-test_B2_dry")
    assert test.find("details").find("summary").text == "test_B2_dry"
    assert "@no_such_module.given(1)" in test.find("pre").text
    assert (tmp_path / "out/_static/claims.css").is_file()


def test_the_build_fails_on_broken_links_and_misplaced_boxes(tmp_path):
    write(tmp_path, tests=TWO_TESTS.replace('claim("B1")', 'claim("B7")'))
    (tmp_path / "chapters/ice.md").write_text(
        "---\norphan: true\n---\n# Ice\n\n```{claim} B2\n```\n\n```{claim} B9\n```\n", "utf-8")
    result = build(tmp_path, "myst_parser")
    assert result.returncode == 1
    for words in ("test_B1_wet: is listed for claim B1 but not marked",
                  "test_B1_wet: is marked for claim B7",
                  "ice.md:6: ERROR: claim B2 belongs in chapters/water",
                  "ice.md:9: ERROR: no claim B9 in chapters/claims.yml; it has B1, B2"):
        assert words in result.stderr


def test_an_unreadable_ledger_stops_the_build(tmp_path):
    write(tmp_path, TWO_CLAIMS.replace("plane: evidence", "plane: hearsay"))
    with pytest.raises(ExtensionError, match="'hearsay'"):
        read_ledger(SimpleNamespace(srcdir=tmp_path))


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, as WCAG 2 defines it."""
    channels = (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_verdicts_are_legible_in_light_and_dark():
    style = (ROOT / "bookbuild/assets/claims.css").read_text("utf-8")
    pairs = re.findall(r"\.verdict-([\w-]+) +\{ --ink: (#\w{6}); --ground: (#\w{6});", style)
    assert sorted(name for name, *_ in pairs) == sorted(
        2 * ["true", "true-if", "imprecise", "false", "unsupported"])
    for name, ink, ground in pairs:
        dark, light = sorted(map(luminance, (ink, ground)))
        assert (light + 0.05) / (dark + 0.05) >= 7, name
