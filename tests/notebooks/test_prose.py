"""Decimals in prose: each must be one that the chapter's notebook shows."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from bookbuild.chapter import read
from bookbuild.prose import strange_decimals

SHOWN = ["0.83", ".83", "0.83 %", "about 0.83, then", "$0.83$", "a step of 0.1"]
UNCHECKED = [
    "`0.84`", "version 2.13.0", "PyTorch 2.13", "CC BY 4.0", "section 3.2", "{doc}`a 0.84 <b>`",
    "[here](https://example.org/0.84)", "```python\n0.84\n```", "12 of 34", "x.84", "5 e",
]  # fmt: skip
STRANGE = ["0.84", ".84", "0.830", "$0.84$", "{note}", "4e-7", "$4 \\times 10^{-7}$", "4×10^-7"]


@pytest.mark.parametrize("text", SHOWN + UNCHECKED)
def test_decimals_that_may_stand_in_prose(text, small):
    notebook = read(small.notebook)
    notebook.cells.append(new_code_cell("step = 0.1"))
    notebook.cells.append(new_markdown_cell(text))
    assert strange_decimals(notebook) == []


@pytest.mark.parametrize("text", STRANGE)
def test_decimals_that_nothing_shows(text, small):
    notebook = read(small.notebook)
    notebook.cells.append(
        new_markdown_cell(":::{note}\nIt is 0.84.\n:::" if text == "{note}" else text)
    )
    assert [number for number, _ in strange_decimals(notebook)] == [len(notebook.cells)]


def test_a_number_counts_as_shown_where_readers_see_it(small):
    html = '<svg x="0.84"><text>0.85</text></svg><script>0.86</script>'
    notebook = read(small.notebook)
    shown = new_output("display_data", data={"text/html": html})
    notebook.cells.append(new_code_cell("f", outputs=[shown]))
    notebook.cells.append(new_code_cell("# 0.87\n'0.88'"))
    notebook.cells.append(new_markdown_cell("0.84 0.85 0.86 0.87 0.88"))
    assert [text for _, text in strange_decimals(notebook)] == ["0.84", "0.86", "0.87", "0.88"]
