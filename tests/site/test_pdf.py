"""The book on paper: text, bookmarks, page numbers, links that stay inside."""

import io
import shutil

import pytest
from pypdf import PdfReader

from bookbuild import pdf
from bookbuild.pdf_pages import Paper

PAGES = ["chapters/notation.html", "chapters/appendix/testing.html"]
TITLES = ["Notation", "How this book is tested"]


@pytest.fixture(scope="module")
def printed(site):
    try:
        pdf.find_browser()
    except pdf.NoBrowser as error:
        pytest.skip(f"NO BROWSER TEST: {error}")
    return PdfReader(io.BytesIO(pdf.printed(Paper(site, PAGES, "A book"))))


def test_the_text_can_be_read_and_begins_with_contents(printed):
    sheets = [page.extract_text() for page in printed.pages]
    assert "A book" in sheets[0]
    for title in TITLES:
        [start] = [i for i, text in enumerate(sheets[1:], 2) if text.lstrip().startswith(title)]
        entry = next(line for line in sheets[0].splitlines() if line.startswith(title))
        assert entry.split()[-1] == str(start), "the contents give another page number"
        assert sheets[start - 1].split()[-1] == str(start), "the sheet bears another number"


def test_headings_are_bookmarks_and_the_document_is_tagged(printed):
    marks = [mark["/Title"] for mark in printed.outline if not isinstance(mark, list)]
    assert marks == TITLES
    assert any("Three tokens, by hand" in mark["/Title"] for part in printed.outline
               if isinstance(part, list) for mark in part if not isinstance(mark, list))
    assert printed.trailer["/Root"]["/MarkInfo"]["/Marked"]


def test_links_stay_inside_or_lead_to_the_world(printed):
    annotations = [a.get_object() for page in printed.pages for a in page.get("/Annots", [])]
    inside = [a["/Dest"] for a in annotations if "/Dest" in a]
    assert "/chapters-notation" in inside
    assert set(inside) <= set(printed.named_destinations)
    outside = [a["/A"]["/URI"] for a in annotations if "/URI" in a.get("/A", {})]
    assert not [url for url in outside if not url.startswith("https://")]


def test_without_a_browser_it_says_what_to_install(monkeypatch, site):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(pdf.NoBrowser, match="apt install chromium"):
        pdf.printed(Paper(site, PAGES[:1], "A book"))
