"""Alternative texts of plotted figures, taken from where they are written: the cell's own output.

`qkvlib.figures.show` stores beside each PNG the line "Figure: what it shows" as plain text. The
notebook parser shows only the picture, and says its file name to those who cannot see it; this
hands the line over.
"""

from docutils import nodes
from sphinx.util import logging

PREFIX = "Figure: "

logger = logging.getLogger(__name__)


def describe(app, doctree) -> None:
    """Give every picture in an output its words; one without is a warning."""
    for bundle in doctree.findall(lambda node: _attribute(node, "nb_element") == "mime_bundle"):
        by_type = {_attribute(child, "mime_type"): child for child in bundle.children}
        plain = by_type["text/plain"].astext() if "text/plain" in by_type else ""
        for picture in bundle.findall(nodes.image):
            if plain.startswith(PREFIX):
                picture["alt"] = plain.removeprefix(PREFIX)
            elif "alt" not in picture:
                cure = "show it with qkvlib.figures.show"
                logger.warning("a picture without alternative text: %s", cure, location=bundle)


def _attribute(node, name):
    return node.get(name) if isinstance(node, nodes.Element) else None


def setup(app) -> dict:
    app.connect("doctree-read", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
