"""The finished site made light: two style sheets, subsets of fonts, small pictures, no dead files.

A Sphinx extension, which works on the built folder once everything else has written to it. Without
it the site is the same, and weighs three times as much.
"""

import re
from pathlib import Path

from sphinx.errors import ExtensionError

from bookbuild import images, sheets

STYLE = re.compile(r'[ \t]*<link rel="stylesheet"[^>]*href="([^"?]*)[^"]*"[^>]*>\n?')
SCRIPT = re.compile(r'[ \t]*<script[^>]*src="([^"?]*)[^"]*"></script>\n?')
# Names, punctuation and blanks of code look like the rest of it, and are a fifth of all elements.
UNCOLOURED = re.compile(r'<span class="[npw]">([^<]*)</span>')
OWN_SCRIPT = "book.js"  # on every page, so that it is fetched once
MAIN, MATHS = "site.css", "maths.css"
MATHS_SOURCE = "katex/katex.css"  # which every page links, and only those with formulas keep

# Fonts that the first formula of a page needs, and how to tell. Asked for before the style sheet is
# read, they come in time, and no line moves when they do.
NO_FONTS = 'data-fonts=""'  # where layout.html wants to be told of them
FIRST_FONTS = {"KaTeX_Main-Regular": "katex-html", "KaTeX_Math-Italic": "mathnormal"}


def slim(app, exception) -> None:
    """Rewrite the site in app.outdir."""
    if exception or app.builder.name != "html":
        return
    site = Path(app.outdir)
    static = site / "_static"
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))
             if static not in path.parents}
    pages = {path: html for path, html in texts.items() if STYLE.search(html)}
    for path, html in pages.items():
        html = UNCOLOURED.sub(r"\1", images.lightened(html, path.parent))
        pages[path] = with_one_script(html, static, path.stem)
    made = styles(static, pages.values())
    for path, html in pages.items():
        pages[path] = with_few_sheets(html, made)
        path.write_text(pages[path], encoding="utf-8", newline="\n")
    remove_unnamed(site, (texts | pages).values(), made.values())


def within(url: str) -> tuple[str, str]:
    """An address of a static file as the way to their folder, and the file's name within it."""
    folder, found, name = url.partition("_static/")
    if not found:
        raise ExtensionError(f"{url} is not in _static/, where bookbuild/diet.py looks for it")
    return folder + found, name


def with_one_script(html: str, static: Path, page: str) -> str:
    """The page with all scripts but our own in one file: the search page has a handful."""
    urls = [url for url in SCRIPT.findall(html) if within(url)[1] != OWN_SCRIPT]
    if len(urls) < 2:
        return html
    parts = [(static / within(url)[1]).read_text(encoding="utf-8") for url in urls]
    file = static / f"{page}-all.js"
    file.write_text("\n;\n".join(parts), encoding="utf-8", newline="\n")
    tag = f'<script src="{within(urls[0])[0]}{sheets.versioned(file, static)}"></script>'
    html = SCRIPT.sub(lambda match: match[0] if match[1] not in urls else "", html)
    # Last, so that it delays nothing, but not deferred: Sphinx's wait for a page that is complete.
    return html.replace("</body>", f"  {tag}\n  </body>", 1)


def styles(static: Path, pages) -> dict[str, sheets.Sheet]:
    """Make the few sheets of the many that the pages link."""
    names = dict.fromkeys(within(url)[1] for html in pages for url in STYLE.findall(html))
    scripts = sorted({within(url)[1] for html in pages for url in SCRIPT.findall(html)})
    used = sheets.Used(pages, [(static / name).read_text("utf-8") for name in scripts])
    if MATHS_SOURCE not in names:
        raise ExtensionError(f"no page links {MATHS_SOURCE}, which bookbuild/diet.py sets apart")
    rest = [name for name in names if name != MATHS_SOURCE]
    return {MATHS: sheets.write(static / MATHS, [MATHS_SOURCE], used),
            MAIN: sheets.write(static / MAIN, rest, used)}


def with_few_sheets(html: str, made: dict[str, sheets.Sheet]) -> str:
    """The page with the sheets it needs, and its first fonts, where its sheets were linked."""
    urls = STYLE.findall(html)
    folder = within(urls[0])[0]
    wanted = [MATHS, MAIN] if 'class="katex"' in html else [MAIN]
    tags = [f'    <link rel="stylesheet" href="{folder}{made[name].url}">\n' for name in wanted]
    first = STYLE.search(html).start()
    html = html[:first] + "".join(tags) + STYLE.sub("", html[first:])
    if NO_FONTS not in html:
        raise ExtensionError(f"no {NO_FONTS} in the head of a page: layout.html has changed")
    fonts = [folder + made[MATHS].fonts[name] for name, sign in FIRST_FONTS.items() if sign in html]
    return html.replace(NO_FONTS, f'data-fonts="{" ".join(fonts)}"', 1)


def remove_unnamed(site: Path, pages, made) -> None:
    """Remove the static files and pictures that no page and no sheet names."""
    text = "\n".join([*pages, *(sheet.css for sheet in made)])
    for folder in (site / "_static", site / "_images"):
        for path in sorted(folder.rglob("*"), reverse=True):  # a folder after its files
            if path.is_file() and path.relative_to(folder).as_posix() not in text:
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()


def setup(app) -> dict:
    app.connect("build-finished", slim, priority=950)  # the last to touch the pages
    return {"parallel_read_safe": True, "parallel_write_safe": True}
