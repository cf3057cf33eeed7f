"""The run of a chapter can fail: a changed number, frame or library turns exactly it red.

To stay quick, this takes from each chapter its explorer, the first cell that prints a decimal, the
first that shows something of `attention`, and whatever earlier cells those stand on.
"""

import ast
import re
import shutil

import pytest

from bookbuild.address import ROOT
from bookbuild.chapter import as_json, chapters, read
from bookbuild.files import replace
from bookbuild.running import run_alone

FRAMES = re.compile(r'(?<="frames":)')
DIGIT = re.compile(r"\d")
DECIMAL = re.compile(r"\d\.\d")


def explorer(cell):
    """Return the output of a cell that holds an explorer, or None."""
    shown = (output for output in cell.outputs if "data" in output)
    return next((o for o in shown if 'class="explorer"' in o.data.get("text/html", "")), None)


def printed(cell):
    """Return the first output of a cell that prints a decimal, or None."""
    return next((o for o in cell.outputs if DECIMAL.search(o.get("text", ""))), None)


def names(cell):
    """Return the names that a cell binds at its top level or reads, as two sets."""
    tree = ast.parse(cell.source)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in found if isinstance(node.ctx, ast.Store)}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return bound, {node.id for node in found if isinstance(node.ctx, ast.Load)}


def excerpt(notebook, wanted):
    """Cut a notebook down to the wanted code cells and those that they stand on."""
    kept, needed = [], set()
    for cell in reversed([cell for cell in notebook.cells if cell.cell_type == "code"]):
        bound, read_names = names(cell)
        if cell in wanted or bound & needed:
            kept.insert(0, cell)
            needed |= read_names
    notebook.cells = kept
    return notebook


def alter(text, pattern, position=0):
    """Return `text` with the digit at the pattern's first match (from `position`) changed."""
    at = pattern.search(text, position).start()
    return f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}"


def with_explorer():
    """Return every chapter that has an explorer."""
    return [c for c in chapters() if 'class=\\"explorer\\"' in c.notebook.read_text("utf-8")]


@pytest.fixture(scope="module", params=with_explorer(), ids=lambda chapter: chapter.name)
def short(request):
    """A chapter's excerpt, and the places in it of the printed number and of the explorer."""
    notebook = read(request.param.notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    number = next(cell for cell in code if printed(cell))
    moving = next(cell for cell in code if explorer(cell))
    attends = (cell for cell in code if "attention(" in cell.source and cell.outputs)
    attending = next(attends, moving)  # where only functions call it, what uses softmax will do
    excerpt(notebook, [number, moving, attending])
    return notebook, notebook.cells.index(number), notebook.cells.index(moving)


def failed(folder, notebook, **options):
    """Run a notebook; return the places of the cells whose outputs differ."""
    replace(folder / "short.ipynb", as_json(notebook))
    output = run_alone(folder / "short.ipynb", **options).output
    assert "passed" in output and "error" not in output.lower().split("short test summary")[-1]
    return {int(place) for place in re.findall(r"^FAILED .*::Cell (\d+)", output, re.MULTILINE)}


def test_there_is_a_chapter_with_an_explorer():
    assert with_explorer(), "no chapter has an explorer: nothing would be tested"


def test_as_stored_it_is_green(short, tmp_path):
    assert failed(tmp_path, short[0]) == set()


def test_an_edited_number_and_an_edited_frame_are_red(short, tmp_path):
    notebook, number, moving = short
    stored = as_json(notebook)
    output, figure = printed(notebook.cells[number]), explorer(notebook.cells[moving])
    html = figure.data["text/html"]
    try:
        output.text, text = alter(output.text, DECIMAL), output.text
        figure.data["text/html"] = alter(html, DIGIT, FRAMES.search(html).end())
        assert failed(tmp_path, notebook) == {number, moving}
    finally:
        output.text, figure.data["text/html"] = text, html
    assert as_json(notebook) == stored


# On one of them the excerpt of every chapter stands: the scale, or the sum of a row of weights.
CONSTANTS = {
    "attention.py": [("math.sqrt(query.shape[-1])", "math.sqrt(query.shape[-1] + 1)"),
                     ("weights / xp.sum(", "weights / 2 / xp.sum(")],
}


def test_changed_constants_of_the_library_are_red(short, tmp_path):
    shutil.copytree(ROOT / "qkvlib", tmp_path / "qkvlib")
    for name, changes in CONSTANTS.items():
        module = tmp_path / "qkvlib" / name
        source = module.read_text(encoding="utf-8")
        for right, wrong in changes:
            assert source.count(right) == 1, right
            source = source.replace(right, wrong)
        replace(module, source)
    assert failed(tmp_path, short[0], library=tmp_path)
