"""Notebook and text: which one is newer, what survives a sync, and one fixed form for both."""

import json

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookbuild.chapter import Chapter, as_json, read
from bookbuild.normal import normalise
from bookbuild.pairing import PairingError, sync


def edit(path, old, new):
    """Replace text in a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def outputs(chapter):
    """Return what each code cell printed or showed, as stored."""
    return [cell.outputs for cell in read(chapter.notebook).cells if cell.cell_type == "code"]


def test_the_same_sources_stay_the_same_bytes(small):
    before = small.notebook.read_bytes(), small.text.read_bytes()
    assert sync(small) == "already the same"
    assert (small.notebook.read_bytes(), small.text.read_bytes()) == before


def test_an_edited_text_goes_into_the_notebook(small):
    edit(small.text, "An idea.", "A better idea.")
    assert sync(small) == "notebook from text"
    assert "A better idea." in read(small.notebook).cells[0].source


def test_an_edited_notebook_goes_into_the_text(small):
    edit(small.notebook, "An idea.", "A better idea.")
    assert sync(small) == "text from notebook"
    assert "A better idea." in small.text.read_text()


def test_outputs_survive_in_unchanged_cells_alone(small):
    edit(small.text, "a = 1", "a = 3")
    edit(small.text, "# Small", "# Small\n\n+++\n\nA new cell.")
    before = outputs(small)
    sync(small)
    after = outputs(small)
    assert after == before and any(after)
    counts = [c.execution_count for c in read(small.notebook).cells if c.cell_type == "code"]
    assert counts == [1, 2, 3, 4, None, 6]


def test_when_both_changed_it_asks(small):
    edit(small.text, "An idea.", "A text's idea.")
    edit(small.notebook, "An idea.", "A notebook's idea.")
    before = small.text.read_bytes(), small.notebook.read_bytes()
    with pytest.raises(PairingError, match="both changed .* --from notebook or --from text"):
        sync(small)
    assert (small.text.read_bytes(), small.notebook.read_bytes()) == before
    sync(small, "text")
    assert "A text's idea." in small.notebook.read_text()


def test_from_notebook_overrides_an_edited_text(small):
    edit(small.text, "An idea.", "A text's idea.")
    sync(small, "notebook")
    assert "An idea." in small.text.read_text()


@pytest.mark.parametrize("form", ["notebook", "text"])
def test_a_missing_form_is_made_from_the_other(small, form):
    path = getattr(small, form)
    before = read(path)
    path.unlink()
    with pytest.raises(PairingError, match="does not exist"):
        sync(small, form)
    sync(small)
    assert [cell.source for cell in read(path).cells] == [cell.source for cell in before.cells]


def test_what_tools_leave_behind_is_dropped():
    code = new_code_cell(
        "x",
        execution_count=1,
        metadata={"execution": {"iopub.execute_input": "2024-01-01T00:00:00"}, "tags": ["live"]},
        outputs=[
            new_output("stream", name="stdout", text="a"),
            new_output("stream", name="stdout", text="b"),
            new_output(
                "display_data",
                data={"application/vnd.jupyter.widget-view+json": {}, "text/plain": "VBox()"},
            ),
        ],
    )
    notebook = new_notebook(cells=[code, new_markdown_cell("")], metadata={"widgets": {"a": 1}})
    fixed = normalise(notebook)
    assert set(fixed.metadata) == {"kernelspec", "language_info"}
    [cell] = fixed.cells
    assert cell.metadata == {"tags": ["live"]}
    assert [output.get("text") for output in cell.outputs] == ["ab", None]
    assert cell.outputs[1].data == {"text/plain": "VBox()"}
    assert as_json(normalise(fixed)) == as_json(fixed)


def test_ids_come_from_what_a_cell_says():
    cells = [new_code_cell("a"), new_code_cell("b"), new_code_cell("a"), new_markdown_cell("a")]
    first = [cell.id for cell in normalise(new_notebook(cells=cells)).cells]
    assert len(set(first)) == 4 and first[2] == first[0] + "-2"
    later = normalise(new_notebook(cells=[new_markdown_cell("new"), *cells])).cells
    assert [cell.id for cell in later[1:]] == first


def test_the_text_holds_no_tool_version(small):
    head = small.text.read_text().split("---\n")[1]
    assert "jupytext:" in head and "jupytext_version" not in head


@pytest.mark.parametrize("source", ["```\nfence\n```", ":tag: x", "%magic\n!ls", "# %%\nx = '+++'"])
def test_code_survives_the_way_through_the_text(root, source):
    chapter = Chapter("odd", root / "chapters")
    chapter.notebook.write_text(
        json.dumps(NotebookNode(new_notebook(cells=[new_code_cell(source)])))
    )
    sync(chapter)
    assert [cell.source for cell in read(chapter.text).cells] == [source]


def both(chapter):
    """Return the bytes of both forms."""
    return chapter.notebook.read_bytes(), chapter.text.read_bytes()


LOST = {
    "open fence": new_markdown_cell("```python\nx"),
    "+++": new_markdown_cell("a\n\n+++\n\nb"),
    "code-cell": new_markdown_cell("```{code-cell}\nx\n```"),
    "return": new_code_cell("a\rb"),
    "form feed": new_code_cell("a\x0cb"),
}


@pytest.mark.parametrize("cell", LOST.values(), ids=LOST)
@pytest.mark.parametrize("place", [2, 8], ids=["between", "last"])
def test_a_cell_that_the_text_would_lose_is_refused(small, cell, place):
    notebook = read(small.notebook)
    notebook.cells.insert(place, cell)
    small.notebook.write_text(as_json(notebook))
    before = both(small)
    with pytest.raises(PairingError, match=f"small: cell {place + 1} .* nothing is written"):
        sync(small)
    assert both(small) == before


def test_spaces_at_the_end_of_markdown_do_not_matter(small):
    edit(small.notebook, "An idea.", "A better idea.  ")
    assert sync(small) == "text from notebook"
    assert read(small.notebook).cells[0].source == "# Small\n\nA better idea."


def test_a_pasted_picture_is_refused(small):
    notebook = read(small.notebook)
    notebook.cells[0].attachments = {"a.png": {"image/png": "aGk="}}
    small.notebook.write_text(as_json(notebook))
    before = both(small)
    with pytest.raises(PairingError, match="cell 1 holds a pasted picture.*chapters/images"):
        sync(small)
    assert both(small) == before


HEADER = "---\nkernelspec:\n  display_name: Python 3\n  name: python3\n---\n"
BROKEN = {
    "empty": b"",
    "header alone": HEADER.encode(),
    "cut header": HEADER[:20].encode(),
    "cut code": f"{HEADER}# T\n\n```{{code-cell}}\nx = 1\n".encode(),
    "open comment": f"{HEADER}# T\n\n<!-- no more\n".encode(),
    "conflict": f"{HEADER}# T\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n".encode(),
    "yaml": b"---\na: [\n---\n# T\n",
    "bytes": b"# T \xff\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_broken_text_never_reaches_the_notebook(small, data):
    good = both(small)
    small.text.write_bytes(data)
    for source in (None, "text"):
        with pytest.raises(PairingError, match=r"small\.md cannot be read .* --from notebook"):
            sync(small, source)
    assert both(small) == (good[0], data)
    sync(small, "notebook")
    assert both(small) == good


@pytest.mark.parametrize("data", ["", "[]", "{}", as_json(new_notebook()), "<<<<<<< HEAD\n{}"])
def test_a_broken_notebook_is_named_and_can_be_made_anew(small, data):
    small.notebook.write_text(data)
    with pytest.raises(PairingError, match=r"small\.ipynb cannot be read .* --from text"):
        sync(small)
    assert sync(small, "text") == "notebook from text"
    assert len(read(small.notebook).cells) == 8


def test_a_byte_order_mark_does_no_harm(small):
    good = both(small)
    small.text.write_bytes(b"\xef\xbb\xbf" + good[1])
    assert sync(small) == "already the same (tidied)"
    assert both(small) == good
