"""What every page of the site looks like: the theme without third parties and dead buttons.

A Sphinx extension. Its patches are written for the files in RELIED_ON; each says why it is there.
Where a theme has lost what a patch relies on, the build stops: the patch may be needless by then.
"""

from importlib.resources import files
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.jinja2glue import BuiltinTemplateLoader

from bookbuild import address, launch, policy

HERE = Path(__file__).parent

# Package, file and text that our templates and filters count on, as they are in
# sphinx-book-theme 1.3.0 and pydata-sphinx-theme 0.17.1.
PYDATA, BOOK = "pydata_sphinx_theme", "sphinx_book_theme"
RELIED_ON = [
    (PYDATA, "layout.html", "block css"),
    (PYDATA, "layout.html", "block extrahead"),
    (PYDATA, "layout.html", "block docs_navbar"),
    (PYDATA, "layout.html", "block docs_body"),
    (PYDATA, "layout.html", "block scripts_end"),
    (PYDATA, "layout.html", 'id="pst-back-to-top"'),
    (PYDATA, "layout.html", 'id="pst-search-dialog"'),
    (PYDATA, "layout.html", 'id="pst-primary-sidebar-modal"'),
    (PYDATA, "layout.html", 'id="pst-secondary-sidebar-modal"'),
    (PYDATA, "static/styles/theme.css", ""),
    (PYDATA, "static/styles/pydata-sphinx-theme.css", ".fa-bars"),
    (PYDATA, "components/page-toc.html", "pst-page-toc-nav"),
    (PYDATA, "components/search-button-field.html", "search-button__button"),
    (PYDATA, "components/search-field.html", 'name="q"'),
    (PYDATA, "components/theme-switcher.html", "theme-switch-button"),
    (BOOK, "components/article-header-buttons.html", "theme-switcher.html"),
    (BOOK, "components/toggle-primary-sidebar.html", "primary-toggle"),
    (BOOK, "components/toggle-secondary-sidebar.html", "secondary-toggle"),
    (BOOK, "static/styles/sphinx-book-theme.css", "pst-sidebar-hidden"),
]

# The first keeps tabs of one name in step, and no page here has tabs. What the second does for
# sidebars book.js does; the rest is for notes in the margin, which no page has.
UNUSED = {"design-tabs.js", "sphinx-book-theme.js"}
# Sphinx's own, of which only its search needs them.
OF_SEARCH = {"documentation_options.js", "doctools.js", "sphinx_highlight.js"}


class FinishedPages(BuiltinTemplateLoader):
    """Sphinx's templates, with a last hand to each page once it is complete."""

    def render(self, template, context):
        html = super().render(template, context)
        if not html.lstrip().startswith("<!DOCTYPE html>"):
            return html  # the theme renders parts of pages, too
        # Docutils 0.21 gives every entry of a bibliography a role that ARIA has withdrawn; around
        # them it sets a list.
        html = html.replace('role="doc-biblioentry"', 'role="listitem"')
        return policy.secured(html)


def configure(app, config) -> None:
    config.template_bridge = f"{__name__}.{FinishedPages.__name__}"
    config.templates_path.insert(0, str(HERE / "templates"))
    config.html_static_path.append(str(HERE / "assets"))
    config.html_theme_options["primary_sidebar_end"] = []  # by default, a place for advertising
    # A root that leads to the first page; the one made by default has no title and no language.
    config.html_additional_pages["index"] = "redirect.html"


def check_themes(app) -> None:
    for package, name, text in RELIED_ON:
        file = files(package) / "theme" / package / name
        if not file.is_file() or text not in file.read_text(encoding="utf-8"):
            raise ExtensionError(
                f"{package}/{name} no longer holds {text!r}, on which bookbuild/pages.py relies: "
                "install the versions in constraints.txt, or see if the patch is still needed"
            )


def offer_download(app, doctree) -> None:
    """Let Sphinx publish the plain copy of a notebook, as it does for the role {download}."""
    docname = app.env.docname
    if app.env.doc2path(docname).endswith(".ipynb"):
        plain = launch.plain_copy(docname)
        if not Path(app.srcdir, plain).is_file():
            raise ExtensionError(f"{docname} has no plain copy {plain}: run `make notebooks`")
        app.env.note_dependency(plain)
        app.env.dlfiles.add_file(docname, plain)


def page_context(app, pagename, templatename, context, doctree) -> None:
    """Keep the scripts that a page uses, and say where its notebook runs."""
    # Those without a file name are inline settings of the theme, all for features that are off
    # here; each would need a hash of its own in the page's policy.
    unused = UNUSED if pagename == "search" else UNUSED | OF_SEARCH
    context["script_files"] = [
        script
        for script in context["script_files"]
        if script.filename and Path(script.filename).name not in unused
    ]
    plain = launch.plain_copy(pagename)
    if plain in app.env.dlfiles:
        _, published = app.env.dlfiles[plain]
        context["notebook_url"] = context["pathto"](f"_downloads/{published}", 1)
        context["launch_links"] = launch.launch_links(address.address(), pagename)


def setup(app) -> dict:
    # Jupyter Book sets it for an extension that we leave out: comments, kept on another host.
    app.add_config_value("comments_config", {}, "html")
    app.add_css_file("book.css", priority=900)
    app.add_js_file("book.js", loading_method="defer", priority=900)
    app.connect("config-inited", configure)
    app.connect("builder-inited", check_themes)
    app.connect("doctree-read", offer_download)
    app.connect("html-page-context", page_context, priority=900)  # all others have added theirs
    app.setup_extension("bookbuild.diet")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
