"""Sphinx extension: addresses that stay. A page that has moved leaves one behind that leads on.

chapters/addresses.txt lists every address ever published, and where a page has gone since.
"""

from pathlib import Path
from typing import NamedTuple

from sphinx.errors import ExtensionError

FILE = "chapters/addresses.txt"


class Address(NamedTuple):
    """One line: a page (page.html), perhaps a place on it, perhaps the page that took over."""

    page: str
    anchor: str = ""
    now: str = ""


def published(root: Path) -> list[Address]:
    """The lines of the file, without its comments; none where a book has no such file."""
    file = root / FILE
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    found = []
    for line in lines:
        if line and not line.startswith("#"):
            old, _, now = line.partition(" -> ")
            page, _, anchor = old.partition("#")
            found.append(Address(page, anchor, now))
    return found


def moved(root: Path) -> dict[str, str]:
    """The pages that moved, as Sphinx names them: old to new, without the ending."""
    return {address.page.removesuffix(".html"): address.now.removesuffix(".html")
            for address in published(root) if address.now}


def configure(app, config) -> None:
    for old in moved(Path(app.confdir)):
        config.html_additional_pages[old] = "finding-moved.html"


def check(app, env) -> None:
    for old, new in moved(Path(app.srcdir)).items():
        if old in env.found_docs:
            raise ExtensionError(f"{FILE} says that {old} has moved, and it is still there")
        if new not in env.found_docs:
            raise ExtensionError(f"{FILE} says that {old} has moved to {new}, which is no page")


def page_context(app, pagename, templatename, context, doctree) -> None:
    if new := moved(Path(app.srcdir)).get(pagename):
        context["moved_to"], context["title"] = new, app.env.titles[new].astext()


def setup(app) -> dict:
    app.connect("config-inited", configure)
    app.connect("env-check-consistency", check)
    app.connect("html-page-context", page_context)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
