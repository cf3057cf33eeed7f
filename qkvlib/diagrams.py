"""Diagrams: which token wants which, and the steps of a layer with what goes round them."""

import math
from html import escape

from .pictures import Figure, Table

TOKEN, RING, ROOM = 12, 44, 26  # px: radius of a token, of the ring, white space around it
BOX, STEP, LANE = 26, 44, 22  # px: height of a box, from one to the next, room on the left
INK = 'fill="none" stroke="currentColor" stroke-width="1.4"'


def graph(wanted, *, alt, names=None, title=""):
    """Draw tokens on a ring, with an arrow from each to the one it wants.

    `wanted` (n,) holds positions, of a list, an array or a tensor; `names` are n short words, by
    default 1 … n. Raises ValueError for names of another number and for positions that are none.
    """
    wanted = [int(position) for position in wanted]
    count = len(wanted)
    names = [str(name) for name in (range(1, count + 1) if names is None else names)]
    if len(names) != count or not set(wanted) <= set(range(count)):
        raise ValueError(f"got {len(names)} names and the positions {wanted}; wanted as many names "
                         f"as positions, and positions from 0 to {count - 1}")
    top = 20 * bool(title)
    middle = RING + TOKEN + ROOM
    marks = [f'<text x="2" y="14" font-weight="600">{escape(title)}</text>'] if title else []
    turns = [2 * math.pi * i / count - math.pi / 2 for i in range(count)]
    places = [(middle + RING * math.cos(turn), top + middle + RING * math.sin(turn))
              for turn in turns]
    for i, j in enumerate(wanted):
        marks.append(_loop(*places[i], turns[i]) if i == j else _arrow(*places[i], *places[j]))
    for name, (x, y) in zip(names, places, strict=True):
        marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{TOKEN}" {INK}/>'
                     f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle">'
                     f'{escape(name)}</text>')
    table = [["token", "wants"], *([name, names[j]] for name, j in zip(names, wanted, strict=True))]
    return Figure(_svg(2 * middle, top + 2 * middle, marks), alt, Table(table, title))


def flow(steps, *, alt, skips=(), width=96):
    """Draw steps one below the other, each as a box with a note, and arrows that skip some.

    `steps` lists pairs (name, note); `skips` pairs (i, j) of positions: what leaves box i also
    arrives at box j. `width` is that of the boxes in px. Raises ValueError for a skip that does not
    lead down or that passes where another is: they share one lane.
    """
    ends = [end for skip in skips for end in skip]
    if ends != sorted(ends) or not all(0 <= i < j < len(steps) for i, j in skips):
        raise ValueError(f"skips are {list(skips)}; wanted pairs (from, to) one after the other, "
                         f"each leading down, between 0 and {len(steps) - 1}")
    left = LANE if skips else 1
    marks = []
    for row, (name, note) in enumerate(steps):
        y = STEP * row + 2
        marks.append(f'<rect x="{left}" y="{y}" width="{width}" height="{BOX}" rx="4" {INK}/>'
                     f'<text x="{left + width / 2:g}" y="{y + 17.5:g}" text-anchor="middle">'
                     f'{escape(name)}</text>'
                     f'<text x="{left + width + 12}" y="{y + 17.5:g}">{escape(note)}</text>')
        if row:
            x = left + width / 2
            marks.append(_path(f"M{x:g} {y - STEP + BOX}V{y - 1}", (x, y - 1), math.pi / 2))
    for i, j in skips:  # out below the middle and in above it: one may end where another begins
        start, end = STEP * i + 2 + 0.7 * BOX, STEP * j + 2 + 0.3 * BOX
        marks.append(_path(f"M{left} {start:g}H2V{end:g}H{left - 1}", (left - 1, end), 0))
    right = left + width + 12 + 8 * max(len(note) for _, note in steps)
    table = Table([["step", "what it does"], *map(list, steps)])
    return Figure(_svg(right, STEP * len(steps) - STEP + BOX + 4, marks), alt, table)


def _arrow(x, y, to_x, to_y):
    """An arrow that bows to its left, so that one there and one back stay apart."""
    length, turn = math.hypot(to_x - x, to_y - y), math.atan2(to_y - y, to_x - x)
    bow = min(0.12 * length, 6)
    lift = math.atan(4 * bow / length)
    over_x = (x + to_x) / 2 + 2 * bow * math.sin(turn)
    over_y = (y + to_y) / 2 - 2 * bow * math.cos(turn)
    start_x, start_y = x + TOKEN * math.cos(turn - lift), y + TOKEN * math.sin(turn - lift)
    tip = (to_x - (TOKEN + 1) * math.cos(turn + lift), to_y - (TOKEN + 1) * math.sin(turn + lift))
    curve = f"M{start_x:.1f} {start_y:.1f}Q{over_x:.1f} {over_y:.1f} {tip[0]:.1f} {tip[1]:.1f}"
    return _path(curve, tip, turn + lift)


def _loop(x, y, turn):
    """An arrow from a token to itself, on the outer side of the ring."""
    ends = [(x + (TOKEN + 1) * math.cos(turn + side), y + (TOKEN + 1) * math.sin(turn + side))
            for side in (-0.6, 0.6)]
    over = [(x + 42 * math.cos(turn + side), y + 42 * math.sin(turn + side))
            for side in (-0.5, 0.5)]
    curve = "M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}".format(
        *ends[0], *over[0], *over[1], *ends[1])
    return _path(curve, ends[1], turn + math.pi + 0.45)


def _path(line, tip, turn):
    """A line with an arrowhead at `tip`, in the direction `turn`."""
    wings = [(tip[0] - 8 * math.cos(turn + side), tip[1] - 8 * math.sin(turn + side))
             for side in (-0.4, 0.4)]
    head = "M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}z".format(*wings[0], *tip, *wings[1])
    return f'<path d="{line}" {INK}/><path d="{head}"/>'


def _svg(width, height, marks):
    return (f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" style="max-width:100%;height:auto" fill="currentColor" '
            f'font-size="13" aria-hidden="true">{"".join(marks)}</svg>')
