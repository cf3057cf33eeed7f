"""On every page theorems, exercises and equations count from 1, on the site and in plain copies."""

import re
import subprocess
import sys

import pytest
from bs4 import BeautifulSoup

from bookbuild.address import ROOT
from bookbuild.files import replace
from bookbuild.lookup import Book
from bookbuild.lowering import lower

PAGE = """\
# NAME

```{math}
:label: NAME-sum
a
```

```{prf:theorem}
:label: NAME-one
By {eq}`NAME-sum`.
```

```{prf:theorem}
:label: NAME-two
By {prf:ref}`NAME-one`.
```

```{exercise}
:label: NAME-try
By {prf:ref}`NAME-two`.
```

After {ref}`NAME-try`.
"""
HEADS = ["Theorem 1", "Theorem 2", "Exercise 1"]
REFERENCES = ["(1)", "Theorem 1", "Theorem 2", "Exercise 1"]
EXTENSIONS = "sphinx_external_toc,myst_parser,sphinx_proof,sphinx_exercise,bookbuild.numbering"


@pytest.fixture
def pages(root):
    """The small book with two pages more, whose numbers are the same."""
    names = ["former", "latter"]
    for name in names:
        replace(root / f"chapters/{name}.md", PAGE.replace("NAME", name))
    toc = "format: jb-book\n" + (root / "_toc.yml").read_text()
    replace(root / "_toc.yml", toc + "".join(f"  - file: chapters/{name}\n" for name in names))
    return names


def test_each_page_counts_from_one_on_the_site(root, pages):
    settings = [f"-Dextensions={EXTENSIONS}", "-Dhtml_theme=basic"]
    sphinx = [sys.executable, "-m", "sphinx", "-qWC", *settings, root, root / "html"]
    run = subprocess.run(sphinx, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    for name in pages:
        html = (root / f"html/chapters/{name}.html").read_text("utf-8")
        page = BeautifulSoup(html, "html.parser").select_one(".body")
        assert [title.get_text().strip() for title in page.select(".admonition-title")] == HEADS
        assert [number.get_text()[:3] for number in page.select(".eqno")] == ["(1)"]
        assert [link.get_text() for link in page.select("a.reference")] == REFERENCES


def test_each_page_counts_from_one_in_its_plain_copy(root, pages):
    for name in pages:
        plain = lower(PAGE.replace("NAME", name), Book(root).opened(name))
        assert re.findall(r"\*\*(.+)\*\*", plain) == HEADS
        assert re.findall(r"\\tag\{(.+)\}", plain) == ["1"]
        assert re.findall(r"(?:By|After) (.+)\.", plain) == REFERENCES
