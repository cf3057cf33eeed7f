"""The whole book on paper: `make pdf` writes _build/qkv-book-VERSION.pdf.

All pages of the built site become one document, which a browser prints. So links lead from page to
page of the paper, headings become bookmarks, and what is read aloud keeps its order. It is printed
twice: only then is it known on which sheet a chapter begins, for the table of contents.
"""

import io
import mimetypes
import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

from bookbuild.address import ROOT
from bookbuild.archive import SITE, version
from bookbuild.lookup import Book
from bookbuild.pdf_pages import Paper

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BOOK = "http://book.invalid/"  # a host that no network knows: the folder answers for it
SHEET = {
    "format": "A4",
    "margin": {"top": "18mm", "bottom": "20mm", "left": "18mm", "right": "18mm"},
    "print_background": True,  # the colours of heat maps
    "tagged": True,
    "outline": True,
    "display_header_footer": True,
    "header_template": "<span></span>",  # the default has the date and an address
    "footer_template": '<div style="width: 100%; text-align: center; font: 8pt sans-serif">'
                       '<span class="pageNumber"></span></div>',
}


class NoBrowser(RuntimeError):
    """There is nothing to print with."""


def find_browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise NoBrowser("The PDF is printed by a browser, and there is none here. Install Chromium "
                        f"(on Debian: apt install chromium); looked for {', '.join(BROWSERS)}.")
    return found


def printed(paper: Paper) -> bytes:
    """The PDF of a document. Raises NoBrowser where there is none."""
    path = find_browser()
    from playwright.sync_api import sync_playwright  # here, so that the error above comes first
    # As root, as in containers, Chromium starts only without its sandbox.
    options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=options)
        page = browser.new_context(java_script_enabled=False).new_page()
        page.route("**/*", lambda route: answer(route, paper))
        numbers: dict[str, int] = {}
        for _ in range(2):
            paper.number(numbers)
            page.goto(BOOK)
            pdf = page.pdf(**SHEET)
            numbers = sheets(pdf)
        browser.close()
    return pdf


def answer(route, paper: Paper) -> None:
    """Give the browser the document, or a file of the site; nothing else exists."""
    name = urlsplit(route.request.url).path.lstrip("/")
    file = paper.site / name
    if not name:
        route.fulfill(body=paper.html(), content_type="text/html; charset=utf-8")
    elif file.is_file():
        kind, _ = mimetypes.guess_type(name)
        route.fulfill(body=file.read_bytes(), content_type=kind or "application/octet-stream")
    else:
        route.abort()


def sheets(pdf: bytes) -> dict[str, int]:
    """The number of the sheet on which each linked place stands, by its id."""
    from pypdf import PdfReader
    reader = PdfReader(io.BytesIO(pdf))
    return {name.removeprefix("/"): reader.get_destination_page_number(place) + 1
            for name, place in reader.named_destinations.items()}


def main() -> Path:
    if not (SITE / "index.html").is_file():
        sys.exit(f"{SITE} holds no site: run `make book` first.")
    book = Book(ROOT)
    names = [f"chapters/{name}.html" for name in book.pages]
    try:
        pdf = printed(Paper(SITE, [name for name in names if (SITE / name).is_file()], book.name))
    except NoBrowser as error:
        sys.exit(str(error))
    file = SITE.parent / f"qkv-book-{version()}.pdf"
    file.write_bytes(pdf)
    return file


if __name__ == "__main__":
    print(f"{main()} is written.")
