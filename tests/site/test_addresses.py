"""Addresses that stay: each one ever published leads to a page, and each place on it is there."""

import functools
import http.server
import threading

import pytest
from bs4 import BeautifulSoup
from small_book import ADDRESS, SITE, build, write
from sphinx.errors import ExtensionError

from bookbuild.address import ROOT
from bookbuild.finding_moves import FILE, published

PUBLISHED = published(ROOT)


def read(site, name):
    return BeautifulSoup((site / name).read_text("utf-8"), "html.parser")


@pytest.mark.parametrize("address", PUBLISHED, ids=lambda a: f"{a.page}#{a.anchor}")
def test_a_published_address_still_leads_somewhere(site, address):
    moves = {a.page: a.now for a in PUBLISHED if a.now}
    assert (site / address.page).is_file()
    now = moves.get(address.page, address.page)
    if address.anchor:
        assert read(site, now).find(id=address.anchor), f"{now} has no place {address.anchor}"


def test_every_page_and_every_claim_is_on_the_list(site):
    pages = {path.relative_to(site).as_posix() for path in (site / "chapters").rglob("*.html")}
    assert {address.page for address in PUBLISHED} >= pages
    claims = {(name, box["id"]) for name in pages for box in read(site, name).select(".claim[id]")
              if box["id"].startswith("claim-")}
    assert claims and {(a.page, a.anchor) for a in PUBLISHED} >= claims


def test_a_page_that_moved_leads_on_and_keeps_the_place(tmp_path, browser):
    book = write(tmp_path / "book", ADDRESS)
    (book / "chapters").mkdir()
    (book / FILE).write_text("# comment\nold/place.html -> second.html\nfirst.html\n")
    site, warnings = build(book, tmp_path / "site")
    assert warnings == ""
    page = browser.new_page()
    page.goto(f"{(site / 'old/place.html').as_uri()}#a-key")
    page.wait_for_url("**/site/second.html#a-key")
    page.close()
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "old/place.html").as_uri())
    page.wait_for_url("**/site/second.html")
    context.close()


@pytest.mark.parametrize(("line", "fault"), [
    ("second.html -> glossary.html", "second has moved, and it is still there"),
    ("old.html -> gone.html", "moved to gone, which is no page"),
])
def test_a_move_that_leads_nowhere_stops_the_build(tmp_path, line, fault):
    book = write(tmp_path / "book", ADDRESS)
    (book / "chapters").mkdir()
    (book / FILE).write_text(line)
    with pytest.raises(ExtensionError, match=fault):
        build(book, tmp_path / "site")


def test_what_is_not_found_is_told_at_any_depth(tmp_path, browser):
    """As GitHub Pages does it: below the name of the project, one page for all that is missing."""
    built, _ = build(write(tmp_path / "book", ADDRESS), tmp_path / "host" / "class")

    class Pages(http.server.SimpleHTTPRequestHandler):
        def send_error(self, code, *arguments, **options):
            self.send_response(code)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write((built / "404.html").read_bytes())

        def log_message(self, *arguments):
            pass

    handler = functools.partial(Pages, directory=tmp_path / "host")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"http://127.0.0.1:{server.server_port}"
        for missing in ("/class/no.html", "/class/a/b/c/no.html"):
            page = browser.new_page()
            assert page.goto(host + missing).status == 404
            assert page.get_by_role("heading").inner_text() == "There is no such page"
            assert page.evaluate("getComputedStyle(document.body).maxWidth") != "none"
            page.get_by_role("link", name="Small book").click()
            page.wait_for_url(f"{host}/class/first.html")
            page.goto(host + missing)
            page.get_by_role("searchbox").fill("key")
            page.get_by_role("button").click()
            page.wait_for_url(f"{host}/class/search.html?q=key")
            page.close()
        server.shutdown()
    assert SITE.endswith("/class/")
