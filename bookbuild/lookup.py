"""What the chapters refer to: labels, pages, papers and claims, as the words a reader sees."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import yaml
from docutils.nodes import make_id
from pybtex.database import Entry

from bookbuild import address, claims
from bookbuild.myst import Block, MystError, walk
from bookbuild.papers import Paper, named_paper, read_papers

THEOREMS = (
    "algorithm assumption axiom conjecture corollary criterion definition example lemma notation "
    "observation property proposition remark theorem"
).split()


@dataclass(frozen=True)
class Place:
    """Where a label stands: the page, the anchor on it, the words for it ("Theorem 1"), and of
    which kind their number is ("theorem"; empty for words without a number).
    """

    page: str
    anchor: str
    words: str
    kind: str = ""


class Book:
    """Answers for the roles of one book; `root` holds `chapters/` and pyproject.toml."""

    def __init__(self, root: Path = address.ROOT):
        self.root = root
        self.chapters = root / "chapters"
        self.reading = ""

    def opened(self, page: str) -> "Book":
        """Return the same book as read from `page`, where nothing links to that page itself."""
        reader = copy(self)
        reader.reading = page
        return reader

    @cached_property
    def site(self) -> str | None:
        """The address of the book's pages, or None while the repository has no address."""
        if not address.is_set(self.root):
            return None
        owner, name = urlsplit(address.address(self.root)).path.strip("/").split("/")
        return f"https://{owner.lower()}.github.io/{name}/"

    @cached_property
    def name(self) -> str:
        """The book's own title."""
        return yaml.safe_load((self.root / "_config.yml").read_text(encoding="utf-8"))["title"]

    @cached_property
    def pages(self) -> dict[str, str]:
        """Every page's Markdown by its name ("notation", "appendix/claims"), in the book's order;
        notebooks that are not in _toc.yml yet come last.
        """
        toc = (self.root / "_toc.yml").read_text(encoding="utf-8")
        names = re.findall(r"\b(?:root|file): *chapters/(\S+)", toc)
        names += sorted({path.stem for path in self.chapters.glob("*.ipynb")} - set(names))
        return {name: page_text(self.chapters / name) for name in names}

    @cached_property
    def places(self) -> dict[str, Place]:
        """Every label of the book."""
        found: dict[str, Place] = {}
        for page, text in self.pages.items():
            for label, place in labels(page, text):
                if label in found:
                    raise MystError(
                        f"label '{label}' stands in {found[label].page} and in {page}: rename one"
                    )
                found[label] = place
        for entry in self.ledger:
            name = f"claim-{entry.id}"
            found[name.lower()] = Place(plain_name(entry.chapter), name, f"claim {entry.id}")
        return found

    def place(self, label: str) -> Place:
        """Return where `label` stands; raises MystError if nothing carries it."""
        if label.lower() not in self.places:
            raise MystError(f"nothing in the book is labelled '{label}'")
        return self.places[label.lower()]

    def words(self, label: str, given: str = "") -> str:
        """Return the words of a reference: those given, which Sphinx drops for an equation, or what
        the book calls `label`. Raises MystError for a bare number of another page.
        """
        place = self.place(label)
        words = place.words if place.kind == "equation" else given or place.words
        if place.kind and words == place.words and place.page != self.reading:
            raise MystError(
                f"{words} ('{label}') stands on page '{place.page}', and each page counts from 1: "
                f"write `words <{label}>`, or point to the section that an equation stands in"
            )
        return words

    def title(self, page: str) -> str:
        """Return a page's title, without markup; raises MystError if there is no such page."""
        name = plain_name(page)
        if name not in self.pages:
            raise MystError(f"the book has no page '{page}' (it has {', '.join(self.pages)})")
        for block in walk(self.pages[name]):
            if block.kind == "heading":
                return block.body
        raise MystError(f"page '{name}' has no title")

    def url(self, page: str, anchor: str = "") -> str | None:
        """Return a page's address on the site; None for the page being read, or without a site."""
        name = plain_name(page)
        return None if name == self.reading else self.page_address(name, anchor)

    def page_address(self, name: str, anchor: str = "") -> str | None:
        """Return a page's address on the site, or None while the site has none."""
        return self.site and f"{self.site}chapters/{name}.html" + (anchor and f"#{anchor}")

    @cached_property
    def papers(self) -> Mapping[str, Entry]:
        """The entries of references.bib."""
        return read_papers(self.chapters / "references.bib")

    def paper(self, key: str) -> Paper:
        """Return a paper's authors, year and address; raises MystError for an unknown key."""
        if key not in self.papers:
            raise MystError(f"references.bib has no entry '{key}'")
        return named_paper(key, self.papers[key])

    def claim(self, name: str) -> claims.Claim:
        """Return the claim with that id; raises MystError if the ledger does not know it."""
        for entry in self.ledger:
            if entry.id == name:
                return entry
        raise MystError(f"claims.yml has no claim '{name}'")

    @cached_property
    def ledger(self) -> list[claims.Claim]:
        """The entries of the claims ledger."""
        return claims.load(self.root / claims.LEDGER)


def plain_name(page: str) -> str:
    """Return a page's name inside `chapters/`: "notation" for "/chapters/notation.md"."""
    return page.removeprefix("/").removeprefix("chapters/").removesuffix(".md")


def page_text(path: Path) -> str:
    """Return a page's Markdown, be it a text or a notebook; `path` has no suffix."""
    text = path.with_name(path.name + ".md")
    if text.exists():
        return re.sub(r"\A---\n.*?\n---\n", "", text.read_text(encoding="utf-8"), flags=re.DOTALL)
    notebook = nbformat.read(path.with_name(path.name + ".ipynb"), as_version=4)
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def labels(page: str, text: str) -> Iterator[tuple[str, Place]]:
    """Yield (label, Place) for everything in a page that can be pointed at, each kind that bears
    numbers counting from 1, as on the site.
    """
    waiting, numbers = [], Counter()
    for block in walk(text):
        if block.kind == "target":
            waiting.append(block.name)
            continue
        kind = numbered_kind(block)
        numbers[kind] += 1
        words = named(block, kind, numbers[kind])
        for label in waiting + [block.label] * bool(block.label):
            yield label.lower(), Place(page, make_id(label), words, kind)
        waiting = []


def numbered_kind(block: Block) -> str:
    """Return the kind of which `block` bears a number, or "" if it bears none."""
    kind = block.name.removeprefix("prf:")
    if block.kind == "equation" or kind == "math":
        return "equation" if block.label else ""
    numbered = block.kind == "directive" and (kind in THEOREMS or kind == "exercise")
    return kind if numbered and "nonumber" not in block.options else ""


def named(block: Block, kind: str, number: int) -> str:
    """Return what the book calls `block`, by its number if it is of a kind that bears them."""
    if kind:
        return f"({number})" if kind == "equation" else f"{kind.capitalize()} {number}"
    if block.kind == "heading":
        return block.body
    return block.argument or block.name.removeprefix("prf:").capitalize()
