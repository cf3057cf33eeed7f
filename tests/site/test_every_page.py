"""What holds for every page of the site."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
COLOURS = ["color-contrast", "link-in-text-block"]


def test_opens_from_a_folder_without_complaint(visit, page_name):
    """What may complain is told in conftest.py. The tests below open every page over http, too."""
    page = visit(page_name, scheme="file")
    assert page.locator("h1:visible").count() == 1


def test_formulas_are_drawn_without_scripts_and_network(visit, page_name):
    page = visit(page_name, scheme="file", scripts=False, offline=True)
    assert page.locator(".math").count() == page.locator(".math .katex-html").count()
    assert page.locator(".katex-error").count() == 0
    page.locator("pre, code, .katex").evaluate_all("all => all.forEach(e => e.remove())")
    assert not re.search(r"\$|\\[a-zA-Z(\[]|katex", page.locator("main").inner_text())


def test_is_accessible_in_light_and_dark(visit, page_name):
    page = visit(page_name)
    lay_out(page)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert violations(page, {"type": "tag", "values": WCAG}) == []
    page.emulate_media(color_scheme="dark")
    page.locator("html[data-theme=dark]").wait_for()
    assert violations(page, {"type": "rule", "values": COLOURS}) == []


def lay_out(page):
    """Have all sections laid out, not those near the screen alone, and the script told of it."""
    page.add_style_tag(content="* { content-visibility: visible !important }")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def violations(page, rules):
    """What axe objects to. It passes over drawings: their words stand beside them."""
    options = {"runOnly": rules, "resultTypes": ["violations"]}
    drawings = {"exclude": [[".katex-html"], ["svg > *"]]}
    found = page.evaluate("([context, options]) => axe.run(context, options)", [drawings, options])
    return [
        (rule["id"], [node["html"] for node in rule["nodes"]][:3]) for rule in found["violations"]
    ]


def test_fits_a_phone(visit, page_name):
    page = visit(page_name, screen="phone")
    lay_out(page)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"], f"wider than the screen: {page.evaluate(WIDER)}"


# The innermost elements that reach over the right edge and are in no box that scrolls.
WIDER = """[...document.querySelectorAll("main *")].filter(element =>
  element.getBoundingClientRect().right > innerWidth + 1 && !element.firstElementChild &&
  ![...ancestors(element)].some(box => getComputedStyle(box).overflowX !== "visible")
).map(element => element.outerHTML.slice(0, 200)).slice(0, 5);
function* ancestors(element) { while ((element = element.parentElement)) yield element; }"""


def test_pictures_are_described(site, page_name):
    for picture in read(site, page_name)("img"):
        words = picture.get("alt", "")
        assert words.strip(), f"no words for {picture['src']}"
        assert not re.search(r"\.(png|svg|jpe?g)$|[0-9a-f]{16}|/", words), f"a file name: {words}"


def test_live_controls_are_not_shown_dead(site, page_name):
    page = read(site, page_name)
    assert not page.select(".widget-subarea, script[type*='jupyter.widget']")
    for output in page.select(".cell_output"):
        assert output.get_text(strip=True) or output.find(["img", "svg"]), "an empty output"
        assert "interactive(children" not in output.get_text()


def test_links_lead_somewhere(site, page_name):
    for link in read(site, page_name)("a", href=True):
        target = urlsplit(link["href"])
        if target.scheme:
            continue
        file = (site / page_name).parent / unquote(target.path) if target.path else site / page_name
        assert file.is_file(), f"{link}: no such file"
        if target.fragment:
            page = read(site, file.resolve().relative_to(site))
            assert page.find(id=unquote(target.fragment)), f"{link}: no such place"


_pages = {}


def read(site, name):
    if name not in _pages:
        _pages[name] = BeautifulSoup((site / name).read_text(encoding="utf-8"), "html.parser")
    return _pages[name]
