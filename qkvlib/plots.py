"""Plots in one house style, by matplotlib: colour-blind safe, described, bounded in size.

They are PNG, since what they show comes from training and differs in its last digits between
machines. What has to agree to the byte is drawn by `figures.heatmap` and its kin.
"""

import io
import sys

import matplotlib
import numpy as np
from cycler import cycler
from IPython.display import display
from matplotlib.figure import Figure as Plot
from PIL import Image
from scipy.special import stdtrit

from .pictures import alt_text

# Okabe and Ito's colours, without their black and their yellow, which is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
WIDTH = 4.8  # inches, shown as 480 px: letters stay above 11 px when a phone shrinks it
BUDGET = 40_000  # bytes of a PNG

STYLE = {
    "axes.grid": True,
    # Colour never stands alone: every line also has dashes of its own.
    "axes.prop_cycle": cycler(color=COLOURS)
    + cycler(linestyle=["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1))]),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",  # a card: black text on no background would be lost on a dark page
    "font.size": 11.5,
    "grid.alpha": 0.3,
    "legend.edgecolor": "none",
    "lines.linewidth": 1.8,
    "lines.markersize": 6,
}


def new(*, height=3.0):
    """Return `(figure, axes)` in the house style, `height` inches tall, to draw on and `show`."""
    matplotlib.rcParams.update(STYLE)
    plot = Plot(figsize=(WIDTH, height))
    return plot, plot.subplots()


def show(plot, *, alt):
    """Display a matplotlib figure as a PNG, and `alt` where pictures are not shown.

    Raises ValueError without alt text, and if the PNG takes more than 40 kB.
    """
    alt = alt_text(alt)
    large, small = io.BytesIO(), io.BytesIO()
    plot.savefig(large, format="png", dpi=200)
    # A palette of 64 colours looks alike in a third of the bytes; and what Pillow writes names no
    # version of matplotlib, so that the bytes depend on the picture alone.
    Image.open(large).convert("RGB").quantize(64).save(small, format="png", optimize=True)
    size = len(small.getvalue())
    if size > BUDGET:
        raise ValueError(
            f"this plot takes {size / 1000:.0f} kB, and a plot may take {BUDGET // 1000} kB: "
            "draw fewer points or a lower figure"
        )
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close(plot)  # or the end of the cell would show a figure of pyplot's again
    display(
        {"image/png": small.getvalue(), "text/plain": f"Figure: {alt}"},
        metadata={"image/png": {"width": round(100 * plot.get_figwidth())}},
        raw=True,
    )


def interval(samples):
    """Return the mean of `samples` and the half-width of its 95 % t-interval (NaN for one)."""
    samples = np.asarray(samples, dtype=float)
    if len(samples) < 2:
        return float(samples.mean()), float("nan")
    error = samples.std(ddof=1) / len(samples) ** 0.5
    return float(samples.mean()), float(stdtrit(len(samples) - 1, 0.975) * error)


def dots(groups, *, alt, label, title=None, digits=3):
    """Show every sample of every group as a dot, and each group's mean with its 95 % t-interval.

    `groups` maps a name to its samples, one a seed; `label` names the axis and its unit. Raises
    ValueError without alt text and for groups without samples.
    """
    if not groups or not all(map(len, groups.values())):
        raise ValueError("dots shows groups of samples: give each name at least one sample")
    plot, axes = new(height=0.9 + 0.45 * len(groups))
    for row, samples in enumerate(groups.values()):
        # Dots above, mean below; spread evenly, since equal samples would hide each other.
        axes.plot(samples, row - 0.15 + np.linspace(-0.1, 0.1, len(samples)), "o",
                  color=COLOURS[0], alpha=0.6, markeredgewidth=0)
        mean, half = interval(samples)
        axes.errorbar(mean, row + 0.22, xerr=half, fmt="D", color="black", capsize=4)
        text = f"{mean:.{digits}f}" + (f" ± {half:.{digits}f}" if len(samples) > 1 else "")
        axes.annotate(text, (1.02, row), xycoords=("axes fraction", "data"), va="center")
    axes.set(yticks=range(len(groups)), yticklabels=list(groups), xlabel=label, title=title)
    axes.set_ylim(len(groups) - 0.5, -0.5)  # the first group on top
    show(plot, alt=alt)
