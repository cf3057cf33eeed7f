"""Keeping a chapter's notebook and its text, which people review, at the same cells."""

import hashlib
import json
from difflib import SequenceMatcher

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from bookbuild.chapter import (
    Chapter,
    PairingError,
    UnreadableError,
    as_json,
    as_text,
    from_text,
    read,
)
from bookbuild.files import replace


def sources(notebook: NotebookNode) -> list[tuple[str, str, dict]]:
    """Return what the two forms have in common: each cell's type, source and metadata."""
    page = ("page", "", dict(notebook.metadata.get("myst", {})))
    return [page, *((cell.cell_type, cell.source, dict(cell.metadata)) for cell in notebook.cells)]


def fingerprint(notebook: NotebookNode) -> str:
    """Return a short name for a notebook's sources."""
    return hashlib.sha256(json.dumps(sources(notebook), sort_keys=True).encode()).hexdigest()[:16]


def sync(chapter: Chapter, source: str | None = None) -> str:
    """Bring both forms to the same sources; return in words which way it went.

    `source` is "notebook" or "text" where it must be said. Otherwise it is found by the
    fingerprint that the notebook keeps of the last sync: the form that still has it is the old
    one. Raises PairingError, and writes nothing, if both have changed, if one that is needed
    cannot be read, or if a cell would not survive in the text.
    """
    if source and not getattr(chapter, source).exists():
        raise PairingError(f"{getattr(chapter, source)} does not exist")
    if not chapter.text.exists() or source == "notebook":
        return settle(chapter, read(chapter.notebook), "text from notebook")
    text = read(chapter.text)
    if not chapter.notebook.exists():
        return settle(chapter, text, "notebook from text")
    try:
        notebook = read(chapter.notebook)
    except UnreadableError:
        if source != "text":
            raise
        return settle(chapter, text, "notebook from text")
    if sources(notebook) == sources(text):
        return settle(chapter, notebook, "already the same")
    synced = notebook.metadata.get("book", {}).get("synced")
    if source == "text" or synced == fingerprint(notebook):
        return settle(chapter, with_outputs(text, notebook), "notebook from text")
    if synced == fingerprint(text):
        return settle(chapter, notebook, "text from notebook")
    raise PairingError(
        f"{chapter.name}: notebook and text have both changed since they were last the same. "
        "Say which one to keep: --from notebook or --from text"
    )


def settle(chapter: Chapter, notebook: NotebookNode, direction: str) -> str:
    """Write both forms of `notebook`; raises PairingError if the text would lose something."""
    if lost := first_lost(notebook):
        raise PairingError(
            f"{chapter.name}: {lost} does not come back the same from the text; nothing is "
            "written. Look for a code fence without an end, a line '+++' or '{code-cell}' in "
            "Markdown, or a control character"
        )
    notebook.metadata.book = {"synced": fingerprint(notebook)}
    changed = replace(chapter.notebook, as_json(notebook))
    changed = replace(chapter.text, as_text(notebook)) or changed
    return direction + (" (tidied)" if changed and direction == "already the same" else "")


def first_lost(notebook: NotebookNode) -> str:
    """Return the name of the first cell that the text does not give back; "" for none."""
    if survives(notebook):
        return ""
    after = new_code_cell("pass")  # a fence without an end harms only what follows it
    for number in range(len(notebook.cells)):
        if not survives(NotebookNode(notebook | {"cells": [*notebook.cells[:number], after]})):
            break
    else:
        number = len(notebook.cells)
    if not number:
        return "the page's description"
    return f"cell {number} ('{notebook.cells[number - 1].source.splitlines()[0][:40]}')"


def survives(notebook: NotebookNode) -> bool:
    """Say whether a notebook's sources are the same after a way through the text."""
    try:
        return sources(from_text(as_text(notebook))) == sources(notebook)
    except Exception:  # the parsers raise of every kind
        return False


def with_outputs(new: NotebookNode, old: NotebookNode) -> NotebookNode:
    """Return `new` with the outputs of `old` in every code cell that is still the same."""
    matches = SequenceMatcher(None, keys(old), keys(new), autojunk=False).get_matching_blocks()
    for at, there, size in matches:
        for offset in range(size):
            before, now = old.cells[at + offset], new.cells[there + offset]
            if now.cell_type == "code":
                now.outputs, now.execution_count = before.outputs, before.execution_count
    return new


def keys(notebook: NotebookNode) -> list[tuple[str, str]]:
    """Return what makes each cell the same cell."""
    return [(cell.cell_type, cell.source) for cell in notebook.cells]
