"""What a picture is in this book: SVG, a description in words, and the numbers behind it."""

import re
from html import escape
from typing import NamedTuple

NUMBERS = "Numbers"  # what opens the table: the only word that a picture brings along
SUBSCRIPT = re.compile(r"(?<![^\W_])([^\W\d_])_([^\W_]+)")  # one letter, _, letters or digits


def alt_text(alt):
    """Return the description `alt` without outer blanks; raise ValueError if it says nothing."""
    if not isinstance(alt, str) or not alt.strip():
        raise ValueError(
            f"a figure needs alt text, and got {alt!r}: write in a sentence or two what the figure "
            "shows, for a reader who cannot see it"
        )
    return alt.strip()


def html_text(text):
    """Escape `text` for HTML, setting the subscripts of b_K, W_Q, d_model and the like."""
    return SUBSCRIPT.sub(r"\1<sub>\2</sub>", escape(str(text)))


class Table(NamedTuple):
    """Rows of text with a caption; the first row and each row's first entry are headings."""

    rows: list
    caption: str = ""

    def html(self):
        """Return the table as HTML in which every heading says what it heads."""
        head, *body = (map(html_text, row) for row in self.rows)
        rows = ["".join(f'<th scope="col">{name}</th>' if name else "<td></td>" for name in head)]
        for name, *entries in body:
            cells = "".join(f"<td>{entry}</td>" for entry in entries)
            rows.append(f'<th scope="row">{name}</th>{cells}')
        caption = f"<caption>{html_text(self.caption)}</caption>" if self.caption else ""
        body = f"<tr>{'</tr><tr>'.join(rows)}</tr>"
        # Notebook front ends and the book's theme dress this class, for light and for dark.
        return f'<table class="dataframe" style="margin:0">{caption}{body}</table>'


class Figure:
    """A picture that shows itself in a notebook and on the page.

    `svg` is one or more SVG elements, `alt` says what they show, `table` (a `Table` or several)
    holds the numbers. Raises ValueError if `alt` is missing or blank.
    """

    def __init__(self, svg, alt, table=()):
        self.svg = svg
        self.alt = alt_text(alt)
        self.tables = [table] if isinstance(table, Table) else list(table or ())

    def __repr__(self):
        return f"Figure: {self.alt}"

    def _repr_html_(self):
        numbers = ""
        if self.tables:
            tables = "".join(table.html() for table in self.tables)
            summary = f'<summary style="font-size:.85em;margin-top:.4em">{NUMBERS}</summary>'
            # A wide table scrolls, and whoever uses keys must be able to scroll it, too.
            scroll = f'<div tabindex="0" style="{_ROW};overflow-x:auto">{tables}</div>'
            numbers = f"<details>{summary}{scroll}</details>"
        return (
            '<figure class="qkv-figure" style="margin:1em 0">'
            f'<div role="img" aria-label="{escape(self.alt)}" style="{_ROW}">{self.svg}</div>'
            f"{numbers}</figure>"
        )


def panels(*figures, alt, operators=None):
    """Set figures side by side, wrapping on narrow pages, as one figure with all their tables.

    `operators` are the signs between them ("=", "+", …), one fewer than there are figures.
    Raises ValueError for no figures and for another number of signs.
    """
    signs = [""] * (len(figures) - 1) if operators is None else list(operators)
    if len(signs) != len(figures) - 1:
        raise ValueError(
            f"got {len(figures)} figures and {len(signs)} operators: give at least one figure, "
            "and one operator between each two"
        )
    parts = []
    for sign, figure in zip(["", *signs], figures, strict=True):
        # A sign stays with what follows it, as in a formula broken over two lines.
        sign = f'<span style="font-size:1.2em">{escape(sign)}</span>' if sign else ""
        parts.append(f'<div style="{_TERM}">{sign}{figure.svg}</div>')
    return Figure("".join(parts), alt, [table for figure in figures for table in figure.tables])


_ROW = "display:flex;flex-wrap:wrap;gap:.8em .4em;font-variant-numeric:tabular-nums"
_TERM = "display:flex;align-items:center;gap:.2em;max-width:100%"
