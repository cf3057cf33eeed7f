"""A map on a few tokens, drawn as arrows: from each token to the one that it attends to."""

import math
from html import escape

from .pictures import Figure

RING, DOT, BOW, LINE = 50, 15, 16, 18  # px: tokens' circle, their size, bend, line of text
MARK = "#D55E00"


def arrows(f, *, alt, title="", marked=()):
    """Draw the map i → f[i] as arrows between numbered tokens that stand on a circle.

    Tokens are numbered from 1; arrows out of those in `marked`, a collection of indices from 0,
    are coloured and thick. Raises ValueError without alt text.
    """
    n, middle, top = len(f), RING + 3 * DOT, LINE * bool(title)
    out = [(math.sin(2 * math.pi * i / n), -math.cos(2 * math.pi * i / n)) for i in range(n)]
    at = [(middle + RING * x, top + middle + RING * y) for x, y in out]
    marks = [f'<text y="13" font-weight="600">{escape(title)}</text>' if title else ""]
    for i, j in enumerate(f):
        colour, width = (MARK, 3.5) if i in marked else ("currentColor", 1.5)
        path, tip, (x, y) = _loop(at[i], out[i]) if i == j else _bow(at[i], at[j])
        marks.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        marks.append(f'<path d="M{_at(tip)}L{_at(tip, -9 * x - 5 * y, -9 * y + 5 * x)}'
                     f'L{_at(tip, -9 * x + 5 * y, -9 * y - 5 * x)}z" fill="{colour}"/>')
    for number, (x, y) in enumerate(at, 1):
        marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{DOT - 2}" fill="none" '
                     'stroke="currentColor"/>')
        marks.append(f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle">{number}</text>')
    width, height = 2 * middle, top + 2 * middle
    return Figure(
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'fill="currentColor" '
        f'font-size="13" style="max-width:100%;height:auto;overflow:visible" aria-hidden="true">'
        f'{"".join(marks)}</svg>', alt)


def _bow(start, end):
    """A bent line between two tokens: its path, its tip, the direction in which it arrives.

    Bent to one side, so that an arrow and the arrow back stand apart.
    """
    across = (end[0] - start[0], end[1] - start[1])
    length = math.hypot(*across)
    bend = ((start[0] + end[0]) / 2 - BOW * across[1] / length,
            (start[1] + end[1]) / 2 + BOW * across[0] / length)
    leaves, arrives = _unit(start, bend), _unit(bend, end)
    tip = (end[0] - DOT * arrives[0], end[1] - DOT * arrives[1])
    path = (f"M{_at(start, DOT * leaves[0], DOT * leaves[1])}"
            f"Q{_at(bend)} {_at(tip, -6 * arrives[0], -6 * arrives[1])}")
    return path, tip, arrives


def _loop(at, out):
    """A loop on the outer side of a token."""
    (x, y), side = out, (-out[1], out[0])

    def beside(along, across):
        return at[0] + along * x + across * side[0], at[1] + along * y + across * side[1]

    ends = [beside(0.8 * DOT, 0.6 * DOT), beside(0.8 * DOT, -0.6 * DOT)]
    far = [beside(46, 24), beside(46, -24)]
    arrives = _unit(far[1], ends[1])
    path = (f"M{_at(ends[0])}C{_at(far[0])} {_at(far[1])} "
            f"{_at(ends[1], -6 * arrives[0], -6 * arrives[1])}")
    return path, ends[1], arrives


def _unit(start, end):
    length = math.hypot(end[0] - start[0], end[1] - start[1])
    return (end[0] - start[0]) / length, (end[1] - start[1]) / length


def _at(point, dx=0.0, dy=0.0):
    return f"{point[0] + dx:.1f} {point[1] + dy:.1f}"
