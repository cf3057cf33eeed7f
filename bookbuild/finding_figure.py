"""Sphinx extension: `{explorer} chapters/NAME` shows the figure of a chapter on another page.

It is the output that the chapter's notebook has stored, which the tests compare with a fresh run:
nothing is drawn twice, and the page needs neither a kernel nor the libraries of the chapter.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class Explorer(SphinxDirective):
    """The first explorer among the stored outputs of a notebook."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = f"{self.arguments[0]}.ipynb"
        notebook = Path(self.env.srcdir, name)
        if not notebook.is_file():
            raise self.error(f"there is no notebook {name}")
        self.env.note_dependency(name)
        html = next(explorers(notebook), None)
        if html is None:
            raise self.error(f"{name} has stored no explorer: run `make notebooks`")
        return [nodes.raw("", html, format="html")]


def explorers(notebook: Path):
    """The HTML of the explorers in a notebook's outputs, in their order."""
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            html = "".join(output.get("data", {}).get("text/html", ()))
            if html.startswith('<div class="explorer"'):
                yield html


def setup(app) -> dict:
    app.add_directive("explorer", Explorer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
