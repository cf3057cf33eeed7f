"""The built site, over http and from file://, and a reader who takes note of every complaint."""

import functools
import http.server
import threading
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "_build" / "html"
SCREENS = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}


def pytest_generate_tests(metafunc):
    """Run a test that asks for `page_name` on every page of the book, and the search.

    The root only leads to the first page, and "not found" has links that hold on a server alone.
    """
    if "page_name" in metafunc.fixturenames:
        names = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
        others = ("index.html", "404.html", "_static")
        pages = [name for name in names if not name.startswith(others)]
        metafunc.parametrize("page_name", pages or ["(the site is not built)"])


@pytest.fixture(scope="package")
def site() -> Path:
    if not (SITE / "index.html").is_file():
        pytest.fail(f"{SITE} holds no site: run `make book` first")
    return SITE


@pytest.fixture(scope="package")
def addresses(site):
    """Where the site is to be found: {"http": …, "file": …}."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {"http": f"http://127.0.0.1:{server.server_port}", "file": site.as_uri()}
        server.shutdown()


@pytest.fixture
def visit(browser, addresses):
    """Open a page as a reader would; at the end no page may have complained.

    A complaint is an error of a script, an error or warning in the console (where a breach of the
    security policy shows), a request that failed, and any request that leaves the site.
    """
    complaints, contexts = [], []

    def visit(name, *, scheme="http", screen="desktop", scripts=True, offline=False):
        context = browser.new_context(
            viewport=SCREENS[screen],
            reduced_motion="reduce",  # what is looked at is not on its way
            java_script_enabled=scripts,
            offline=offline,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: note("script", error))
        page.on("console", lambda message: serious(message) and note("console", message.text))
        page.on("requestfailed", lambda request: left(request) or note("failed", request.url))
        page.on("response", lambda reply: reply.status >= 400 and note("missing", reply.url))
        page.on("request", lambda request: own(request.url) or note("elsewhere", request.url))
        page.goto(f"{addresses[scheme]}/{name}")
        return page

    def note(kind, what):
        complaints.append(f"{kind}: {what}")

    def left(request):
        return request.failure == "net::ERR_ABORTED"  # the page was left before its icon came

    def serious(message):
        return message.type in ("error", "warning")

    def own(url):
        return url.startswith((*addresses.values(), "data:"))

    yield visit
    for context in contexts:
        context.close()
    assert complaints == []
