"""A chapter as a plain notebook: the same code and outputs, its Markdown readable anywhere.

Colab, GitHub and a download show this copy; it is generated, never edited.
"""

from copy import deepcopy

from nbformat import NotebookNode

from bookbuild.lookup import Book
from bookbuild.lowering import lower
from bookbuild.myst import MystError
from bookbuild.normal import KERNEL

# The site folds cells with these tags. JupyterLab and Colab each have their own words for it.
FOLDED = {"hide-input", "hide-cell", "remove-input"}


def plain_copy(notebook: NotebookNode, book: Book) -> NotebookNode:
    """Return the plain copy of the chapter that `book` is open at.

    Raises MystError, naming the cell, for Markdown that has no plain form.
    """
    copy = deepcopy(notebook)
    copy.metadata = NotebookNode(kernelspec=KERNEL, language_info={"name": "python"})
    for number, cell in enumerate(copy.cells, 1):
        if cell.cell_type == "markdown":
            try:
                cell.source = lower(cell.source, book)
            except MystError as error:
                raise MystError(f"cell {number}: {error}") from None
            cell.metadata = NotebookNode()
        elif cell.cell_type == "code":
            cell.metadata = code_metadata(cell)
    copy.cells = [cell for cell in copy.cells if cell.source]
    if not copy.cells:
        raise MystError("no cell shows anything: begin with the chapter's title ('# …')")
    copy.cells[0].source = with_origin(copy.cells[0].source, book)
    return copy


def code_metadata(cell: NotebookNode) -> NotebookNode:
    """Return the metadata worth keeping: tags, what a picture shows, and what is folded."""
    if cell.metadata.get("mystnb", {}).get("figure"):
        raise MystError("a figure's caption is lost in the plain copy: say it in Markdown instead")
    tags = cell.metadata.get("tags", [])
    metadata = NotebookNode(tags=tags) if tags else NotebookNode()
    if "mystnb" in cell.metadata:
        metadata.mystnb = cell.metadata.mystnb
    if FOLDED & set(tags):
        metadata.jupyter = {"source_hidden": True}
        metadata.cellView = "form"
    return metadata


def with_origin(source: str, book: Book) -> str:
    """Return the first cell with a line below its title that says what this copy is."""
    title, _, rest = source.partition("\n")
    if not title.startswith("# "):
        raise MystError("the first cell must begin with the chapter's title ('# …')")
    page = book.page_address(book.reading)
    there = f"[page]({page})" if page else "page"
    origin = (
        f"*This notebook is a copy, for Colab and for download, of a chapter of “{book.name}”; on "
        f"the chapter's {there} the figures move without running anything.*"
    )
    return f"{title}\n\n{origin}\n{rest}".rstrip("\n")
