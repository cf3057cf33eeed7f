"""What depends on the address and on git: whole links, site map, dates, where to tell a mistake."""

import re
import subprocess
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from PIL import Image
from small_book import ADDRESS, SITE, build, commit, write

from bookbuild.address import PLACEHOLDER
from bookbuild.finding_card import draw


def read(site, name):
    return BeautifulSoup((site / name).read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def with_address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("with")
    book = write(folder / "book", ADDRESS)
    commit(book, "2001-02-03")
    (book / "second.md").write_text((book / "second.md").read_text() + "\nMore.\n")
    commit(book, "2002-03-04")
    site, warnings = build(book, folder / "site")
    assert warnings == ""
    return site


def metas(page):
    return {tag["property"]: tag["content"] for tag in page.select("meta[property]")}


def test_with_an_address_links_to_pages_are_whole(with_address):
    page = read(with_address, "second.html")
    assert page.select_one("link[rel=canonical]")["href"] == f"{SITE}second.html"
    shown = metas(page)
    assert shown["og:url"] == f"{SITE}second.html"
    assert shown["og:title"] == "Second query"
    assert shown["og:description"] == 'What & why, in "second".'
    assert shown["og:image"].startswith(SITE) and shown["og:image:alt"]
    with Image.open(with_address / shown["og:image"].removeprefix(SITE)) as picture:
        assert picture.size == (int(shown["og:image:width"]), int(shown["og:image:height"]))


def test_the_site_map_lists_the_pages_with_the_days_of_their_changes(with_address):
    space = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    root = ElementTree.parse(with_address / "sitemap.xml").getroot()
    listed = {url.findtext("s:loc", None, space): url.findtext("s:lastmod", None, space)
              for url in root.findall("s:url", space)}
    assert listed == {f"{SITE}first.html": "2001-02-03", f"{SITE}glossary.html": "2001-02-03",
                      f"{SITE}second.html": "2002-03-04"}


def test_a_page_says_when_its_source_last_changed(with_address):
    for name, day in (("first", "3 February 2001"), ("second", "4 March 2002")):
        assert day in read(with_address, f"{name}.html").get_text()


def test_a_mistake_is_told_to_the_repository_with_the_title_of_the_page(with_address):
    link = read(with_address, "second.html").select_one(".errata a")["href"]
    assert link.startswith(f"{ADDRESS}/issues/new?title=Mistake")
    assert "Second%20query" in link and "second.html" in link


def test_without_an_address_nothing_points_to_a_place_that_nobody_owns(tmp_path):
    site, warnings = build(write(tmp_path / "book", PLACEHOLDER), tmp_path / "site")
    assert warnings == ""  # though there is no git
    assert not (site / "sitemap.xml").exists() and not (site / "_static" / "card.png").exists()
    for path in site.glob("*.html"):
        text = path.read_text("utf-8")
        assert not re.search("github|canonical|og:image|og:url|_owner_", text), path.name
    assert read(site, "second.html").select_one(".errata").get_text().strip()


def test_a_shallow_clone_builds_without_dates(tmp_path):
    book = write(tmp_path / "book", ADDRESS)
    commit(book, "2001-02-03")
    (book / "second.md").write_text((book / "second.md").read_text() + "\nMore.\n")
    commit(book, "2002-03-04")
    clone = ["git", "clone", "--quiet", "--depth", "1", book.as_uri(), tmp_path / "clone"]
    subprocess.run(clone, check=True)
    site, warnings = build(tmp_path / "clone", tmp_path / "site")
    assert warnings == "" and "2001" not in (site / "first.html").read_text()
    assert "lastmod" not in (site / "sitemap.xml").read_text()


def test_the_picture_is_the_same_each_time_and_small(tmp_path):
    for name in ("one.png", "two.png"):
        draw(tmp_path / name, "Query, Key, Value: an executable inquiry")
    one, two = ((tmp_path / name).read_bytes() for name in ("one.png", "two.png"))
    assert one == two and len(one) < 60_000
