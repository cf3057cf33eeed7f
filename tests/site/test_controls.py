"""What moves on a page: sidebar, theme, search, folds, figures."""

import pytest

CHAPTER = "chapters/bias-cancellation.html"
SCHEMES = pytest.mark.parametrize("scheme", ["http", "file"])


@SCHEMES
def test_the_root_leads_to_the_first_page(visit, scheme):
    page = visit("index.html", scheme=scheme)
    page.wait_for_url("**/chapters/index.html")


@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_the_sidebar_opens_and_closes(visit, screen):
    page = visit(CHAPTER, screen=screen)
    entry = page.locator("nav.bd-links a").first
    shown = entry.is_visible()
    assert shown == (screen == "desktop")
    page.locator(".primary-toggle:visible").click()
    entry.wait_for(state="hidden" if shown else "visible")
    if shown:
        page.locator(".primary-toggle:visible").click()
    else:
        page.keyboard.press("Escape")
    entry.wait_for(state="visible" if shown else "hidden")


def test_the_contents_open_on_a_phone(visit):
    page = visit(CHAPTER, screen="phone")
    page.locator(".secondary-toggle:visible").click()
    page.get_by_role("link", name="Exercises").first.wait_for(state="visible")


@SCHEMES
def test_the_theme_changes_and_is_remembered(visit, scheme):
    page = visit(CHAPTER, scheme=scheme)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    while page.locator("html").get_attribute("data-theme") != "dark":
        page.locator(".theme-switch-button:visible").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.wait_for_timeout(300)  # the browser stores behind the page's back
    page.reload()
    assert page.evaluate(ground) == dark


@SCHEMES
def test_search_finds_the_chapter_and_marks_the_words(visit, scheme):
    page = visit("chapters/notation.html", scheme=scheme)
    page.keyboard.press("Control+k")
    page.keyboard.type("key bias")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=key+bias")
    found = page.locator("#search-results li", has_text="Bias cancellation").first
    if scheme == "http":  # from file:// no page may read another, so there are no excerpts
        found.locator(".context").wait_for()
    found.locator("a").click()
    page.wait_for_url("**/bias-cancellation.html*")
    marked = page.locator("article span.highlighted")
    assert {"key", "bias"} <= {word.lower() for word in marked.all_inner_texts()}


@SCHEMES
def test_the_slider_moves_the_picture_and_its_words(visit, scheme):
    page = visit(CHAPTER, scheme=scheme)
    figures = page.locator(".explorer").all()
    assert figures
    for figure in figures:
        picture = figure.locator("[role=img]").first
        slider = figure.locator("input[type=range]").first
        before = (
            picture.inner_html(),
            picture.get_attribute("aria-label"),
            slider.get_attribute("aria-valuetext"),
        )
        slider.focus()
        page.keyboard.press("ArrowRight")
        after = (
            picture.inner_html(),
            picture.get_attribute("aria-label"),
            slider.get_attribute("aria-valuetext"),
        )
        assert all(new and new != old for old, new in zip(before, after, strict=True))


def test_solutions_open_without_scripts(visit):
    page = visit(CHAPTER, scripts=False)
    folds = page.locator("details.solution").all()
    assert folds
    for fold in folds:
        inside = fold.locator("> :not(summary)").first
        assert not inside.is_visible()
        fold.locator("summary").click()
        assert inside.is_visible()


def test_the_skip_link_leads_past_the_sidebar(visit):
    page = visit(CHAPTER)
    page.keyboard.press("Tab")
    link = page.locator(":focus")
    assert link.inner_text() == "Skip to main content"
    assert link.bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


@SCHEMES
def test_code_can_be_copied(visit, scheme):
    page = visit(CHAPTER, scheme=scheme)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    code = page.locator(".cell_input div.highlight").first
    code.hover()
    code.get_by_role("button", name="Copy").click()
    code.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == code.locator("pre").inner_text().strip()


def test_printing_unfolds(visit):
    page = visit(CHAPTER)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.solution[open]").count() == 0


def test_the_policy_stops_strangers(browser, addresses):
    page = browser.new_page()
    page.goto(f"{addresses['http']}/{CHAPTER}")
    stopped = page.evaluate("""new Promise(stopped => {
      const seen = [];
      addEventListener("securitypolicyviolation", event => {
        seen.push(event.effectiveDirective);
        if (seen.length === 2) stopped(seen);
      });
      const script = document.createElement("script");
      script.textContent = "window.stranger = true";
      document.body.append(script);
      new Image().src = "http://127.0.0.1:9/pixel.png";
    })""")
    assert sorted(stopped) == ["img-src", "script-src-elem"]
    assert page.evaluate("window.stranger") is None
    page.close()
