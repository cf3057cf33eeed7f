"""The figures of the book: heat maps and bars as hand-written SVG, and the front door to plots.

An SVG is the same to the byte on every machine, takes its ink from the page (light, dark, paper)
and carries its description and its numbers. Colours and lengths are drawn from the numbers as
printed, so that a picture changes only where a printed digit does.
"""

import math
from html import escape
from unicodedata import east_asian_width

import numpy as np
from matplotlib import colormaps

from .arrows import arrows
from .pictures import SUBSCRIPT, Figure, Table, panels
from .plots import COLOURS, dots, interval, new, show
from .scales import as_shown, colours_at, ends, number

__all__ = ["Figure", "Table", "arrows", "bars", "dots", "heatmap", "interval", "new", "panels",
           "show"]

PHONE = 340  # px: a phone's column; a wider picture shrinks there, and its letters with it
TEXT, LINE, GAP = 13, 18, 6  # px: height of letters and of a line, white space
_MIDDLE, _END, _BOLD = 'text-anchor="middle"', 'text-anchor="end"', 'font-weight="600"'
_KIND = f'{_MIDDLE} font-style="italic"'


def heatmap(values, *, alt, title="", rows=None, columns=None, row_title="", column_title="",
            limits=None, diverging=False, digits=2):
    """Draw a matrix as coloured cells, with the numbers in them where that fits on a phone.

    `values` (rows, columns) is an array or tensor; entries that are not finite stay uncoloured.
    `rows` and `columns` name them, one by one; the titles say of what kind they are ("query").
    `limits` (low, high) are the ends of the colours: by default the greatest value, and 0 or the
    least. `diverging` has white at 0, for values of both signs. `digits` are the decimals shown.
    Raises ValueError for another shape, names that do not fit it, values beyond the limits.
    """
    shown, texts = as_shown(values, 2, digits)
    rows = _names("rows", rows, len(texts))
    columns = _names("columns", columns, len(texts[0]))
    low, high = ends(shown, limits, digits, symmetric=diverging)
    colours = colormaps["RdBu_r" if diverging else "cividis"]

    left = LINE * bool(row_title) + (max(map(_width, rows)) + GAP) * any(rows) + 1
    written = [number(low, digits), number(high, digits), *(text for row in texts for text in row)]
    width, height = max(36, max(map(_width, written)) + 4), 36
    if with_numbers := left + width * len(columns) <= PHONE:
        width = max(width, min(max(map(_width, columns)), (PHONE - left) // len(columns)))
    else:
        width = height = max(2, min(24, (PHONE - left) // len(columns)))
    steep = max(map(_width, columns)) > width
    names = GAP + (max(map(_width, columns)) if steep else TEXT * any(columns))
    top = LINE * bool(title) + (LINE + GAP) * bool(column_title) + names
    right, bottom = left + width * len(columns), top + height * len(rows)

    marks = [_text(left, TEXT, title, _BOLD)]
    marks.append(_text((left + right) / 2, top - names - GAP, column_title, _KIND))
    marks.append(_text(TEXT, (top + bottom) / 2, row_title, _KIND, turned=True))
    every = math.ceil(TEXT / height)  # of names that would overlap, some are left out
    for i, name in enumerate(rows[::every]):
        marks.append(_text(left - GAP, top + (i * every + 0.5) * height + 4.5, name, _END))
    for j, name in enumerate(columns[::every]):
        x = left + (j * every + 0.5) * width + 4.5 * steep
        marks.append(_text(x, top - GAP, name, "" if steep else _MIDDLE, turned=steep))
    cells = []
    for (i, j), value in np.ndenumerate(shown):
        x, y = left + j * width, top + i * height
        fill, ink = colours_at(colours, (value - low) / (high - low))
        cells.append(_box(x, y, width, height, fill))
        if with_numbers:
            style = f'{_MIDDLE} fill="{ink}"'
            marks.append(_text(x + width / 2, y + height / 2 + 4.5, texts[i][j], style))
        elif fill == "none":
            cells.append(f'<path d="M{x:g} {y:g}l{width} {height}"/>')  # crossed out
    marks = [f'<g stroke="currentColor" stroke-opacity=".3">{"".join(cells)}</g>', *marks]
    if not with_numbers:  # then a scale says what the colours mean
        for k in range(32):
            marks.append(_box(left + 4 * k, bottom + 12, 4, 10, colours_at(colours, k / 31)[0]))
        bottom += 22 + LINE
        marks.append(_text(left, bottom - 3, written[0]))
        marks.append(_text(left + 4 * 32, bottom - 3, written[1], _END))
        right = max(right, left + 4 * 32)

    corner = " \\ ".join(filter(None, [row_title, column_title]))
    table = [[corner, *(name or j for j, name in enumerate(columns, 1))]]
    table += [[name or i, *row] for i, (name, row) in enumerate(zip(rows, texts, strict=True), 1)]
    return Figure(_svg(max(right, left + _width(title)), bottom, marks), alt, Table(table, title))


def bars(values, *, alt, labels=None, title="", limits=None, digits=2):
    """Draw a vector as horizontal bars that start at zero, each with its name and number.

    `values` (n,) is an array or tensor; `limits` (low, high) are the ends of the axis, 0 between.
    Raises ValueError for another shape, names that do not fit it, values beyond the limits.
    """
    shown, texts = as_shown(values, 1, digits)
    labels = _names("labels", labels, len(texts))
    low, high = ends(np.append(shown, 0.0), limits, digits)

    left, top, room, height = max(map(_width, labels)) + GAP, LINE * bool(title) + GAP, 150, 26
    right = left + room + GAP + max(map(_width, texts))
    zero = left - room * low / (high - low)
    marks = [_text(left, TEXT, title, _BOLD)]
    for i, value in enumerate(shown):
        y = top + i * height
        length = room * value / (high - low) if math.isfinite(value) else 0
        marks.append(_text(left - GAP, y + 17.5, labels[i], _END))
        marks.append(_box(zero, y + 4, length, height - 8, COLOURS[0]))
        marks.append(_text(right, y + 17.5, texts[i], _END))
    bottom = top + height * len(texts)
    marks.append(f'<path d="M{zero:g} {top}V{bottom}" stroke="currentColor"/>')

    named = enumerate(zip(labels, texts, strict=True), 1)
    table = [["", title], *([name or i, text] for i, (name, text) in named)]
    return Figure(_svg(max(right, left + _width(title)), bottom, marks), alt, Table(table))


def _names(what, names, count):
    names = [""] * count if names is None else [str(name) for name in names]
    if len(names) != count:
        raise ValueError(f"{what} has {len(names)} names and the values need {count}: {names}")
    return names


def _width(text):
    """Estimate the width of `text` in px, Chinese letters being square."""
    return math.ceil(sum(TEXT if east_asian_width(c) in "WF" else 0.6 * TEXT for c in text))


def _text(x, y, content, style="", turned=False):
    if not content:
        return ""
    turn = f' transform="rotate(-90 {x:g} {y:g})"' if turned else ""
    # b_K, W_Q and d_model get their subscripts; the empty span leads back to the line.
    content = SUBSCRIPT.sub(
        r'\1<tspan dy="3" font-size=".8em">\2</tspan><tspan dy="-3">&#8203;</tspan>',
        escape(content),
    )
    return f'<text x="{x:g}" y="{y:g}"{style and " " + style}{turn}>{content}</text>'


def _box(x, y, width, height, fill):
    return f'<path d="M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}z" fill="{fill}"/>'


def _svg(width, height, marks):
    width, height = math.ceil(width) + 1, math.ceil(height) + 1  # outlines are drawn half outside
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'style="max-width:100%;height:auto" fill="currentColor" font-size="{TEXT}" '
        f'aria-hidden="true">{"".join(marks)}</svg>'
    )
