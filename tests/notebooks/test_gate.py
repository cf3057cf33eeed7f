"""The static gate: the book passes it, and each fault it knows is caught and named."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from bookbuild.chapter import as_json, chapters, read
from bookbuild.gate import faults
from bookbuild.lookup import Book

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


def html(body, kind="text/html"):
    """Return a change that adds a cell with this output."""
    return code("f", new_output("display_data", data={kind: body, "text/plain": ""}))


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
    "script": (html('<script src="//cdn.example/x.js"></script>'), "reaches another host"),
    "link": (html("<link href=https://example.org/x.css>"), "reaches another host"),
    "style": (html("<style>a{background:url('//x.org/a')}</style>"), "reaches another host"),
    "JavaScript": (html("go()", "application/javascript"), "the output is JavaScript"),
    "img": (html('<img src="data:image/png;base64,aGk=">'), "an <img> without alternative"),
    "img, empty alt": (html('<img alt="" src="a.png">'), "an <img> without alternative"),
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


def test_html_that_stands_alone_has_no_fault(small, store):
    notebook = read(small.notebook)
    body = '<svg xmlns="http://www.w3.org/2000/svg"><a href="#x"/></svg><img alt="a > b" src="x">'
    html(body)(notebook)
    store(small, notebook)
    assert found(small) == ""


@pytest.mark.parametrize(
    "old, new", [(b"\n", b"\r\n"), (b"", b"\xef\xbb\xbf")], ids=["CRLF", "BOM"]
)
@pytest.mark.parametrize("path", ["text", "notebook", "colab"])
def test_other_bytes_for_the_same_cells_are_seen(small, path, old, new):
    file = getattr(small, path)
    data = file.read_bytes()
    file.write_bytes(data.replace(old, new) if old else new + data)
    assert "stale" in found(small) if path == "colab" else "not in the fixed form" in found(small)


@pytest.mark.parametrize("path", ["text", "notebook"])
def test_a_broken_file_is_one_fault(small, path):
    getattr(small, path).write_text("")
    assert found(small).startswith(f"{getattr(small, path)} cannot be read")
    assert len(found(small).splitlines()) == 1


@pytest.mark.parametrize("path", ["text", "notebook", "colab"])
def test_a_missing_file_is_seen(small, path):
    getattr(small, path).unlink()
    assert "missing" in found(small)


def test_a_stale_plain_copy_is_seen(small):
    small.colab.write_text(small.colab.read_text().replace("An idea.", "An old idea."))
    assert "plain copy in colab/ is missing or stale" in found(small)
