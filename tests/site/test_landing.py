"""The first page: its figure is the chapter's own, and shows the answer."""

import json

import pytest
from bs4 import BeautifulSoup
from small_book import ADDRESS, build, write

LANDING, CHAPTER = "chapters/index.html", "chapters/bias-cancellation.html"


def numbers(page):
    """The cells of the figure: of the scores, the weights and the outputs."""
    return [panel.locator("text").all_text_contents() for panel in
            page.locator(".explorer-view svg").all()]


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_the_key_bias_moves_the_scores_only_and_the_query_bias_moves_all(visit, scheme):
    page = visit(LANDING, scheme=scheme)
    scores, weights, outputs = numbers(page)
    b_Q, b_K = page.locator(".explorer input[type=range]").all()
    b_K.press("End")
    assert numbers(page)[0] != scores
    assert numbers(page)[1:] == [weights, outputs]
    b_Q.press("End")
    assert all(new != old for new, old in
               zip(numbers(page), (scores, weights, outputs), strict=True))


def test_the_figure_stands_on_the_first_screen(visit):
    page = visit(LANDING)
    box = page.locator(".explorer-view [role=img]").bounding_box()
    assert box["y"] + box["height"] <= page.viewport_size["height"]


def test_the_figure_is_the_chapters_own(site):
    one, other = (str(BeautifulSoup((site / name).read_text("utf-8"), "html.parser").select_one(
        ".explorer")) for name in (LANDING, CHAPTER))
    assert one == other


def test_three_doors_open(visit):
    doors = {"Read": "chapters/attention-on-one-page.html", "Run": f"{LANDING}#run",
             "Teach": f"{LANDING}#teach"}
    for door, place in doors.items():
        page = visit(LANDING)
        page.locator(".sd-card", has_text=door).first.click()
        page.wait_for_url(lambda url, place=place: url.endswith(place))


@pytest.mark.parametrize(("outputs", "fault"), [
    (None, "there is no notebook chapter.ipynb"),
    ([{"data": {"text/plain": ["Explorer: b_K (2 values)"]}}], "chapter.ipynb has stored no expl"),
])
def test_a_figure_that_is_not_there_is_a_fault(tmp_path, outputs, fault):
    book = write(tmp_path / "book", ADDRESS)
    if outputs is not None:
        notebook = {"cells": [{"cell_type": "markdown"}, {"outputs": outputs}]}
        (book / "chapter.ipynb").write_text(json.dumps(notebook))
    (book / "second.md").write_text(
        (book / "second.md").read_text() + "\n```{explorer} chapter\n```\n")
    assert fault in build(book, tmp_path / "site")[1]
