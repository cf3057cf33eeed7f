"""What leads readers to what they look for: search, glossary, what a page says of itself."""

import re

import pytest
from bs4 import BeautifulSoup
from small_book import ADDRESS, build, write

from bookbuild.address import PLACEHOLDER
from bookbuild.finding_terms import inflected

SCHEMES = pytest.mark.parametrize("scheme", ["http", "file"])
CHAPTER, GLOSSARY = "chapters/bias-cancellation.html", "chapters/appendix/glossary.html"


def read(site, name):
    return BeautifulSoup((site / name).read_text("utf-8"), "html.parser")


# --- search

@SCHEMES
@pytest.mark.parametrize(("words", "wanted"), [
    ("key bias", [f"{GLOSSARY}#term-key-bias", CHAPTER]),
    ("k_proj.bias", [f"{GLOSSARY}#term-k_proj.bias"]),
    ("k_bias", [f"{GLOSSARY}#term-k_bias", CHAPTER]),
    ("RoPE", [f"{GLOSSARY}#term-RoPE"]),
    ("MQA", [f"{GLOSSARY}#term-MQA"]),
])
def test_search_finds_what_readers_call_it(visit, scheme, words, wanted):
    page = visit("search.html", scheme=scheme)
    page.get_by_role("searchbox").or_(page.locator("input[name=q]:visible")).first.fill(words)
    page.keyboard.press("Enter")
    page.locator("#search-results li a").first.wait_for()
    found = page.locator("#search-results li > a").evaluate_all(
        "links => links.map(link => link.getAttribute('href').replace(/[?]highlight=[^#]*/, ''))")
    assert found[0] == wanted[0], f"found first: {found[:3]}"
    assert set(wanted) <= set(found[:3]), f"found first: {found[:3]}"


# --- terms

def running_text(page):
    """The article without titles, labels, code, formulas, figures and links but first uses."""
    article = page.select_one("article")
    for link in article.select("a.first-use"):
        link.unwrap()
    for part in article.select(
            "h1, h2, h3, h4, .admonition-title, figcaption, caption, .caption, thead, dt, a, code, "
            "pre, .math, .explorer, .qkv-figure, summary, script, style, .sd-card, .citation, "
            "dl.py, .cell_output, p.rubric, [role=listitem], [role=doc-biblioentry]"):
        part.replace_with("\0")
    for edge in article.select("p, li, td"):
        edge.append("\0")  # a term does not reach from one paragraph into the next
    return article.get_text("")


def entries(site):
    """The glossary: for each entry its words, each with its id."""
    found = []
    for definition in read(site, GLOSSARY).select("dl.glossary > dd"):
        words, before = {}, definition.find_previous_sibling()
        while before is not None and before.name == "dt":
            for link in before.select(".headerlink"):
                link.decompose()
            words[before.get_text().strip()] = before["id"]
            before = before.find_previous_sibling()
        found.append(words)
    assert len(found) > 30
    return found


def test_every_term_is_linked_once_where_a_page_uses_it_first(site, page_name):
    if page_name == GLOSSARY:
        return
    page = read(site, page_name)
    links = [link["href"].rpartition("#")[2] for link in page.select("article a.first-use")]
    own = {link["href"].rpartition("#")[2] for link in page.select("article a[href*='#term-']")}
    everything = sorted((word for words in entries(site) for word in words), key=len)[::-1]
    forms = "|".join(f"(?P<w{i}>{'values' if word == 'value' else inflected(word)})"
                     for i, word in enumerate(everything))
    text = running_text(page)
    used = {everything[int(match.lastgroup[1:])]
            for match in re.finditer(rf"(?<![\w-])(?:{forms})(?![\w-])", text, re.IGNORECASE)}
    for words in entries(site):
        linked = sum(links.count(anchor) for anchor in words.values())
        by_hand = any(anchor in own for anchor in words.values()) and not linked
        assert linked == (bool(used & words.keys()) and not by_hand), f"{[*words]}: {linked} links"


def test_terms_are_linked_in_running_text_and_nowhere_else(tmp_path):
    site, warnings = build(write(tmp_path / "book", ADDRESS), tmp_path / "site")
    assert warnings == ""
    links = [(link.get_text(), link["href"]) for link in read(site, "second.html").select(
        "a.first-use")]
    assert links == [("Key bias", "glossary.html#term-key-bias"),
                     ("keys", "glossary.html#term-key"), ("values", "glossary.html#term-value")]
    assert not read(site, "first.html").select("a.first-use")
    assert not read(site, "glossary.html").select("a.first-use")


@pytest.mark.parametrize(("word", "text", "fits"), [
    ("query", "queries", True), ("key", "keys", True), ("bias", "biases", True),
    ("key bias", "key\nbias", True), ("key", "keyhole", False), ("query", "querys", False),
])
def test_plurals(word, text, fits):
    assert bool(re.fullmatch(inflected(word), text)) == fits


# --- what a page says of itself

def test_every_page_says_what_it_is(site, page_name):
    page = read(site, page_name)
    meta = {tag.get("name") or tag.get("property"): tag["content"] for tag in page.select(
        "meta[content]")}
    assert meta["og:title"] and meta["twitter:card"]
    if page_name != "search.html":
        assert 40 <= len(meta["description"]) <= 300
        assert meta["og:description"] == " ".join(meta["description"].split())
        assert "Found a mistake?" in page.select_one(".errata").get_text()


def test_descriptions_differ(site):
    pages = [path for path in (site / "chapters").rglob("*.html")]
    said = [tag["content"] for path in pages for tag in read(site, path).select(
        "meta[name=description]")]
    assert len(set(said)) == len(said) == len(pages)


def test_a_page_without_a_description_is_a_fault(tmp_path):
    book = write(tmp_path / "book", PLACEHOLDER)
    (book / "second.md").write_text("# Second\n\nWords.\n")
    warnings = build(book, tmp_path / "site")[1]
    assert "second.md: WARNING: no description" in warnings and warnings.count("WARNING") == 1
