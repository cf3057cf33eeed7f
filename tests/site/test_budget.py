"""What the first visit to a page costs, and that the fonts it loads draw all that it shows."""

from functools import cache
from io import BytesIO
from urllib.parse import urlsplit

import pytest
from fontTools.ttLib import TTFont

from bookbuild import weight
from bookbuild.weight import BUDGETS


@pytest.fixture(scope="module")
def host(site):
    with weight.served(site) as address:
        yield address


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 412, "height": 823})
    yield context.new_page()
    context.close()


def test_weighs_no_more_than_its_kind_may(page, host, site, page_name, record_property):
    sizes = weight.weigh(site, weight.first_visit(page, f"{host}/{page_name}"))
    kind = weight.kind((site / page_name).read_text(encoding="utf-8"))
    total = sum(sizes.values())
    words = f"{page_name}: {kind}, {total / 1000:.1f} kB, {len(sizes)} requests"
    record_property("measured", words)
    assert all(sizes.values()), "a file that is not there"
    assert total <= BUDGETS[kind].bytes, sizes
    assert len(sizes) <= BUDGETS[kind].requests, sizes


def test_a_text_page_asks_for_nothing_of_maths(page, host, site, page_name):
    asked = weight.first_visit(page, f"{host}/{page_name}")
    maths = [url for url in asked if "maths.css" in url or "KaTeX" in url]
    assert bool(maths) == ('class="katex"' in (site / page_name).read_text(encoding="utf-8"))


def test_every_character_is_in_the_font_it_asks_for(page, host, site, page_name):
    """The browser says which font a formula or an icon asks for; the font file, what it holds."""
    page.goto(f"{host}/{page_name}")
    page.evaluate("document.fonts.ready")
    asked = page.evaluate(ASKED)
    assert asked, "not even an icon"
    for source, text, where in asked:
        assert source, f"no font for {where}"
        holds = characters(site / urlsplit(source).path[1:])
        # A space of no width has nothing to draw.
        missing = {c for c in text if c not in holds and not c.isspace() and c != "\u200b"}
        assert not missing, f"{source} lacks {missing}: {where}"


@cache
def characters(file):
    return {chr(code) for code in TTFont(BytesIO(file.read_bytes())).getBestCmap()}


# Every text of a formula, and every text that the style sheet writes in a font of ours, as [address
# of the font, text, its element]. Of an element's families the first is what it asks for.
ASKED = r"""() => {
  const bare = (family) => family.split(",")[0].replaceAll(/["'\\]/g, "");
  const faces = [];
  for (const sheet of document.styleSheets) for (const rule of sheet.cssRules) {
    if (!(rule instanceof CSSFontFaceRule)) continue;
    const { fontWeight, fontStyle } = rule.style;
    const [, source] = rule.style.getPropertyValue("src").match(/url\("?([^")]*)/);
    faces.push({
      family: bare(rule.style.getPropertyValue("font-family")),
      weight: { normal: "400", bold: "700" }[fontWeight] ?? fontWeight,
      style: fontStyle || "normal",
      source: new URL(source, sheet.href).href,
    });
  }
  const asked = [];
  const note = (element, pseudo, text) => {
    const { fontFamily, fontWeight, fontStyle } = getComputedStyle(element, pseudo);
    const own = faces.filter((face) => face.family === bare(fontFamily));
    if (!own.length && !element.closest(".katex-html")) return;  // a font of the system
    const [face] = own.filter((face) => face.weight === fontWeight && face.style === fontStyle);
    asked.push([face?.source ?? "", text, element.outerHTML.slice(0, 120)]);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (element.closest(".katex-html")) note(element, null, texts.currentNode.data);
  }
  for (const element of document.querySelectorAll("body *")) {
    for (const pseudo of ["::before", "::after"]) {
      const [, text] = getComputedStyle(element, pseudo).content.match(/^"([^"]*)"/) ?? [];
      if (text) note(element, pseudo, text);
    }
  }
  return asked;
}"""
