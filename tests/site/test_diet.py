"""What makes the site light: sheets purged, fonts cut, pictures small, nothing lost by it."""

from io import BytesIO

import pytest
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont
from PIL import Image, ImageChops
from sphinx.errors import ExtensionError

from bookbuild import diet, fonts, images, maths, sheets

FONTS = maths.KATEX / "dist" / "fonts"


def purged(css, html="", script=""):
    return sheets.purged(css, sheets.Used([html], [script]))


@pytest.mark.parametrize("html, script", [
    ('<p class="kept">', ""),
    ("", 'box.classList.add("kept")'),
    ("<script>box.className = 'kept'</script>", ""),
])
def test_rules_stay_that_a_page_or_a_script_uses(html, script):
    css = purged(".kept { top: 0 } .gone { top: 0 }", html, script)
    assert "kept" in css and "gone" not in css


def test_attributes_that_scripts_set_count_as_used():
    css = purged("html[data-theme=dark] p { top: 0 } details[open] { top: 0 }",
                 "<html><p><details>", 'root.dataset.theme = "dark"')
    assert "data-theme" in css and "[open]" in css


def test_variables_stay_that_a_rule_a_page_or_a_script_uses():
    sheet = ":root { --a: 1; --b: 2; --c: 3; --d: 4 } p { top: var(--a) }"
    css = purged(sheet, '<p style="left: var(--b)">', 'read("--c")')
    assert all(name in css for name in ("--a", "--b", "--c")) and "--d" not in css


def test_licences_stay_and_comments_go():
    css = purged("/*! MIT */ p { top: 0 } /* why */", "<p>")
    assert "MIT" in css and "why" not in css


def test_sheets_join_with_what_they_import_and_addresses_hold(tmp_path):
    (tmp_path / "styles").mkdir()
    (tmp_path / "base.css").write_text("p { background: url(dot.png) }")
    (tmp_path / "styles" / "theme.css").write_text(
        '@import "../base.css"; b { background: url("../img/a.png"), url(data:x) }')
    used = sheets.Used(["<p><b>"], [])
    css = sheets.write(tmp_path / "all.css", ["styles/theme.css"], used).css
    assert css.index("url(dot.png)") < css.index("url(img/a.png)") < css.index("url(data:x)")


def test_an_import_of_another_kind_stops_the_build(tmp_path):
    (tmp_path / "a.css").write_text("@import url(b.css);")
    with pytest.raises(ExtensionError, match=r"a\.css imports a sheet"):
        sheets.write(tmp_path / "all.css", ["a.css"], sheets.Used([], []))


@pytest.mark.parametrize("content", [r"\f054", "\uf054"])
def test_an_icon_is_found_as_itself_and_as_a_number(content):
    assert "\uf054" in sheets._in_strings(f'i::after {{ content: "{content}" }}')
    assert "\uf054" in sheets._in_strings(f"i {{ --fa: '{content}' }}")


def test_a_formula_gives_its_characters_and_the_text_around_it_does_not():
    katex = maths.Katex()
    html = katex.draw(r"\sqrt{\hat x}_{\{a\}}")
    katex.close()
    used = sheets.Used([f"<p>Zebra {html} <b>Yak</b></p>"], [])
    drawn = set(BeautifulSoup(html, "html.parser").find(class_="katex-html").get_text())
    assert used.formulas == drawn and {"x", "{", "^"} <= drawn and not drawn & set("ZY")


@pytest.mark.parametrize("name", ["KaTeX_Main-Regular", "KaTeX_Math-Italic"])
def test_a_font_keeps_its_metrics_and_only_what_is_asked(name):
    file = FONTS / f"{name}.woff2"
    whole, part = TTFont(file), TTFont(BytesIO(fonts.subset(file, {"x", "y"})))
    assert {chr(code) for code in part.getBestCmap()} == {"x", "y"}
    for table, field in [("hhea", "ascent"), ("hhea", "descent"), ("head", "unitsPerEm")]:
        assert getattr(part[table], field) == getattr(whole[table], field)
    glyph, twin = (font.getBestCmap()[ord("x")] for font in (whole, part))
    assert part["hmtx"][twin] == whole["hmtx"][glyph]
    assert fonts.subset(file, {"x", "y"}) == fonts.subset(file, {"y", "x"}), "not the same bytes"


def test_a_picture_loses_bytes_and_no_pixel(tmp_path):
    picture = Image.linear_gradient("L").convert("RGB")
    picture.save(tmp_path / "a.png", compress_level=0)
    html = images.lightened('<a href="a.png"><img alt="grey" src="a.png"></a>', tmp_path)
    page = BeautifulSoup(html, "html.parser")
    assert page.a["href"] == page.img["src"] == "a.webp"
    assert (page.img["width"], page.img["height"], page.img["alt"]) == ("256", "256", "grey")
    with Image.open(tmp_path / "a.webp") as twin:
        assert ImageChops.difference(twin.convert("RGB"), picture).getbbox() is None


def test_a_static_file_elsewhere_stops_the_build():
    with pytest.raises(ExtensionError, match="is not in _static"):
        diet.within("../theme.css")


def test_many_scripts_become_one_and_ours_stays(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.js").write_text(f"{name}()")
    tags = "".join(f'<script src="../_static/{n}.js?v=1"></script>' for n in ("a", "book", "b"))
    html = diet.with_one_script(f"<head>{tags}</head><body></body>", tmp_path, "page")
    sources = [tag["src"].split("?")[0] for tag in BeautifulSoup(html, "html.parser")("script")]
    assert sources == ["../_static/book.js", "../_static/page-all.js"]
    assert (tmp_path / "page-all.js").read_text().split() == ["a()", ";", "b()"]
