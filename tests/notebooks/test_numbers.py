"""Theorems, exercises and equations have the same numbers on the site and in the plain copy."""

import re

import pytest
from bs4 import BeautifulSoup

from bookbuild.address import ROOT
from bookbuild.chapter import chapters, read

SITE = ROOT / "_build/html/chapters"
NUMBERED = re.compile(r"[A-Z][a-z]+ \d+")

pytestmark = pytest.mark.skipif(
    not SITE.exists(), reason="the site is not built: run `make book` to compare its numbers"
)


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.name)
def test_the_site_and_the_plain_copy_count_alike(chapter):
    html = (SITE / f"{chapter.name}.html").read_text(encoding="utf-8")
    page = BeautifulSoup(html, "html.parser").article
    titles = [NUMBERED.match(title.get_text()) for title in page.select(".admonition-title")]
    equations = [number.get_text() for number in page.select(".eqno")]
    cells = [cell.source for cell in read(chapter.colab).cells if cell.cell_type == "markdown"]
    plain = "\n\n".join(cells)

    heads = [match[0] for match in titles if match]
    assert heads == re.findall(r"^> \*\*([A-Z][a-z]+ \d+)", plain, re.MULTILINE)
    tags = re.findall(r"\\tag\{(\d+)\}", plain)
    assert [re.search(r"\d+", number)[0] for number in equations] == tags
    assert heads or tags
