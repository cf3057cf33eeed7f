"""Explorers: all frames in one output, moved by a small script, and the same function live."""

import base64
import gzip
import hashlib
import json
import sys
from itertools import product

import numpy as np
import pytest
from bs4 import BeautifulSoup

from qkvlib import attention, sliders
from qkvlib.explore import explore, live
from qkvlib.figures import Figure, Table, bars, heatmap, panels

HOSTILE = "</script><!--<b>\"&amp;'"
TOKENS = ["it", "was", "cold"]
LENGTHS = np.linspace(0, 2, 9)


def draw_bias(b_K, b_Q):
    """The explorer of the bias chapter: what lengths of both biases do to three tokens."""
    X, W = np.eye(3)[:, :2] + 0.5, np.array([[1.0, 0.5], [-0.5, 1.0]])
    query, key = X @ W + b_Q * np.array([0.6, -0.8]), X + b_K * np.array([0.8, 0.6])
    output, weights = attention(query, key, X, return_weights=True)
    return panels(
        heatmap(query @ key.T / 2**0.5, alt="s", title="scores", rows=TOKENS, columns=TOKENS,
                diverging=True, limits=(-6, 6)),
        heatmap(weights, alt="a", title="weights", rows=TOKENS, columns=TOKENS, limits=(0, 1)),
        heatmap(output, alt="o", title="output", rows=TOKENS, limits=(0, 2)),
        alt=f"b_K has length {b_K:g} and b_Q {b_Q:g}: “it” gives “cold” {weights[0, 2]:.2f}.")


def draw_product(**factors):
    value = np.prod(list(factors.values()))
    return bars([value], alt=f"The product is {value:g}.", limits=(-1e6, 1e6))


def draw_one(t):
    return bars([t], alt=f"t = {t:g}", limits=(0, 1e6))


def draw_shape(shape):
    return Figure("<svg></svg>" * len(shape), f"The shape is {shape}.")


def parsed(explorer):
    return BeautifulSoup(explorer._repr_html_(), "html.parser")


def frames(explorer):
    """Every frame as the script on the page puts it together."""
    data = json.loads(parsed(explorer).find("script", type="application/json").string)
    return ["".join(text + (pieces[i] if i < len(pieces) else "")
                    for i, text in enumerate(data["shared"])) for pieces in data["frames"]]


# --- what the output holds

@pytest.mark.parametrize("draw, parameters", [
    (draw_one, {"t": [0, 1, 2]}),
    (draw_product, {"a": [1, 2], "b": [3, 5, 7]}),
    (draw_product, {"a": [-1, 2], "b": [1, 3], "c": [1, 5, 7]}),
    (draw_shape, {"shape": ["line", "square", "ring"]}),  # frames that share no structure
    (draw_one, {"t": [4]}),
], ids=["one", "two", "three", "unlike", "single"])
def test_every_combination_is_a_frame(draw, parameters):
    explorer = explore(draw, **parameters)
    combinations = [dict(zip(parameters, values, strict=True))
                    for values in product(*parameters.values())]
    wanted = [draw(**values)._repr_html_() for values in combinations]
    assert frames(explorer) == wanted == [figure._repr_html_() for figure in explorer.figures]
    data = json.loads(parsed(explorer).find("script").string)
    assert data["values"] == [[str(v).replace("-", "−") for v in values]
                              for values in parameters.values()]


def test_a_figure_that_draw_changes_and_returns_again_makes_unlike_frames():
    figure = Figure("", "t")

    def draw(t):
        figure.svg = f"<svg>{t}</svg>"
        figure.tables[:] = [Table([["t"], [t]])]
        return figure

    explorer = explore(draw, t=[1, 2])
    assert frames(explorer) == [figure._repr_html_() for figure in explorer.figures]
    assert ["<svg>1" in frame for frame in frames(explorer)] == [True, False]


def test_the_frame_of_the_start_is_drawn_in_the_html():
    explorer = explore(draw_product, a=[1, 2], b=[3, 5, 7], start={"a": 2, "b": 5})
    html = parsed(explorer)
    assert str(html.select_one(".explorer-view figure")) in {
        str(BeautifulSoup(frames(explorer)[4], "html.parser"))}
    assert [slider["value"] for slider in html.find_all("input")] == ["1", "1"]
    assert [slider["aria-valuetext"] for slider in html.find_all("input")] == ["2", "5"]
    assert [output.get_text() for output in html.find_all("output")] == ["2", "5"]
    inexact = explore(draw_one, t=np.arange(0, 1, 0.1), start={"t": 0.3})  # 0.30000000000000004
    assert parsed(inexact).input["value"] == "3"


def test_numbers_make_sliders_and_names_make_menus_with_labels():
    explorer = explore(lambda norm, t: draw_product(t=t), norm=["softmax", "sigmoid"],
                       t=[-0.5, -0.0, 1e5], labels={"t": "length ‖b_K‖"},
                       start={"norm": "sigmoid", "t": 0})
    html = parsed(explorer)
    menu, slider = html.find("select"), html.find("input", type="range")
    assert [option.get_text() for option in menu.find_all("option")] == ["softmax", "sigmoid"]
    assert menu.find("option", selected=True)["value"] == "1"
    assert (slider["max"], slider["value"], slider["aria-valuetext"]) == ("2", "1", "0")
    labels = [control.find_parent("label").span.decode_contents() for control in (menu, slider)]
    assert [output.get_text() for output in html.find_all("output")] == ["sigmoid", "0"]
    assert labels == ["norm", "length ‖b<sub>K</sub>‖"]
    assert parsed(explore(lambda flag: draw_one(1), flag=[False, True])).find("select")


def test_hostile_text_stays_text():
    explorer = explore(lambda word: bars([1], alt=word, title=word), word=["a", HOSTILE],
                       labels={"word": HOSTILE}, start={"word": HOSTILE})
    html = parsed(explorer)
    assert len(html.find_all("script")) == 2 and not html.find("b")
    assert html.find(role="img")["aria-label"] == HOSTILE
    assert html.label.span.get_text() == html.output.get_text() == HOSTILE
    assert html.find("option", selected=True).get_text() == HOSTILE
    assert json.loads(html.script.string)["values"] == [["a", HOSTILE]]
    assert BeautifulSoup(frames(explorer)[1], "html.parser").find("text").get_text() == HOSTILE


def test_all_explorers_bring_the_same_small_script():
    pages = [explore(draw_one, t=[1, 2]), explore(draw_shape, shape=["line", "ring"])]
    scripts = {parsed(page).find_all("script")[-1].string for page in pages}
    assert scripts == {sliders.SCRIPT}
    assert len(sliders.SCRIPT) <= 1200 and "eval" not in sliders.SCRIPT


def test_the_chapters_explorer_stays_small():
    explorer = explore(draw_bias, b_K=LENGTHS, b_Q=LENGTHS)
    html = explorer._repr_html_().encode()
    assert len(explorer.figures) == 81
    assert len(html) <= 100_000 and len(gzip.compress(html)) <= 15_000
    assert repr(explorer) == "Explorer: b_K (9 values) × b_Q (9 values)"


# --- what is refused

def test_more_frames_than_a_page_may_hold_are_refused_before_any_is_drawn():
    def never(a, b):
        raise AssertionError("drawn")

    with pytest.raises(ValueError, match=r"11 × 10 = 110 frames.*at most 100: give fewer"):
        explore(never, a=range(11), b=range(10))
    assert len(explore(draw_product, a=range(10), b=range(10)).figures) == 100


def test_frames_that_weigh_more_than_a_page_may_are_refused():
    noise = np.random.default_rng(0).random((99, 12, 12))
    with pytest.raises(ValueError, match=r"99 frames weigh \d+\.\d kB gzipped.*at most 40 kB"):
        explore(lambda k: heatmap(noise[k], alt="noise", digits=3), k=range(99))


@pytest.mark.parametrize("call, error, message", [
    (lambda: explore(draw_one), ValueError, "got 0 parameters, wanted one, two or three"),
    (lambda: explore(draw_product, a=[1], b=[1], c=[1], d=[1]), ValueError, "got 4 parameters"),
    (lambda: explore(draw_one, t=[]), ValueError, "t has no values: give at least one"),
    (lambda: explore(draw_one, t=3), ValueError, "t is 3: give a list"),
    (lambda: explore(draw_shape, shape="line"), ValueError, "shape is 'line': give a list"),
    (lambda: explore(draw_one, t=[1, 1 + 1e-9]), ValueError, r"t has values that look alike.*1, 1"),
    (lambda: explore(draw_one, t=[1, 2], start={"t": 3}), ValueError, r"t starts at 3.*\(1, 2\)"),
    (lambda: explore(draw_one, t=[1], start={"T": 1}), ValueError, r"start speaks of \['T'\].*'t'"),
    (lambda: explore(draw_one, t=[1], labels={"b": ""}), ValueError, r"labels speaks of \['b'\]"),
    (lambda: explore(draw_one, b_K=[1]), TypeError, "draw cannot be called with b_K.*names"),
    (lambda: explore(draw_bias, b_K=[1]), TypeError, "draw cannot be called with b_K.*'b_Q'"),
    (lambda: explore(lambda t: "<svg>", t=[0.5]), TypeError, r"draw\(t=0.5\) returned str.*Figure"),
    (lambda: live(lambda t: None, t=(0, 1)), TypeError, r"draw\(t=0\) returned NoneType.*Figure"),
    (lambda: live(draw_one), ValueError, "got 0 parameters"),
    (lambda: live(draw_one, t=(1, 0)), ValueError, r"t is \(1, 0\): give \(low, high\)"),
    (lambda: explore(draw_one, t=np.array(3)), ValueError, r"t is array\(3\): give a list"),
    (lambda: live(draw_one, t=(0, np.inf)), ValueError, r"t is \(0, inf\): give.*finite"),
    (lambda: live(draw_one, t=(0, np.nan)), ValueError, r"t is \(0, nan\): give.*finite"),
    (lambda: live(draw_one, t=(0, 1, 0)), ValueError, r"t is \(0, 1, 0\): give.*step > 0"),
    (lambda: live(draw_one, t=("a", "b")), ValueError, r"t is \('a', 'b'\).*list of choices"),
    (lambda: live(draw_one, t=(0, 1), labels={"b": ""}), ValueError, r"labels speaks of \['b'\]"),
])
def test_what_cannot_move_is_refused_with_the_cure(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- live controls

def test_live_controls_redraw_the_picture_for_any_value():
    box = live(draw_bias, b_K=(0.0, 2.0), b_Q=(0.0, 2.0, 0.5), labels={"b_K": "key bias"})
    b_K, b_Q, picture = box.children
    assert (b_K.description, b_K.step, b_Q.step) == ("key bias", 0.02, 0.5)
    assert picture.value == draw_bias(0, 0)._repr_html_()
    b_K.value = 1.234
    b_Q.value = 0.5
    assert picture.value == draw_bias(1.234, 0.5)._repr_html_()


def test_live_controls_fit_whole_numbers_and_choices():
    seen = []
    box = live(lambda rank, norm: seen.append((rank, norm)) or draw_one(rank),
               rank=(1, 4), norm=["softmax", "sigmoid"])
    box.children[0].value = 3
    box.children[1].value = "sigmoid"
    assert seen == [(1, "softmax"), (3, "softmax"), (3, "sigmoid")]
    assert all(isinstance(rank, int) for rank, _ in seen)


def test_a_live_picture_does_not_stay_when_drawing_fails():
    box = live(lambda t: bars([1 / (1 - t)], alt=f"t = {t}"), t=(0, 1))
    with pytest.raises(ZeroDivisionError):
        box.children[0].value = 1
    assert "ZeroDivisionError" in box.children[-1].value and "svg" not in box.children[-1].value


def test_live_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(ImportError, match="pip install ipywidgets"):
        live(draw_one, t=(0, 1))


# --- in a browser, from a file, under the policy that the book's pages have

@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A page with two explorers that allows no script but theirs."""
    digest = base64.b64encode(hashlib.sha256(sliders.SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    first = explore(draw_bias, b_K=LENGTHS, b_Q=LENGTHS, labels={"b_K": "key bias ‖b_K‖"})
    second = explore(lambda norm, t: bars([t, 1 - t], alt=f"{norm} at {t}"),
                     norm=["softmax", "sigmoid"], t=[0.25, 0.5])
    page = tmp_path_factory.mktemp("explorers") / "page.html"
    page.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Two explorers</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width"></head>'
        f"<body>{first._repr_html_()}{second._repr_html_()}</body></html>", encoding="utf-8")
    return page.as_uri()


@pytest.fixture
def open_page(browser, address):
    """Open the page in a context with the given options; fail on any complaint in its console."""
    contexts, complaints = [], []

    def open_page(**options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


def state(explorer):
    """What a reader of an explorer sees and hears."""
    return {
        "alt": explorer.get_by_role("img").get_attribute("aria-label"),
        "values": explorer.locator("output").all_text_contents(),
        "picture": explorer.locator("svg text").all_text_contents(),
        "table": explorer.locator("td").all_text_contents(),
    }


def test_keys_move_the_picture_its_words_its_table_and_no_other_explorer(open_page):
    page = open_page()
    first, second = page.locator(".explorer").all()
    before, other = state(first), state(second)
    key_bias = page.get_by_role("slider", name="key bias")
    key_bias.focus()
    assert key_bias.evaluate("element => getComputedStyle(element).outlineStyle") != "none"
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    moved = state(first)
    figure = draw_bias(1, 0)
    assert moved["alt"] == figure.alt and moved["values"] == ["1", "0"]
    assert key_bias.get_attribute("aria-valuetext") == "1"
    cells = [text for table in figure.tables for row in table.rows[1:] for text in row[1:]]
    assert [text for text in moved["table"] if text] == cells
    assert [text for text in moved["picture"] if text in cells] == cells
    assert moved["picture"] != before["picture"]
    page.keyboard.press("End")
    assert state(first)["values"] == ["2", "0"]
    assert state(second) == other
    page.wait_for_function(
        "alt => document.querySelector('[aria-live=polite]').textContent == alt",
        arg=draw_bias(2, 0).alt)


def test_the_mouse_and_a_menu_move_it_and_an_open_table_stays_open(open_page):
    page = open_page()
    first, second = page.locator(".explorer").all()
    first.locator("summary").click()
    box = first.get_by_role("slider").nth(1).bounding_box()
    page.mouse.click(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
    assert state(first)["alt"] == draw_bias(0, 2).alt
    assert first.locator("table").first.is_visible()
    second.get_by_role("combobox", name="norm").select_option("sigmoid")
    second.get_by_role("slider", name="t").press("ArrowUp")
    assert state(second)["alt"] == "sigmoid at 0.5"
    assert state(first)["alt"] == draw_bias(0, 2).alt


@pytest.mark.parametrize("scripts, media", [(False, "screen"), (True, "print")])
def test_without_scripts_and_on_paper_a_still_picture_has_its_values(open_page, scripts, media):
    page = open_page(java_script_enabled=scripts)
    page.emulate_media(media=media)
    first = page.locator(".explorer").first
    assert first.locator("svg").first.is_visible() and state(first)["alt"] == draw_bias(0, 0).alt
    assert page.locator("input:visible, select:visible").count() == 0
    values = page.locator("output:visible").all_text_contents()
    assert values == ["0", "0", "softmax", "0.25"]


def test_keys_of_a_slider_reach_nobody_else(open_page):
    page = open_page()
    page.evaluate("heard = []; addEventListener('keydown', event => heard.push(event.key))")
    slider = page.get_by_role("slider").first
    for key in ("ArrowLeft", "ArrowDown", "Control+k"):
        slider.press(key)
    assert page.evaluate("heard") == ["Control", "k"]  # a page's own shortcuts still work
    assert page.locator(".explorer").first.get_attribute("data-lm-suppress-shortcuts") == "true"


def test_on_a_phone_nothing_overflows_and_letters_stay_readable(open_page):
    page = open_page(viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    sizes = page.evaluate(
        """[...document.querySelectorAll('svg')].map(svg => svg.getAttribute('font-size')
           * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)""")
    assert len(sizes) == 4 and min(sizes) >= 11
    overlong = page.evaluate(
        """[...document.querySelectorAll('svg text')].filter(text => {
           const inner = text.getBoundingClientRect(),
             outer = text.ownerSVGElement.getBoundingClientRect();
           return inner.left < outer.left - 1 || inner.right > outer.right + 1})
           .map(text => text.textContent)""")
    assert overlong == []


def test_pictures_take_their_ink_from_the_page(open_page):
    page = open_page()
    page.evaluate("document.body.style.color = 'rgb(1, 2, 3)'")
    label = page.locator("svg text", has_text="was").first
    assert label.evaluate("element => getComputedStyle(element).fill") == "rgb(1, 2, 3)"
