"""The picture on top of the README, drawn by the library from the three-token example.

    python -m bookbuild.picture     writes chapters/images/key-bias.svg
"""

import re

import numpy as np

from bookbuild.address import ROOT
from bookbuild.files import replace
from qkvlib import softmax
from qkvlib.figures import heatmap

FILE = ROOT / "chapters" / "images" / "key-bias.svg"

TITLE = "A key bias moves the scores and not the weights"
WORDS = (
    "Two rows of heat maps, for key biases of 0 and 2: the scores of three tokens differ, "
    "the attention weights beside them are the same."
)
# A card of its own, since GitHub shows pictures on light and on dark pages alike.
PAPER, INK = "#fdfcf8", "#1f2328"
B_K = '<tspan font-style="italic">b<tspan dy="4" font-size="12">K</tspan></tspan>'


def picture(key_biases=(0.0, 2.0)) -> str:
    """Return an SVG with a row for each key bias: the scores, an arrow, the weights."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    query, key = X @ np.array([[1.0], [-1.0]]), X @ np.log([[2.0], [3.0]])
    parts, y = [], 16
    for b_K in key_biases:
        scores = query @ (key + b_K).T
        left = heatmap(scores, title="scores", diverging=True, limits=(-4, 4), alt="scores").svg
        right = heatmap(softmax(scores), title="weights", limits=(0, 1), alt="weights").svg
        width, height = (int(side) for side in re.findall(r'(?:width|height)="(\d+)"', left)[:2])
        middle = y + height / 2 + 14
        parts += [
            _text(20, middle, f'{B_K}<tspan dy="-4"> = {b_K:g}</tspan>', 17),
            _placed(left, 120, y),
            _text(130 + width, middle - 12, "softmax", 13),
            _text(144 + width, middle + 6, "→", 22),
            _placed(right, 200 + width, y),
        ]
        y += height + 16
    total = 220 + 2 * width
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {y}" width="{total}" '
        f'height="{y}" role="img" aria-labelledby="title words" color="{INK}" fill="{INK}" '
        'font-family="system-ui, sans-serif">\n'
        f'<title id="title">{TITLE}</title><desc id="words">{WORDS}</desc>\n'
        f'<rect width="{total}" height="{y}" rx="8" fill="{PAPER}"/>\n{"".join(parts)}</svg>\n'
    )


def _placed(svg: str, x: float, y: float) -> str:
    return svg.replace("<svg ", f'<svg x="{x:g}" y="{y:g}" ', 1) + "\n"


def _text(x: float, y: float, words: str, size: int) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}">{words}</text>\n'


if __name__ == "__main__":
    replace(FILE, picture())
