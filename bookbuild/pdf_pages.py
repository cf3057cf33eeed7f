"""The pages of the site put into one document for paper, with a table of contents."""

from pathlib import Path
from urllib.parse import urljoin, urlsplit

from bs4 import BeautifulSoup

# Chromium writes a heading at the very top of a sheet into the bookmarks twice: something stands
# before it, which nobody sees.
STYLE = """
html { font-size: 11pt; }
body { display: block; }
section::before { content: ""; display: block; height: 1px; break-after: avoid; }
.sheet { break-before: page; }
:is(h1, h2, h3, h4) { break-after: avoid; }
.book-title { margin: 30% 0 2rem; font-size: 2.5rem; font-weight: 600; line-height: 1.2; }
.book-contents { padding: 0; list-style: none; }
.book-contents a { display: flex; justify-content: space-between; color: inherit; }
"""
NAMES = ("id", "for", "aria-labelledby", "aria-describedby", "aria-controls")
ONLY_ON_SCREEN = "script, .headerlink, .copy, .errata"


class Paper:
    """One document of some pages of a site.

    `site` is the folder, `names` are the pages in order (chapters/notation.html), `title` is what
    stands on the first sheet. Every id gets its page's name in front, since pages share some.
    """

    def __init__(self, site: Path, names: list[str], title: str):
        self.site, self.names = site, names
        self.page = BeautifulSoup("<!DOCTYPE html><html><head><meta charset='utf-8'></head>"
                                  "<body><main></main></body></html>", "html.parser")
        self.page.html["data-theme"] = "light"
        pages = [self._read(name) for name in names]
        self.page.html["lang"] = pages[0].html["lang"]
        self._add_head(pages, title)
        self._add_contents(pages, title)
        for name, page in zip(names, pages, strict=True):
            self.page.main.append(self._article(name, page))

    def html(self) -> str:
        return str(self.page)

    def number(self, sheets: dict[str, int]) -> None:
        """Write into the table of contents on which sheet each page begins."""
        for entry in self.page.select(".book-contents a"):
            entry.select_one(".number").string = str(sheets.get(entry["href"][1:], ""))

    def _read(self, name):
        return BeautifulSoup((self.site / name).read_text("utf-8"), "html.parser")

    def _add_head(self, pages, title):
        head, seen = self.page.head, set()
        head.append(self._tag("title", title))
        for name, page in zip(self.names, pages, strict=True):
            for style in page.select("head link[rel=stylesheet], head > style"):
                if style.get("href"):
                    style["href"] = urljoin(f"/{name}", style["href"])
                if str(style) not in seen:
                    seen.add(str(style))
                    head.append(style)
        head.append(self._tag("style", STYLE))

    def _add_contents(self, pages, title):
        main, entries = self.page.main, self.page.new_tag("ul", attrs={"class": "book-contents"})
        for name, page in zip(self.names, pages, strict=True):
            for link in page.select("h1 .headerlink"):
                link.decompose()
            entry = self._tag("li", "")
            link = self._tag("a", "", href=f"#{slug(name)}")
            link.append(self._tag("span", page.select_one("article h1").get_text()))
            link.append(self._tag("span", "", **{"class": "number"}))
            entry.append(link)
            entries.append(entry)
        main.append(self._tag("p", title, **{"class": "book-title"}))
        main.append(entries)

    def _article(self, name, page):
        article = page.select_one("article")
        article["class"] = ["bd-article", "sheet"]
        for part in article.select(ONLY_ON_SCREEN):
            part.decompose()
        for tag in article.find_all(True):
            for attribute in NAMES:
                if tag.get(attribute):
                    ids = " ".join(tag.get_attribute_list(attribute)).split()
                    tag[attribute] = " ".join(f"{slug(name)}-{id}" for id in ids)
            if tag.name == "details":
                tag["open"] = ""  # on paper nothing is folded
            if tag.get("src"):
                tag["src"] = urljoin(f"/{name}", tag["src"])
            if tag.get("href"):
                self._relink(name, tag)
        article["id"] = slug(name)
        return article

    def _relink(self, name, link):
        target = urlsplit(urljoin(f"http://book.invalid/{name}", link["href"]))
        page = target.path.lstrip("/")
        if target.hostname != "book.invalid":
            return
        if page in self.names:
            link["href"] = f"#{slug(page)}" + (f"-{target.fragment}" if target.fragment else "")
        else:
            del link["href"]  # a download, which paper does not hold

    def _tag(self, name, words, **attributes):
        tag = self.page.new_tag(name, attrs=attributes)
        if words:
            tag.string = words
        return tag


def slug(name: str) -> str:
    """An id for a page: chapters/appendix/claims.html becomes chapters-appendix-claims."""
    return name.removesuffix(".html").replace("/", "-")
