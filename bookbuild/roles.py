"""Lower what stands inside a line, MyST's roles and links into the book, to plain Markdown."""

import re
from urllib.parse import unquote

from bookbuild.lookup import Book
from bookbuild.myst import MystError

# What must not be touched comes first: code, then maths. Then what is lowered: images and links.
INLINE = re.compile(
    r"(?:\{(?P<role>[\w:.+-]+)\})?(?<![`\\])(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|(?P<maths>\$\$.+?\$\$|(?<![\\$\w])\$(?=\S)[^$]+?(?<=\S)(?<!\\)\$(?!\d))"
    r"|(?P<image>!)?\[(?P<text>[^\]\[]*)\]\((?P<target>[^()\s]*)\)",
    re.DOTALL,
)

# Other MyST syntax, which would reach the reader as raw text.
LEFTOVERS = {
    r"\{\{.*?\}\}": "a substitution",
    r"\[\^[^\]]+\]": "a footnote (JupyterLab and Colab do not draw them)",
    r"(?m)^: ": "a definition list",
    r"(?m)^\{[.#][^}]*\}\s*$": "an attribute line",
    r"(?<=[\])`])\{[.#][^}]*\}": "an inline attribute",
    r"\{[\w:.+-]+\}`": "a role that does not end",
    r"(?m)^\s*(:::+|```+\{)": "a directive that does not end",
    r"\]\((?!https?:|mailto:)": "a link into the book with brackets or a title",
}


def inline(text: str, book: Book) -> str:
    """Return a paragraph with its roles and its links into the book lowered to words."""
    for pattern, what in LEFTOVERS.items():
        if match := re.search(pattern, INLINE.sub("", text)):
            raise MystError(f"{what}, '{match[0].strip()}', has no plain form")

    def replace(match: re.Match) -> str:
        if match["role"]:
            return lower_role(match["role"], match["code"], book)
        if match["target"] is None:
            return match[0]
        return link(match, book)

    return INLINE.sub(replace, text)


def lower_role(role: str, content: str, book: Book) -> str:
    """Return a role as its words, with a link to the site where it points to another page."""
    match = re.fullmatch(r"(?P<words>.*?)\s*<(?P<target>[^<>]+)>", content, re.DOTALL)
    words, target = (match["words"], match["target"]) if match else ("", content.strip())
    if role in ("ref", "numref", "eq", "prf:ref"):
        place = book.place(target)
        return linked(book.words(target, words), book.url(place.page, place.anchor))
    if role == "doc":
        return linked(words or book.title(target), book.url(target))
    if role in ("cite", "cite:t", "cite:p"):
        return cited(role, target, book)
    if role == "term":
        return words or target
    if role == "math":
        return f"${content}$"
    if role in ("sub", "sup", "kbd"):
        return f"<{role}>{content}</{role}>"
    if role.split(":")[-1] in ("attr", "class", "data", "func", "meth", "mod", "obj"):
        return f"`{words or target.removeprefix('~')}`"
    raise MystError(f"role '{{{role}}}' has no plain form in bookbuild/roles.py")


def cited(role: str, keys: str, book: Book) -> str:
    """Return "Cordonnier et al. (2020)", or "(Cordonnier et al., 2020)" in brackets."""
    in_text = role == "cite:t"
    papers = []
    for key in keys.split(","):
        authors, year, url = book.paper(key.strip())
        papers.append(linked(f"{authors} ({year})" if in_text else f"{authors}, {year}", url))
    if in_text:
        return ", ".join(papers[:-1]) + " and " * (len(papers) > 1) + papers[-1]
    return f"({'; '.join(papers)})"


def link(match: re.Match, book: Book) -> str:
    """Return a Markdown link, pointing to the site if it pointed into the book."""
    target = unquote(match["target"])
    if match["image"]:
        raise MystError(f"image '{target}' is not part of the notebook: draw it in a cell")
    if re.match(r"https?:|mailto:", target):
        return match[0]
    page, _, label = target.partition("#")
    if label:
        place = book.place(label)
        return linked(book.words(label, match["text"]), book.url(place.page, place.anchor))
    return linked(match["text"] or book.title(page), book.url(page))


def linked(words: str, url: str | None) -> str:
    """Return a Markdown link, or the words alone where there is no address."""
    return f"[{words}]({url})" if url else words
