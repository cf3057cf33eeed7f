r"""Numbers in prose: every decimal an author typed must be one that the notebook shows.

A decimal is a number with a point (0.83) or a power of ten (4e-7 or 4\times10^{-7}). It counts as
shown if it stands in an output of the notebook, or as a number in its code (a step of 0.1, a
tolerance of 1e-12). Not looked at: code and links in the prose, versions (2.13.0, "PyTorch 2.4",
"CC BY 4.0"), numbers of parts ("section 3.2"), and verdict boxes, whose words come from the
ledger. Formulas are looked at like any other text.
"""

import ast
import re

from nbformat import NotebookNode

from bookbuild.myst import walk

NUMBER = re.compile(r"(?<![\w.])(?:\d*\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+)(?!\d|\.\d)")
POWER_OF_TEN = re.compile(r"(?<=\d)\s*(?:\\times|\\cdot|×)\s*10\^\{?([-+]?\d+)\}?")
NOT_PROSE = re.compile(
    r"(?:\{[\w:.+-]+\})?(`+)(?!`).+?(?<!`)\1(?!`)"  # code and roles
    r"|\]\([^)]*\)|https?://\S+"  # the targets of links
    r"|\b(?:sections?|chapters?|figures?|tables?|equations?|theorems?|exercises?|version|python|"
    r"pytorch|torch|numpy|BSD|BY)[\s-]+v?\d+(?:\.\d+)+",
    re.DOTALL | re.IGNORECASE,
)


def strange_decimals(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Return (number of the cell, decimal) for each decimal in prose that nothing shows."""
    shown = set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shown |= code_numbers(cell.source)
            for output in cell.get("outputs", []):
                shown |= {value(text) for text in NUMBER.findall(output_text(output))}
    return [
        (number, text)
        for number, cell in enumerate(notebook.cells, 1)
        if cell.cell_type == "markdown"
        for text in NUMBER.findall(prose(cell.source))
        if value(text) not in shown
    ]


def prose(text: str) -> str:
    """Return what a page says in its own words and formulas."""
    said = []
    for block in walk(text):
        if block.kind in ("text", "equation", "heading"):
            said.append(block.source)
        elif block.kind == "directive":
            said += [block.argument, block.body if block.name == "math" else ""]
    return POWER_OF_TEN.sub(r"e\1", NOT_PROSE.sub(" ", "\n".join(said)))


def value(text: str) -> str:
    """Return a number's one spelling: .80 is 0.80 and 4e-07 is 4e-7, but .8 is not .80."""
    digits, e, exponent = text.lower().partition("e")
    return ("0" * digits.startswith(".")) + digits + (e and f"e{int(exponent)}")


def code_numbers(source: str) -> set[str]:
    """Return the numbers in a cell's code, as they are written (not those in its comments)."""
    lines = re.sub(r"(?m)^\s*[%!].*$", "", source)
    try:
        tree = ast.parse(lines)
    except SyntaxError:
        return set()
    return {
        value(ast.get_source_segment(lines, node))
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, float)
    }


def output_text(output: NotebookNode) -> str:
    """Return what a reader sees of an output in words: no markup (coordinates!), no scripts."""
    data = output.get("data", {})
    page = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", data.get("text/html", ""), flags=re.S)
    return "\n".join([output.get("text", ""), data.get("text/plain", ""), page])
