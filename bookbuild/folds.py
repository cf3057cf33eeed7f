"""Folded boxes that open without a script: an admonition of class "dropdown" becomes <details>.

The usual extension folds them with a script of its own, so where scripts are off nothing folds.
"""

import re

from docutils import nodes

BOX = re.compile(
    r'<div(?P<box>[^>]*)>\s*<p class="admonition-title"(?P<id>[^>]*)>(?P<title>.*?)</p>'
    r"(?P<rest>.*)</div>\s*",
    re.DOTALL,
)


class Folding:
    """Mixin for HTML translators; works on what they wrote, whichever extension the box is of."""

    def dispatch_visit(self, node):
        if isinstance(node, nodes.Element) and "dropdown" in node["classes"]:
            node["fold_from"] = len(self.body)
        super().dispatch_visit(node)

    def dispatch_departure(self, node):
        super().dispatch_departure(node)
        if isinstance(node, nodes.Element) and "fold_from" in node:
            start = node["fold_from"]
            self.body[start:] = [folded("".join(self.body[start:]))]


def folded(html: str) -> str:
    """A box as <details>, its title as <summary>. Raises ValueError where it has no title."""
    box = BOX.fullmatch(html)
    if not box:
        raise ValueError(f"a box of class dropdown needs a title to click on: {html[:200]}")
    # A link inside the title could not be told from the switch that the title now is.
    title = re.sub(r"</?a\b[^>]*>", "", box["title"])
    return (
        f'<details{box["box"]}><summary class="admonition-title"{box["id"]}>{title}</summary>'
        f"{box['rest']}</details>\n"
    )


def add_folding(app) -> None:
    if app.builder.format == "html":
        translator = type("FoldingTranslator", (Folding, app.builder.get_translator_class()), {})
        app.set_translator(app.builder.name, translator, override=True)


def setup(app) -> dict:
    # After the theme, which puts its own translator in place at the same event.
    app.connect("builder-inited", add_folding, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
