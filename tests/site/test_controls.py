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
    link = page.locator("dialog").get_by_role("link", name="Exercises").first
    link.click()
    link.wait_for(state="hidden")
    assert page.url.endswith("#exercises")
    assert page.evaluate("document.getElementById('exercises').getBoundingClientRect().top") < 200


# At the top of the screen, or as near to it as the end of the page allows.
ARRIVED = """(name) => {
  const { top } = document.getElementById(name).getBoundingClientRect();
  const end = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
  return (0 <= top && top < 150) || end; }"""


@pytest.mark.parametrize("screen", ["desktop", "phone"])
@pytest.mark.parametrize("way", ["from elsewhere", "by a link", "by the address"])
def test_a_jump_arrives(visit, screen, way):
    page = visit(CHAPTER, screen=screen)
    claims = page.locator("[id^=claim-]").evaluate_all("all => all.map((claim) => claim.id)")
    for name in [*claims[1::3], "exercises"]:
        page.goto("about:blank")
        page.go_back()  # a page that nobody has scrolled yet
        if way == "from elsewhere":
            link = f"{page.url.partition('#')[0]}#{name}"
            page.goto("about:blank")
            page.goto(link)
        elif way == "by a link":
            page.evaluate("""(name) => {
                const link = Object.assign(document.createElement("a"), { href: `#${name}` });
                document.body.append(link);
                link.click(); }""", name)
        else:
            page.evaluate("(name) => { location.hash = name; }", name)
        page.wait_for_timeout(400)  # what is near is laid out
        page.wait_for_function(ARRIVED, arg=name)


def test_the_contents_show_where_one_is(visit):
    page = visit(CHAPTER)
    page.get_by_role("heading", name="Exercises").first.scroll_into_view_if_needed()
    page.evaluate("location.hash = 'exercises'")
    page.locator("#pst-page-toc-nav a[aria-current=true][href='#exercises']").wait_for()


def test_a_long_page_offers_its_beginning(visit):
    page = visit(CHAPTER, screen="phone")  # on a wide screen the theme has room for none
    button = page.locator("#pst-back-to-top")
    assert not button.is_visible()
    page.mouse.move(200, 700)
    page.mouse.wheel(0, 6000)
    page.wait_for_function("scrollY > 5000")
    page.mouse.wheel(0, -200)
    button.click()
    page.wait_for_function("scrollY === 0")
    button.wait_for(state="hidden")


def test_the_theme_follows_the_system_until_chosen(visit):
    page = visit(CHAPTER)
    theme = page.locator("html")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.locator(f"html[data-theme={scheme}]").wait_for()
    seen = []
    for _ in range(3):
        page.locator(".theme-switch-button:visible").press("Enter")
        seen.append((theme.get_attribute("data-mode"), theme.get_attribute("data-theme")))
    assert seen == [("dark", "dark"), ("light", "light"), ("auto", "light")]


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


def test_a_browser_that_refuses_storage_loses_only_memory(visit):
    page = visit(CHAPTER)
    page.add_init_script("""Object.defineProperty(window, "localStorage", { configurable: true,
        get() { throw new DOMException("refused", "SecurityError"); } })""")
    page.reload()
    page.locator(".theme-switch-button:visible").click()
    assert page.locator("html").get_attribute("data-mode") == "dark"
    page.locator("div.highlight").first.scroll_into_view_if_needed()
    page.locator("button.copy").first.wait_for(state="attached")
    page.goto(page.url.replace(CHAPTER, "search.html?q=key+bias"))
    page.locator("#search-results li", has_text="Bias cancellation").first.wait_for()


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
    marked = page.locator("article mark")
    assert {word.lower() for word in marked.all_text_contents()} == {"key", "bias"}
    page.keyboard.press("Escape")
    assert marked.count() == 0


def test_words_named_in_the_address_are_marked_but_not_in_formulas(visit):
    page = visit(f"{CHAPTER}?highlight=softmax")
    page.locator("article mark").first.wait_for()
    assert page.locator("nav mark, .katex mark").count() == 0


def test_the_search_page_fetches_its_index_only_for_a_question(visit):
    page = visit("search.html")
    assert page.evaluate("document.activeElement.name") == "q"
    index = "performance.getEntriesByType('resource').some(e => e.name.includes('searchindex'))"
    assert not page.evaluate(index)
    page.keyboard.type("softmax")
    page.keyboard.press("Enter")
    page.locator("#search-results li").first.wait_for()
    assert page.evaluate(index)


@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_the_search_opens_by_button_and_closes_by_key_and_click(visit, screen):
    page = visit(CHAPTER, screen=screen)
    dialog = page.locator("#pst-search-dialog")
    button = page.locator(".search-button__button:visible").last
    button.click()
    dialog.wait_for()
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert page.evaluate("document.activeElement.matches('.search-button__button')")
    page.keyboard.press("Enter")
    dialog.wait_for()
    page.mouse.click(3, 3)
    dialog.wait_for(state="hidden")


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


def test_what_has_the_focus_shows_it(visit):
    page = visit(CHAPTER)
    for _ in range(25):
        page.keyboard.press("Tab")
        style = page.evaluate("""(() => {
          const style = getComputedStyle(document.activeElement);
          return [style.outlineStyle, style.outlineWidth, style.boxShadow];
        })()""")
        line, width, shadow = style
        assert (line != "none" and width != "0px") or shadow != "none", page.evaluate(
            "document.activeElement.outerHTML.slice(0, 200)")


def test_nothing_moves_for_those_who_ask_for_it(visit):
    page = visit(CHAPTER)
    moving = """[...document.querySelectorAll("*")].filter((element) =>
      getComputedStyle(element).transitionDuration.split(", ").some((time) => time !== "0s")
    ).length"""
    assert page.evaluate(moving) == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(moving) > 0


def test_a_printed_page_is_white_unfolded_and_has_no_controls(visit):
    page = visit(CHAPTER)
    page.emulate_media(color_scheme="dark", media="print")
    page.locator("html[data-theme=dark]").wait_for()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("button:visible, input:visible, dialog:visible, nav a:visible").count() == 0
    assert page.locator("h1:visible").count() == 1
    assert page.locator(".explorer [role=img]:visible").count() >= 1
    article = page.locator("article").bounding_box()
    assert article["width"] > .9 * page.viewport_size["width"], "room for an absent sidebar"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.solution[open]").count() == 0
    assert page.locator("html").get_attribute("data-theme") == "dark"


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
