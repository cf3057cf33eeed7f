"""What every test run shares: one thread, the same random examples each time, one browser."""

import os
import shutil

# Before anything imports NumPy or torch. Sums are added in one order, and notebooks started by a
# test inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import Phase, settings

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# For planted faults the first counterexample is enough: no search for the smallest.
settings.register_profile("mutants", settings.get_profile("ci"), phases=[Phase.generate],
                          report_multiple_bugs=False)

# Hypothesis' own profile "ci": no deadline, and examples drawn from a fixed seed, so that a test is
# red or green for everybody. The weekly run looks further, with the default profile.
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="module")
def browser():
    """A browser without a window, driven by playwright; where there is none, the test is skipped.

    The system's own, because a download by playwright would be a second installation step. One a
    module: while it is open, playwright keeps an event loop running, in which tests of notebooks
    could not start theirs.
    """
    api = pytest.importorskip("playwright.sync_api", reason="NO BROWSER TEST: no playwright")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("NO BROWSER TEST: install chromium (on Debian: apt install chromium)")
    # As root, as in containers, Chromium starts only without its sandbox.
    options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=options)
        yield chromium
        chromium.close()


def pytest_terminal_summary(terminalreporter):
    """List what tests measured and gave to `record_property("measured", …)`."""
    reports = [report for group in terminalreporter.stats.values() for report in group]
    called = [report for report in reports if getattr(report, "when", None) == "call"]
    pairs = [pair for report in called for pair in report.user_properties]
    if words := [words for name, words in pairs if name == "measured"]:
        terminalreporter.section("measured")
        terminalreporter.write_line("\n".join(words))
