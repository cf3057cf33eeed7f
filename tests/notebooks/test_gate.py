"""The static gate: the book passes it, and each fault it knows is caught and named."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from bookbuild.chapter import as_json, chapters, read
from bookbuild.gate import faults
from bookbuild.lookup import Book
from bookbuild.prose import strange_decimals

CHAPTERS = chapters()


def found(chapter):
    """Return the faults of a chapter, one a line."""
    return "\n".join(faults(chapter, Book(chapter.folder.parent)))


def test_the_book_has_chapters():
    assert CHAPTERS, "chapters/ holds no notebook: nothing would be tested"


def test_every_plain_copy_belongs_to_a_chapter():
    folder = CHAPTERS[0].colab.parent
    assert set(folder.iterdir()) == {chapter.colab for chapter in CHAPTERS}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_the_books_own_chapters_have_no_fault(chapter):
    assert found(chapter) == ""


def test_the_small_chapter_has_no_fault(small):
    assert found(small) == ""


def no_bootstrap(notebook):
    """Take the tag away from the bootstrap cell and what it does."""
    notebook.cells[1].update(source="import sys", metadata={})


def add(cell, notebook):
    """Add a cell, run like the others."""
    if cell.cell_type == "code":
        cell.execution_count = 1 + sum(c.cell_type == "code" for c in notebook.cells)
    notebook.cells.append(cell)


def code(source, *outputs):
    """Return a change that adds a code cell."""
    return lambda notebook: add(new_code_cell(source, outputs=list(outputs)), notebook)


def prose(text):
    """Return a change that adds a Markdown cell."""
    return lambda notebook: add(new_markdown_cell(text), notebook)


def lines(*counts):
    """Return a change that adds code cells of so many lines."""

    def change(notebook):
        for count in counts:
            add(new_code_cell("\n\n".join(["x = 1"] * count)), notebook)

    return change


def picture(words):
    """Return an image output with these words as its text."""
    return new_output("display_data", data={"image/png": "aGk=", "text/plain": words})


ERROR = new_output("error", ename="ValueError", evalue="no", traceback=["no"])

FAULTS = {
    "no bootstrap": (no_bootstrap, "no cell has the tag 'bootstrap'"),
    "other bootstrap": (
        lambda nb: nb.cells[1].update(source="import qkvlib"),
        "differs from bookbuild.address.bootstrap_cell()",
    ),
    "26 lines": (lines(26, 1, 1, 1, 1), "26 lines, more than 25"),
    "long cells": (lines(16), "1 of 7 code cells have over 15 lines"),
    "median": (lines(*[6] * 9), "the median code cell has 6 lines"),
    "not run": (lambda nb: nb.cells[2].update(execution_count=None), "cell 3 ('import numpy"),
    "out of order": (lambda nb: nb.cells[2].update(execution_count=9), "not in order"),
    "no alt": (code("draw()", picture("<Figure size 1x1>")), "an image without alternative text"),
    "empty alt": (code("draw()", picture("Figure: ")), "an image without alternative text"),
    "file name": (code("draw()", picture("Figure: a plot.png")), "is a file name"),
    "error": (code("1/0", ERROR), "stored with an error (ValueError)"),
    "address": (code("x", new_output("stream", text="<f at 0x7f0123abcd>")), "'0x7f0123abcd'"),
    "path": (code("x", new_output("stream", text="in /tmp/ab12/x.py")), "'/tmp/ab12'"),
    "pip": (code("!pip install torch"), "'!' runs a shell"),
    "magic": (code("%pip install torch"), "'%pip' runs a shell"),
    "urllib": (code("from urllib.request import urlopen"), "imports urllib.request"),
    "requests": (code("import requests"), "imports requests"),
    "the book's own tools": (code("import bookbuild.claims"), "imports bookbuild.claims"),
    "data set": (code("d = fetch_openml('mnist')"), "'fetch_openml' fetches data"),
    "decimal": (prose("It is 0.84."), "cell 9: 0.84 stands in no output"),
    "too large": (
        code("x", new_output("display_data", data={"text/plain": "x" * 600_000})),
        "more than 600",
    ),
    "unknown directive": (prose("```{glue} x\n```"), "cell 9: directive '{glue}'"),
    "no title": (lambda nb: nb.cells[0].update(source="Small"), "must begin with the chapter's"),
}


@pytest.mark.parametrize(("change", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_in_the_notebook_is_named(change, message, small, store):
    notebook = read(small.notebook)
    change(notebook)
    try:
        store(small, notebook)
    except ValueError:  # no plain copy can be made: the gate must say so too
        assert message in found(small)
    else:
        assert [line for line in found(small).splitlines() if message in line] == [found(small)]


def test_an_error_may_be_shown_on_purpose(small, store):
    notebook = read(small.notebook)
    add(new_code_cell("1/0", outputs=[ERROR], metadata={"tags": ["raises-exception"]}), notebook)
    store(small, notebook)
    assert found(small) == ""


def test_text_and_notebook_must_agree(small):
    small.text.write_text(small.text.read_text().replace("a = 1", "a = 2"))
    assert "cell 7: notebook and text differ" in found(small)


def test_tags_are_part_of_what_must_agree(small):
    small.text.write_text(small.text.read_text().replace(":tags: [bootstrap]\n", ""))
    assert "cell 2: notebook and text differ" in found(small)


def test_a_cell_more_in_the_text_is_seen(small):
    small.text.write_text(small.text.read_text() + "\n```{code-cell}\nx\n```\n")
    assert "cell 9: notebook and text differ" in found(small)


def test_a_text_with_other_headers_is_seen(small):
    small.text.write_text(
        small.text.read_text().replace("0.13\n", "0.13\n    jupytext_version: 1.2.3\n")
    )
    assert "the text is not in the fixed form" in found(small)


def test_widget_state_and_times_are_seen(small):
    notebook = read(small.notebook)
    notebook.metadata.widgets = {}
    small.notebook.write_text(as_json(notebook))
    assert "holds widget state" in found(small)


@pytest.mark.parametrize("path", ["text", "notebook", "colab"])
def test_a_missing_file_is_seen(small, path):
    getattr(small, path).unlink()
    assert "missing" in found(small)


def test_a_stale_plain_copy_is_seen(small):
    small.colab.write_text(small.colab.read_text().replace("An idea.", "An old idea."))
    assert "plain copy in colab/ is missing or stale" in found(small)


SHOWN = ["0.83", ".83", "0.83 %", "about 0.83, then", "$0.83$", "a step of 0.1"]
UNCHECKED = [
    "`0.84`", "version 2.13.0", "PyTorch 2.13", "CC BY 4.0", "section 3.2", "{doc}`a 0.84 <b>`",
    "[here](https://example.org/0.84)", "```python\n0.84\n```", "12 of 34", "x.84", "5 e",
]  # fmt: skip
STRANGE = ["0.84", ".84", "0.830", "$0.84$", "{note}", "4e-7", "$4 \\times 10^{-7}$", "4×10^-7"]


@pytest.mark.parametrize("text", SHOWN + UNCHECKED)
def test_decimals_that_may_stand_in_prose(text, small):
    notebook = read(small.notebook)
    add(new_code_cell("step = 0.1"), notebook)
    add(new_markdown_cell(text), notebook)
    assert strange_decimals(notebook) == []


@pytest.mark.parametrize("text", STRANGE)
def test_decimals_that_nothing_shows(text, small):
    notebook = read(small.notebook)
    add(new_markdown_cell(":::{note}\nIt is 0.84.\n:::" if text == "{note}" else text), notebook)
    assert [number for number, _ in strange_decimals(notebook)] == [len(notebook.cells)]


def test_a_number_counts_as_shown_where_readers_see_it(small):
    html = '<svg x="0.84"><text>0.85</text></svg><script>0.86</script>'
    notebook = read(small.notebook)
    add(
        new_code_cell("f", outputs=[new_output("display_data", data={"text/html": html})]), notebook
    )
    add(new_code_cell("# 0.87\n'0.88'"), notebook)
    add(new_markdown_cell("0.84 0.85 0.86 0.87 0.88"), notebook)
    assert [text for _, text in strange_decimals(notebook)] == ["0.84", "0.86", "0.87", "0.88"]
