"""A chapter's files, and the one fixed form in which they are stored.

    chapters/NAME.ipynb         the notebook with its outputs: what the site shows
    chapters/text/NAME.md       the same cells without outputs (jupytext, md:myst), for review
    chapters/colab/NAME.ipynb   the plain copy, generated, for Colab and for download

The same chapter always has the same bytes: no times, no random ids, no versions of tools.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
import yaml
from nbformat import NotebookNode

from bookbuild.address import ROOT

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}

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

# Everything else that tools leave in a cell's metadata (times, folded states, …) is dropped.
CELL_METADATA = ("tags", "mystnb", "slideshow")

# What figures.show prints beside a picture; the site wants it in the cell's metadata.
ALT = "Figure: "

# Its model ids are random, and on a page without a kernel it shows nothing.
WIDGET = "application/vnd.jupyter.widget-view+json"

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


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Return the same notebook in the fixed form: metadata, ids and outputs.

    A cell's id comes from what it says, so that a new cell leaves the others' ids alone.
    """
    synced = notebook.metadata.get("book", {}).get("synced")
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    fixed = nbformat.v4.new_notebook(metadata=metadata)
    if synced:
        fixed.metadata.book = {"synced": synced}
    if page := notebook.metadata.get("myst"):  # the page's description, for search engines
        fixed.metadata.myst = page
    ids = set()
    for old in notebook.cells:
        cell = NotebookNode(cell_type=old.cell_type, source=old.source.strip("\n"))
        if cell.cell_type == "markdown":
            cell.source = cell.source.rstrip()  # the text cannot keep spaces there
        if not cell.source.strip():
            continue
        cell.metadata = NotebookNode(
            {key: old.metadata[key] for key in CELL_METADATA if old.metadata.get(key)}
        )
        cell.id = cell_id(cell, ids)
        if cell.cell_type == "code":
            cell.execution_count = old.get("execution_count")
            cell.outputs = normal_outputs(old.get("outputs", []))
            if alt := alternative_text(cell):
                cell.metadata.mystnb = {"image": {"alt": alt}}
        fixed.cells.append(cell)
    return fixed


def alternative_text(cell: NotebookNode) -> str:
    """Return what a cell's picture shows, in the words that were given with it; else ''."""
    for output in cell.outputs:
        data = output.get("data", {})
        if any(kind.startswith("image/") for kind in data):
            return data.get("text/plain", "").removeprefix(ALT)
    return ""


def cell_id(cell: NotebookNode, taken: set[str]) -> str:
    """Return a cell's id, and add it to those taken."""
    name = "bootstrap"  # keeps its id when the repository's address changes
    if "bootstrap" not in cell.metadata.get("tags", []):
        name = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
    fresh, number = name, 1
    while fresh in taken:
        number += 1
        fresh = f"{name}-{number}"
    taken.add(fresh)
    return fresh


def normal_outputs(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Return outputs without widget views, printed text in one piece however it arrived."""
    fixed = []
    for output in outputs:
        output = NotebookNode(output)
        if output.output_type == "stream" and fixed and fixed[-1].get("name") == output.name:
            fixed[-1].text += output.text
            continue
        if "data" in output:
            output.data = NotebookNode({k: v for k, v in output.data.items() if k != WIDGET})
        fixed.append(output)
    return fixed
