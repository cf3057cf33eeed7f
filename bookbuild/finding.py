"""Sphinx extension: what leads readers to the book, and their corrections back to it.

Every page has a description and the words that other programs show of a link to it. Once the book
has an address there are also canonical addresses, a picture for such links, a site map, and a link
that reports a mistake; until then those would point to places that nobody owns, and are left out.
No robots.txt: crawlers read it at the root of a host only, and the site lies below one.
"""

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from docutils import nodes
from sphinx.util import logging
from sphinx.util.display import progress_message

from bookbuild import address
from bookbuild.finding_card import draw
from bookbuild.lookup import Book

HERE = Path(__file__).parent
CARD = "_static/card.png"


def configure(app, config) -> None:
    config.templates_path.append(str(HERE / "templates"))
    config.html_static_path.append(str(HERE / "assets" / "finding.css"))
    # From it Sphinx makes the canonical address of every page.
    config.html_baseurl = Book(Path(app.confdir)).site or ""
    config.html_additional_pages["404"] = "finding-404.html"


def page_context(app, pagename, templatename, context, doctree) -> None:
    site = app.config.html_baseurl
    context["site"] = site
    # A server shows the page that says "not found" at any address, so its links start at the root.
    context["base"] = urlsplit(site).path or "/"
    context["card"] = site and site + CARD
    context["issues"] = site and f"{address.address(Path(app.confdir))}/issues/new"
    if doctree is not None:
        context["description"] = description(doctree)
        if not context["description"]:
            logging.getLogger(__name__).warning(
                "no description: give one as myst, html_meta, description in the page's head",
                location=pagename)


def description(doctree) -> str:
    """What the page says of itself in its front matter."""
    found = (meta["content"] for meta in doctree.findall(nodes.meta)
             if meta.get("name") == "description")
    return " ".join(next(found, "").split())


def write_files(app, error) -> None:
    """The site map and the picture, beside the pages that name their addresses."""
    if error or not app.config.html_baseurl or app.builder.format != "html":
        return
    with progress_message("writing the site map and the picture for links"):
        (Path(app.outdir) / "sitemap.xml").write_text(sitemap(app), encoding="utf-8")
        draw(Path(app.outdir) / CARD, app.config.html_title)


def sitemap(app) -> str:
    """Every page of the book, with the day of its last change where git knows it."""
    rows = []
    for page in sorted(app.env.found_docs):
        place = escape(app.config.html_baseurl + app.builder.get_target_uri(page))
        seconds, _ = getattr(app.env, "git_last_updated", {}).get(page) or (None, None)
        day = f"<lastmod>{_day(seconds)}</lastmod>" if seconds else ""
        rows.append(f"<url><loc>{place}</loc>{day}</url>\n")
    return ('<?xml version="1.0" encoding="utf-8"?>\n'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f'{"".join(rows)}</urlset>\n')


def _day(seconds) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).date().isoformat()


def setup(app) -> dict:
    app.add_css_file("finding.css", priority=900)
    app.connect("config-inited", configure)
    app.connect("html-page-context", page_context)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
