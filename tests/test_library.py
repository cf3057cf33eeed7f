"""The library reference: made from the source as it stands, without importing it, and complete."""

import ast
import json
import re
import subprocess
import sys

import pytest
from bs4 import BeautifulSoup

from bookbuild.claims import ROOT
from bookbuild.library import laid_out, module_file, public

PACKAGE = {
    "__init__": "from .see import see\n__all__ = ['see']\n",
    "see": '''"""Seeing."""
import no_such_module

def see(what: int, *, depth=1) -> bool:
    """See it.

    Shapes
        what (..., n); a *lone star, a |bar| and a trailing_ underscore.

    Parameters
        depth     how deep,
                  in metres.
        what      the thing.

        x = 1    # shown
          y = 2  # as it stands
    """

def look():
    """Look with `see`."""

def unexplained(): ...
def _hidden():
    """Not shown."""
''',
    "show": '''"""Showing."""
from dataclasses import dataclass
from .see import look
__all__ = ["Frame", "look"]

@dataclass
class Frame:
    """A frame."""
    width: int
    height: int = 3

    def area(self, unit="m"):
        """Its area."""

    def __len__(self):
        return 1

def left_out():
    """Not offered."""
''',
}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The reference of a small package that cannot be imported."""
    root = tmp_path_factory.mktemp("book")
    (root / "qkvlib").mkdir()
    for name, source in PACKAGE.items():
        (root / f"qkvlib/{name}.py").write_text(source, "utf-8")
    (root / "index.md").write_text(
        "# Library\n\n```{library} see\n```\n\n```{library} show\n```\n", "utf-8")
    (root / "conf.py").write_text("extensions = ['myst_parser', 'bookbuild.library']\n", "utf-8")
    result = subprocess.run([sys.executable, "-m", "sphinx", "-W", "-q", root, root / "out"],
                            cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return BeautifulSoup((root / "out/index.html").read_text("utf-8"), "html.parser")


def test_functions_stand_under_the_name_by_which_they_are_called(page):
    # The package exports `see` by the name of its module, which then is out of reach.
    names = [entry["id"] for entry in page.find_all("dt", id=True)]
    assert names == ["qkvlib.see", "qkvlib.look", "qkvlib.show.Frame", "qkvlib.show.Frame.area",
                     "qkvlib.show.look"]


def test_signatures_are_shown_as_written(page):
    signatures = [" ".join(entry.text.split()) for entry in page.find_all("dt", id=True)]
    assert signatures == [
        "qkvlib.see(what: int, *, depth=1) → bool¶",
        "qkvlib.look()¶",
        "class qkvlib.show.Frame(width: int, height: int = 3)¶",
        "qkvlib.show.Frame.area(unit='m')¶",
        "qkvlib.show.look()¶",
    ]


def test_docstrings_are_set_as_they_are_laid_out(page):
    entry = page.find(id="qkvlib.see").find_next("dd")
    assert entry.find("p").text == "See it."
    terms = {term.text: term.find_next("dd").text.strip() for term in entry.find_all("dt")}
    assert terms["Shapes"] == "what (…, n); a *lone star, a |bar| and a trailing_ underscore."
    assert terms["depth"] == "how deep, in metres." and terms["what"] == "the thing."
    assert entry.find("pre").text.rstrip() == "x = 1    # shown\n  y = 2  # as it stands"
    assert page.find(id="qkvlib.look").find_next("code", class_="literal").text == "see"


def test_a_term_has_words_or_entries():
    words = laid_out("Raises\n    ValueError for no shape\n    at all.")
    assert words.astext().split("\n\n") == ["Raises", "ValueError for no shape at all."]
    entries = laid_out("Parameters\n    a, b  the\n          two\n    c     one")
    assert entries.astext().split("\n\n") == ["Parameters", "a, b", "the two", "c", "one"]


SHOWN = re.findall(r"\{library\} (\w+)",
                   (ROOT / "chapters/appendix/library.md").read_text("utf-8"))


def test_the_page_shows_every_module_that_a_notebook_imports():
    imported = set()
    for notebook in ROOT.glob("chapters/*.ipynb"):
        for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                source = "".join(cell["source"])
                imported.update(re.findall(r"^from qkvlib\.(\w+) import", source, re.MULTILINE))
                for names in re.findall(r"^from qkvlib import (.+)", source, re.MULTILINE):
                    imported.update(name for name in names.split(", ")
                                    if module_file(ROOT / "qkvlib", name))
    assert imported and imported <= set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_whatever_the_page_shows_explains_itself(name):
    file = module_file(ROOT / "qkvlib", name)
    assert ast.get_docstring(ast.parse(file.read_text("utf-8")))
    assert public(file)
