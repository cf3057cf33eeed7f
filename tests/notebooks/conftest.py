"""A small book in a temporary folder, made by the same commands as the real one."""

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookbuild.address import PLACEHOLDER, bootstrap_cell
from bookbuild.chapter import Chapter, as_json
from bookbuild.files import replace
from bookbuild.lookup import Book
from bookbuild.normal import normalise
from bookbuild.pairing import settle
from bookbuild.plain import plain_copy

FILES = {
    "pyproject.toml": f'[project.urls]\nRepository = "{PLACEHOLDER}"\n',
    "_config.yml": "title: A small book\n",
    "_toc.yml": "root: chapters/notation\nchapters:\n  - file: chapters/appendix/claims\n",
    "chapters/notation.md": "(the-table)=\n# Notation\n\n% no more\n",
    "chapters/appendix/claims.md": "# Claims ledger\n",
    "chapters/references.bib": """
        @misc{cordonnier, title={Collaborate}, year={2020}, eprint={2006.16362},
              author={Cordonnier, Jean-Baptiste and Loukas, Andreas and Jaggi, Martin}}
        @article{benzecri, title={Chains}, author={Benz\\'ecri, J.-P. and de Jong, J.}, year={1982}}
    """,
    "chapters/claims.yml": """
        - id: B7
          statement: The key bias cancels.
          source: essay, section 1
          verdict: "true"
          plane: algebra
          reason: A softmax ignores $c$.
          chapter: chapters/small
          tests: []
    """,
}


@pytest.fixture
def root(tmp_path):
    """The folder of a small book without chapters."""
    for name, text in FILES.items():
        replace(tmp_path / name, text)
    return tmp_path


@pytest.fixture
def small(root):
    """A chapter without a fault, its text and its plain copy."""
    bootstrap = new_code_cell(bootstrap_cell(PLACEHOLDER), metadata={"tags": ["bootstrap"]})
    said = new_output("stream", name="stdout", text="0.83\n")
    picture = {"image/png": "aGk=", "text/plain": "Figure: a line that rises"}
    shown = new_output("display_data", data=picture)
    cells = [
        new_markdown_cell("# Small\n\nAn idea."),
        bootstrap,
        new_code_cell("import numpy as np"),
        new_code_cell("print(0.83)", outputs=[said]),
        new_markdown_cell("It is 0.83."),
        new_code_cell(f"display({picture}, raw=True)", outputs=[shown]),
        new_code_cell("a = 1"),
        new_code_cell("b = 2"),
    ]
    code = [cell for cell in cells if cell.cell_type == "code"]
    for count, cell in enumerate(code, 1):
        cell.execution_count = count
    chapter = Chapter("small", root / "chapters")
    store(chapter, new_notebook(cells=cells))
    return chapter


def store(chapter: Chapter, notebook: NotebookNode) -> None:
    """Write a notebook, its text and its plain copy, each as the commands would."""
    notebook = normalise(notebook)
    settle(chapter, notebook, "")
    copy = plain_copy(notebook, Book(chapter.folder.parent).opened(chapter.name))
    replace(chapter.colab, as_json(copy))


@pytest.fixture(name="store")
def store_fixture():
    """The function `store(chapter, notebook)`."""
    return store
