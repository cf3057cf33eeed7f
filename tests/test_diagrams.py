"""Diagrams: an arrow ends at the token that is wanted, and what cannot be drawn is refused."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from qkvlib import diagrams

STEPS = [("tokens", "x"), ("LayerNorm", ""), ("attention", "reads < all"), ("sum", "x + y")]


def drawn(figure):
    """The lines, the arrowheads' tips, and (text, x, y) of a figure."""
    svg = ElementTree.fromstring(figure.svg)
    paths = [path.get("d") for path in svg.iter("path")]
    numbers = [[float(n) for n in re.findall(r"-?\d+\.?\d*", path)] for path in paths]
    texts = [(t.text, float(t.get("x")), float(t.get("y"))) for t in svg.iter("text")]
    lines, heads = numbers[::2], numbers[1::2]  # each line is followed by its head
    return lines, [head[2:4] for head in heads], texts


@pytest.mark.parametrize("wanted", [[0, 1, 2], [1, 0, 3, 2], [1, 2, 3, 4, 5, 0], [0] * 6, [0]])
def test_graph_points_from_each_token_to_the_one_it_wants(wanted):
    figure = diagrams.graph(np.array(wanted), alt="who wants whom", title="map")
    lines, tips, texts = drawn(figure)
    title, *tokens = texts
    assert title[0] == "map" and [t[0] for t in tokens] == [str(i + 1) for i in range(len(wanted))]
    centres = [(x, y - 4.5) for _, x, y in tokens]
    for i, (line, tip) in enumerate(zip(lines, tips, strict=True)):
        assert abs(math.dist(line[:2], centres[i]) - diagrams.TOKEN) < 1.5
        assert abs(math.dist(tip, centres[wanted[i]]) - diagrams.TOKEN) < 1.5
    rows = [[str(i + 1), str(j + 1)] for i, j in enumerate(wanted)]
    assert figure.tables[0].rows[1:] == rows and figure.alt == "who wants whom"


def test_graph_takes_names_and_refuses_what_is_no_position():
    figure = diagrams.graph([1, 0], names=["a<b", "c"], alt="two")
    assert figure.tables[0].rows[1] == ["a<b", "c"] and "a&lt;b" in figure.svg
    for wanted, names in [([0, 2], None), ([0, -1], None), ([0, 1], ["a"])]:
        with pytest.raises(ValueError, match="positions from 0 to 1"):
            diagrams.graph(wanted, names=names, alt="two")


def test_flow_leads_down_and_skips_arrive():
    figure = diagrams.flow(STEPS, skips=[(0, 2), (2, 3)], alt="a layer")
    svg = ElementTree.fromstring(figure.svg)
    tops = [float(box.get("y")) for box in svg.iter("rect")]
    assert tops == sorted(tops) and len(tops) == 4
    _, tips, texts = drawn(figure)
    assert ("reads < all" in [t[0] for t in texts]) and figure.tables[0].rows[1] == ["tokens", "x"]
    arrivals = [sum(top - 2 < y < top + diagrams.BOX for _, y in tips) for top in tops]
    assert arrivals == [0, 1, 2, 2]
    assert all(0 <= x <= float(svg.get("width")) for x, _ in tips)


@pytest.mark.parametrize("skips", [[(2, 1)], [(0, 4)], [(-1, 1)], [(0, 2), (1, 3)], [(1, 1)]])
def test_flow_refuses_skips_that_cannot_be_drawn(skips):
    with pytest.raises(ValueError, match="between 0 and 3"):
        diagrams.flow(STEPS, skips=skips, alt="a layer")
