"""Keeping a chapter's notebook and its text, which people review, at the same cells."""

import hashlib
import json
from difflib import SequenceMatcher

from nbformat import NotebookNode

from bookbuild.chapter import Chapter, as_json, as_text, read
from bookbuild.files import replace


class PairingError(ValueError):
    """The two forms cannot be brought together; the message says what to do."""


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
    one. Raises PairingError if both have changed.
    """
    if source and not getattr(chapter, source).exists():
        raise PairingError(f"{getattr(chapter, source)} does not exist")
    if not chapter.text.exists() or source == "notebook":
        return settle(chapter, read(chapter.notebook), "text from notebook")
    text = read(chapter.text)
    if not chapter.notebook.exists():
        return settle(chapter, text, "notebook from text")
    notebook = read(chapter.notebook)
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
    """Write both forms of `notebook`."""
    notebook.metadata.book = {"synced": fingerprint(notebook)}
    changed = replace(chapter.notebook, as_json(notebook))
    changed = replace(chapter.text, as_text(notebook)) or changed
    return direction + (" (tidied)" if changed and direction == "already the same" else "")


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
