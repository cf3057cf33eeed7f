"""What pages are put together from: folds, launch links, the patched theme."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from sphinx.errors import ExtensionError

from bookbuild import folds, launch, pages
from bookbuild.address import PLACEHOLDER

ROOT = Path(__file__).parents[2]
NOTEBOOKS = [path.stem for path in sorted((ROOT / "chapters").glob("*.ipynb"))]

SOLUTION = (
    '<div class="dropdown solution admonition" id="sol">\n'
    '<p class="admonition-title">Solution to <a href="#ex">Exercise 1</a></p>\n'
    '<div class="section"><p class="admonition-title">Inner</p></div>\n</div>\n'
)


def test_a_box_folds_and_its_title_holds_no_link():
    assert folds.folded(SOLUTION) == (
        '<details class="dropdown solution admonition" id="sol">'
        '<summary class="admonition-title">Solution to Exercise 1</summary>\n'
        '<div class="section"><p class="admonition-title">Inner</p></div>\n</details>\n'
    )


def test_a_box_without_a_title_cannot_fold():
    with pytest.raises(ValueError, match="needs a title"):
        folds.folded('<div class="dropdown admonition"><p>Text</p></div>')


def test_no_launch_links_before_there_is_an_address():
    assert launch.launch_links(PLACEHOLDER, "chapters/any") == {}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_launch_links_name_files_of_the_repository(name):
    links = launch.launch_links("https://github.com/someone/book", f"chapters/{name}")
    binder, colab = urlsplit(links["Binder"]), urlsplit(links["Colab"])
    assert binder.path == "/v2/gh/someone/book/main"
    opened = parse_qs(binder.query)["urlpath"][0].removeprefix("lab/tree/")
    assert (ROOT / opened).is_file()
    assert (ROOT / colab.path.removeprefix("/github/someone/book/blob/main/")).is_file()


def test_a_theme_that_lost_what_a_patch_relies_on_stops_the_build(monkeypatch):
    pages.check_themes(None)
    gone = [*pages.RELIED_ON, (pages.PYDATA, "layout.html", "block that never was")]
    monkeypatch.setattr(pages, "RELIED_ON", gone)
    with pytest.raises(ExtensionError, match="pydata_sphinx_theme/layout.html no longer holds"):
        pages.check_themes(None)
