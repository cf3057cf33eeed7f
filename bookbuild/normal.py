"""The one fixed form of a notebook, whatever tool has saved it.

The same chapter always has the same bytes: no times, no random ids, no versions of tools.
"""

import hashlib

import nbformat
from nbformat import NotebookNode

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}

# Everything else that tools leave in a cell's metadata (times, folded states, …) is dropped.
CELL_METADATA = ("tags", "mystnb", "slideshow")

# What figures.show prints beside a picture; the site wants it in the cell's metadata.
ALT = "Figure: "

# Its model ids are random, and on a page without a kernel it shows nothing.
WIDGET = "application/vnd.jupyter.widget-view+json"


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
