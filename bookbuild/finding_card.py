"""The picture that other programs show of a link to the book: its title, and its answer in colours.

The letters are those that matplotlib brings along, so the picture is the same on every machine
with the same version of it.
"""

from pathlib import Path
from textwrap import fill

import numpy as np
from matplotlib.figure import Figure

from qkvlib import softmax

INCHES, DPI = (12, 6.3), 100  # 1200 × 630, which all of them show whole
PAPER, INK = "#e9e7df", "#1f2328"  # zero is white, and shows on it


def draw(file: Path, title: str) -> None:
    """Draw the title above scores and weights of three tokens, without and with a key bias."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    query, key = X @ np.array([[1.0], [-1.0]]), X @ np.log([[2.0], [3.0]])
    figure = Figure(INCHES, DPI, facecolor=PAPER)
    figure.text(.06, .9, fill(title, 28), size=40, weight="bold", color=INK, va="top")
    for column, b_K in enumerate((0, 2)):
        scores = query @ (key + b_K).T
        left = .06 + .48 * column
        figure.text(left, .47, f"$b_K = {b_K}$", size=24, color=INK)
        _heatmap(figure, left, scores, "RdBu_r", (-4, 4), "scores")
        figure.text(left + .195, .245, "→", size=30, color=INK, ha="center", va="center")
        _heatmap(figure, left + .23, softmax(scores), "cividis", (0, 1), "weights")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Software": None})  # which would name the version


def _heatmap(figure, left, values, colours, limits, name):
    axes = figure.add_axes((left, .1, .16, .16 * INCHES[0] / INCHES[1]))
    axes.pcolormesh(values, cmap=colours, vmin=limits[0], vmax=limits[1], edgecolors=PAPER,
                    linewidth=3)
    axes.invert_yaxis()  # the first row on top
    axes.set_title(name, size=18, color=INK)
    axes.set_axis_off()
