"""A chapter's files, read into the one fixed form and written from it.

    chapters/NAME.ipynb         the notebook with its outputs: what the site shows
    chapters/text/NAME.md       the same cells without outputs (jupytext, md:myst), for review
    chapters/colab/NAME.ipynb   the plain copy, generated, for Colab and for download
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
import yaml
from nbformat import NotebookNode

from bookbuild.address import ROOT
from bookbuild.normal import normalise

# No jupytext version here: it would change with every contributor's environment.
HEADER = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
    format_version: 0.13
kernelspec:
  display_name: Python 3
  language: python
  name: python3
"""

# What git leaves in a file after a merge: bare in a text, quoted in a notebook's cell.
CONFLICT = re.compile(r'^(?: +")?(?:<{7}|>{7}) ', re.MULTILINE)


class PairingError(ValueError):
    """The two forms cannot be brought together; the message says what to do."""


class UnreadableError(PairingError):
    """A file holds no chapter: it is broken, empty, or in the middle of a merge."""


@dataclass(frozen=True)
class Chapter:
    """A chapter's files, by its name."""

    name: str
    folder: Path = ROOT / "chapters"

    @property
    def notebook(self) -> Path:
        """The notebook with outputs."""
        return self.folder / f"{self.name}.ipynb"

    @property
    def text(self) -> Path:
        """The paired MyST text."""
        return self.folder / "text" / f"{self.name}.md"

    @property
    def colab(self) -> Path:
        """The generated copy in plain Markdown."""
        return self.folder / "colab" / f"{self.name}.ipynb"


def chapters(folder: Path = ROOT / "chapters") -> list[Chapter]:
    """Return every chapter that has a notebook or a text."""
    names = {path.stem for path in [*folder.glob("*.ipynb"), *folder.glob("text/*.md")]}
    return [Chapter(name, folder) for name in sorted(names)]


def read(path: Path) -> NotebookNode:
    """Return a notebook, or a text as a notebook without outputs, in the fixed form.

    Raises UnreadableError for a file without cells, and PairingError for a pasted picture.
    """
    other = "notebook" if path.suffix == ".md" else "text"
    cure = f"mend it, take back the last version with 'git checkout', or sync --from {other}"
    try:
        text = path.read_text(encoding="utf-8-sig")
        if CONFLICT.search(text):
            raise ValueError("it holds a git conflict")
        notebook = from_text(text) if path.suffix == ".md" else from_json(text)
        if not notebook.cells:
            raise ValueError("it has no cells")
    except PairingError as error:
        raise PairingError(f"{path}: {error}") from None
    except Exception as error:  # the parsers raise of every kind
        reason = (str(error) or type(error).__name__).split("\n")[0][:120]
        raise UnreadableError(f"{path} cannot be read ({reason}): {cure}") from error
    return notebook


def from_json(text: str) -> NotebookNode:
    """Return the text of a notebook's file as a notebook in the fixed form."""
    notebook = nbformat.reads(text, as_version=4)
    for number, cell in enumerate(notebook.cells, 1):
        if cell.get("attachments"):  # the paired text has no place for them
            raise PairingError(
                f"cell {number} holds a pasted picture, which the text cannot keep: "
                "save it in chapters/images and link to it"
            )
    return normalise(notebook)


def from_text(text: str) -> NotebookNode:
    """Return MyST text as a notebook in the fixed form, without outputs."""
    notebook = normalise(jupytext.reads(text, fmt="md:myst"))
    if notebook.cells and notebook.cells[0].source.startswith("---\n"):
        raise ValueError("its header has no end")
    # A file that was cut inside a cell: what is left open there would swallow another cell.
    if jupytext.reads(f"{text}\n\n+++\n\nend\n", fmt="md:myst").cells[-1].source != "end":
        raise ValueError("its last cell has no end, such as the closing ``` of a code fence")
    return notebook


def as_json(notebook: NotebookNode) -> str:
    """Return a notebook as the text of its file."""
    return nbformat.writes(notebook) + "\n"


def as_text(notebook: NotebookNode) -> str:
    """Return a notebook's cells as MyST text."""
    body = jupytext.writes(notebook, fmt="md:myst").split("---\n", 2)[2].rstrip("\n")
    header = HEADER
    if page := notebook.metadata.get("myst"):
        plain = json.loads(json.dumps({"myst": page}))  # yaml knows no NotebookNode
        header += yaml.safe_dump(plain, allow_unicode=True, width=96)
    return f"{header}---\n{body}\n"
