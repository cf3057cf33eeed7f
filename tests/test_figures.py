"""Figures say what they show, show what they say, and are the same to the byte."""

import io
import re
import subprocess
import sys

import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from qkvlib import figures, plots
from qkvlib.figures import Figure, bars, heatmap, panels

HOSTILE = "</details><script>alert(1)</script> <b>\"&amp;'"
numbers = st.floats(-99, 99).map(lambda value: round(value, 3))
matrices = arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=numbers)


def parsed(figure):
    return BeautifulSoup(figure._repr_html_(), "html.parser")


def read(text):
    """The number that a cell says; Python writes the minus as a hyphen and infinity as a word."""
    return float(text.replace("−", "-").replace("∞", "inf"))


def drawn_numbers(figure):
    return [text.get_text() for text in parsed(figure).select('svg text[fill^="#"]')]


def cell_colours(figure):
    return [path["fill"] for path in parsed(figure).select("svg g path[fill]")]


def luminance(colour):
    """The relative luminance of #rgb or #rrggbb, by the definition in WCAG 2."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(first, second):
    dark, light = sorted(map(luminance, [first, second]))
    return (light + 0.05) / (dark + 0.05)


# --- what every figure carries

@pytest.mark.parametrize("alt", [None, "", "  \n", 3])
@pytest.mark.parametrize("draw", [
    lambda alt: Figure("<svg></svg>", alt),
    lambda alt: heatmap([[1.0]], alt=alt),
    lambda alt: bars([1.0], alt=alt),
    lambda alt: panels(bars([1.0], alt="one bar"), alt=alt),
    lambda alt: figures.show(figures.new()[0], alt=alt),
    lambda alt: figures.dots({"seeds": [1.0, 2.0]}, alt=alt, label="accuracy"),
], ids=["Figure", "heatmap", "bars", "panels", "show", "dots"])
def test_a_figure_without_description_is_refused(draw, alt):
    with pytest.raises(ValueError, match="alt text.*write"):
        draw(alt)


def test_description_and_table_are_in_the_html():
    figure = heatmap([[1, 2]], alt="One row.", rows=["it"], columns=["was", "cold"], title="scores")
    html = parsed(figure)
    assert html.find(role="img")["aria-label"] == figure.alt == "One row."
    assert repr(figure) == "Figure: One row."
    assert html.find("svg").find_parent(role="img") and html.find("svg")["aria-hidden"] == "true"
    table = html.select_one("details > summary ~ div table")
    assert table.caption.get_text() == "scores"
    assert [th.get_text() for th in table.select("th[scope=col]")] == ["was", "cold"]
    assert [th.get_text() for th in table.select("th[scope=row]")] == ["it"]
    assert not parsed(Figure("<svg></svg>", "No numbers.")).find("details")


def test_hostile_text_stays_text():
    figure = panels(
        heatmap([[1.0]], alt="x", title=HOSTILE, rows=[HOSTILE], columns=[HOSTILE],
                row_title=HOSTILE, column_title=HOSTILE),
        bars([1.0], alt="x", labels=[HOSTILE], title=HOSTILE),
        alt=HOSTILE, operators=[HOSTILE])
    html = parsed(figure)
    assert not html.find(["script", "b"])
    assert html.find(role="img")["aria-label"] == HOSTILE
    assert sum(text.get_text() == HOSTILE for text in html.find_all("text")) == 7
    assert HOSTILE in [cell.get_text() for cell in html.find_all("th")]


def test_subscripts_are_set_where_one_letter_has_one():
    html = parsed(bars([1, 2], alt="x", labels=["b_K and W_Q·x", "key_bias"], title="d_model"))
    assert [sub.get_text() for sub in html.find_all("sub")] == ["model", "K", "Q"]
    lowered = [span.get_text() for span in html.select("tspan[font-size]")]
    assert lowered == ["model", "K", "Q"]
    assert all("_" not in text.get_text() for text in html.find_all("text")[:2])


def test_a_page_needs_nothing_from_elsewhere_and_no_ids():
    html = panels(heatmap(np.eye(12), alt="x"), bars([1, -1], alt="x"), alt="x")._repr_html_()
    assert not re.search(r"\bid=|url\(|https?:|<style|<script", html)
    svg = parsed(heatmap(np.eye(3), alt="x")).svg
    assert svg["viewbox"] == f"0 0 {svg['width']} {svg['height']}"
    assert svg["fill"] == "currentColor" and "max-width:100%" in svg["style"]


def test_figures_and_explorers_import_without_torch():
    code = ("import sys; import qkvlib.explore as e, qkvlib.figures as f;"
            "e.explore(lambda t: f.heatmap([[t]], alt='x'), t=[0, 1]);"
            "assert 'torch' not in sys.modules")
    subprocess.run([sys.executable, "-c", code], check=True)


# --- heat maps

@given(values=matrices, digits=st.integers(0, 3))
def test_cells_and_table_say_the_numbers(values, digits):
    figure = heatmap(values, alt="x", digits=digits)
    table = [cell.get_text() for cell in parsed(figure).find_all("td") if cell.get_text()]
    assert drawn_numbers(figure) == table
    decimals = [len(text.partition(".")[2]) for text in table]
    assert set(decimals) == {digits}
    assert np.allclose(list(map(read, table)), values.ravel(), rtol=0, atol=0.5001 * 10**-digits)
    assert not any(text.startswith("−") and read(text) == 0 for text in table)


@pytest.mark.parametrize("diverging", [False, True])
def test_numbers_are_legible_on_every_colour(diverging):
    for start in np.arange(-1 if diverging else 0, 1, 0.02):
        values = [[start, start + 0.01]]
        figure = heatmap(values, alt="x", limits=(-1 if diverging else 0, 1), diverging=diverging)
        inks = [text["fill"] for text in parsed(figure).select("svg text[fill]")]
        for fill, ink in zip(cell_colours(figure), inks, strict=True):
            assert contrast(fill, ink) >= 4.5


def test_colours_rise_with_the_values_and_zero_is_the_middle_of_diverging_ones():
    rising = cell_colours(heatmap([np.linspace(0, 1, 6)], alt="x"))
    lights = [luminance(colour) for colour in rising]
    assert lights == sorted(lights) and len(set(rising)) == 6
    figure = heatmap([[-2, 0, 1]], alt="x", diverging=True)
    below, middle, above = map(luminance, cell_colours(figure))
    assert below < above < middle and middle > 0.9  # symmetric: -2 is at an end and 1 half way


def test_values_that_are_not_finite_have_a_name_and_no_colour():
    figure = heatmap([[0.5, -np.inf], [np.nan, np.inf]], alt="x")
    cells = [text.get_text() for text in parsed(figure).select("svg text[fill=currentColor]")]
    assert cells == ["−∞", "NaN", "∞"]
    assert [colour == "none" for colour in cell_colours(figure)] == [False, True, True, True]
    assert heatmap([[np.nan]], alt="x").tables[0].rows[1] == [1, "NaN"]
    large = np.zeros((20, 20))
    large[0, 0] = -np.inf
    paths = [path["d"] for path in parsed(heatmap(large, alt="x")).select("g path")]
    assert sum("l" in path for path in paths) == 1  # crossed out


def test_what_is_masked_is_not_shown():
    masked = np.ma.masked_array([[1, 42]], mask=[[False, True]])
    html = heatmap(masked, alt="x")._repr_html_()
    assert html == heatmap([[1.0, np.nan]], alt="x")._repr_html_() and "42" not in html


def test_a_picture_changes_only_where_a_printed_digit_does():
    values = np.array([[0.1, -0.2], [1e-9, 0.4]])
    shaken = values + 1e-9 * np.array([[1, -1], [-2, 1]])
    draw = [heatmap(v, alt="x", diverging=True, limits=(-0.4 - e, 0.4 + e))._repr_html_()
            for v, e in [(values, 0), (shaken, 1e-9)]]
    assert draw[0] == draw[1]
    assert bars(values[0], alt="x")._repr_html_() == bars(shaken[0], alt="x")._repr_html_()
    assert draw[0] != heatmap(values + 0.01, alt="x", diverging=True, limits=(-1, 1))._repr_html_()


def test_a_large_map_fits_a_phone_with_a_scale_in_place_of_numbers():
    names = [f"patch {i}" for i in range(17)]
    html = parsed(heatmap(np.eye(17), alt="x", rows=names, columns=names))
    assert int(html.svg["width"]) <= 360
    words = [text.get_text() for text in html.find_all("text")]
    assert words[-2:] == ["0.00", "1.00"] and words[:17] == names
    assert len(html.select("g path")) == 17 * 17 == len(html.find_all("td")) - 1
    assert int(parsed(heatmap(np.eye(60), alt="x", rows=range(60))).svg["width"]) <= 360


def test_tensors_of_any_precision_are_drawn_like_arrays():
    torch = pytest.importorskip("torch")
    values = np.array([[0.25, -1.5], [3.0, 0.0]])
    wanted = heatmap(values, alt="x")._repr_html_()
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        tensor = torch.tensor(values, dtype=dtype, requires_grad=True)
        assert heatmap(tensor, alt="x")._repr_html_() == wanted


@pytest.mark.parametrize("given, message", [
    (lambda: heatmap(np.zeros((2, 3, 3)), alt="x"), r"matrix.*\(2, 3, 3\).*pick one"),
    (lambda: heatmap(np.zeros((0, 3)), alt="x"), r"matrix.*\(0, 3\)"),
    (lambda: bars(np.zeros((2, 3)), alt="x"), r"vector.*\(2, 3\).*pick one"),
    (lambda: heatmap(np.eye(2), alt="x", rows=["it"]), "rows has 1 names.*need 2"),
    (lambda: heatmap(np.eye(2), alt="x", columns="abc"), "columns has 3 names.*need 2"),
    (lambda: bars([1, 2], alt="x", labels=["it"]), "labels has 1 names.*need 2"),
    (lambda: heatmap([[0.0, 1.2]], alt="x", limits=(0, 1)), "0 to 1.2.*widen"),
    (lambda: heatmap([[0.0]], alt="x", limits=(1, 0)), "widen"),
    (lambda: bars([2.0], alt="x", limits=(1, 3)), "from 0 to 2.*widen"),
    (lambda: heatmap([[0.0]], alt="x", limits=(-1, 2), diverging=True), r"wanted limits \(-m, m\)"),
    (lambda: heatmap([[1j]], alt="x"), "complex, wanted real"),
    (lambda: heatmap([[0.0]], alt="x", limits=(0, np.inf)), "limits are.*finite"),
    (lambda: bars([1.0], alt="x", limits=(np.nan, 2)), "limits are.*finite"),
    (lambda: bars([1e308, -1e308], alt="x"), "1e[+]308.*at most 1e[+]100: divide"),
    (lambda: panels(alt="x"), "0 figures.*at least one"),
    (lambda: panels(bars([1], alt="x"), alt="x", operators="+"), "1 figures and 1 operators"),
    (lambda: figures.dots({}, alt="x", label="y"), "at least one sample"),
    (lambda: figures.dots({"none": []}, alt="x", label="y"), "at least one sample"),
])
def test_what_cannot_be_drawn_is_refused_with_the_cure(given, message):
    with pytest.raises(ValueError, match=message):
        given()


# --- bars and panels

def test_bars_are_as_long_as_their_numbers():
    figure = bars([0.5, -0.25, np.nan], alt="x", labels=["it", "was", "cold"], title="logits")
    paths = [path["d"] for path in parsed(figure).select("path[fill]")]
    starts = [float(re.match(r"M(\S+)", path)[1]) for path in paths]
    lengths = [float(re.search(r"h(\S+)v", path)[1]) for path in paths]
    assert len(set(starts)) == 1  # all start at zero
    assert lengths[0] == -2 * lengths[1] > 0 == lengths[2]
    assert figure.tables[0].rows[0] == ["", "logits"]
    assert figure.tables[0].rows[1:] == [["it", "0.50"], ["was", "−0.25"], ["cold", "NaN"]]


def test_panels_keep_order_signs_and_tables():
    parts = [heatmap([[i]], alt="x", title=f"part {i}") for i in range(3)]
    figure = panels(*parts, alt="a sum", operators=["=", "+"])
    html = parsed(figure)
    shown = html.find(role="img").get_text("|").split("|")
    assert [word for word in shown if word[:4] == "part" or word in "=+"] == [
        "part 0", "=", "part 1", "+", "part 2"]
    captions = [caption.get_text() for caption in html.find_all("caption")]
    assert captions == [table.caption for table in figure.tables] == ["part 0", "part 1", "part 2"]
    assert panels(*parts, alt="x").tables == figure.tables


# --- plots

@pytest.fixture
def shown(monkeypatch):
    outputs = []
    monkeypatch.setattr(plots, "display", lambda data, **options: outputs.append((data, options)))
    return outputs


def test_a_plot_is_shown_small_described_and_with_the_same_bytes(shown):
    for _ in range(2):
        plot, axes = figures.new()
        for k in range(6):
            axes.plot(np.linspace(0, 6, 200), np.sin(np.arange(200) / 30 + k), label=f"head {k}")
        axes.legend()
        assert len({line.get_linestyle() + line.get_color() for line in axes.lines}) == 6
        figures.show(plot, alt=" Six waves. ")
    (data, options), (again, _) = shown
    assert data == again and data["text/plain"] == "Figure: Six waves."
    assert len(data["image/png"]) <= 40_000 and options["metadata"]["image/png"]["width"] == 480
    picture = Image.open(io.BytesIO(data["image/png"]))
    assert picture.size == (960, 600) and not picture.info.keys() & {"Software", "Creation Time"}
    assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)  # its own card on a dark page


def test_a_plot_of_too_many_bytes_is_refused(shown):
    plot, axes = figures.new()
    axes.scatter(*np.random.default_rng(0).random((2, 20_000)), c=np.arange(20_000), s=1)
    with pytest.raises(ValueError, match="kB, and a plot may take 40 kB: draw fewer"):
        figures.show(plot, alt="A cloud.")
    assert not shown


def test_the_interval_is_students():
    # Five samples with standard error √(2.5/5); the 97.5 % point of t with 4 degrees is 2.776.
    assert figures.interval([1, 2, 3, 4, 5]) == pytest.approx((3, 2.7764 * 0.5**0.5), abs=1e-4)
    assert figures.interval([7.0, 7.0, 7.0]) == (7, 0)
    mean, half = figures.interval([0.93])
    assert mean == 0.93 and np.isnan(half)


def test_dots_show_every_sample_and_the_mean(shown, monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "show", lambda plot, alt: drawn.append(plot.axes[0]))
    groups = {"with": [0.97, 0.97, 0.98], "without": [0.5]}
    figures.dots(groups, alt="x", label="accuracy")
    axes = drawn[0]
    clouds = [line for line in axes.lines if line.get_marker() == "o"]
    assert [sorted(line.get_xdata()) for line in clouds] == [sorted(s) for s in groups.values()]
    assert all(len(set(line.get_ydata())) == len(line.get_ydata()) for line in clouds)
    means = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "D"]
    assert means == pytest.approx([np.mean(samples) for samples in groups.values()])
    assert [label.get_text() for label in axes.get_yticklabels()] == list(groups)
