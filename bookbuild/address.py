"""Where the book lives: one address that stands in several files and is set by one command.

    make address URL=https://github.com/you/your-book

That runs this module, then makes the plain copies of notebooks anew, whose links lead to the site.
`[project.urls] Repository` in pyproject.toml is the address; every other place repeats it.
"""

import re
import sys
import tomllib
from pathlib import Path

from bookbuild.files import replace

ROOT = Path(__file__).resolve().parents[1]

# No GitHub account can start with an underscore: this address belongs to nobody.
PLACEHOLDER = "https://github.com/_owner_/qkvlib"

# Which files hold the address, and after which words (the group is the address itself).
_BOOTSTRAP = r'^.*\bREPOSITORY = \\?"(https:[^"\\\s]*)'  # a quote inside a notebook is escaped
PLACES = {
    "pyproject.toml": r'^Repository = "([^"]*)"',
    "CITATION.cff": r'^repository-code: "([^"]*)"',
    "_config.yml": r"^repository:\n(?:[ #].*\n)*?  url: *(\S+)",
    "README.md": r"^ *git clone (\S+)",
    "chapters/*.ipynb": _BOOTSTRAP,
    "chapters/text/*.md": _BOOTSTRAP,
    "chapters/colab/*.ipynb": _BOOTSTRAP,
}

_ACCOUNT = r"[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}"
_REPOSITORY = r"(?!\.\.?\Z)[A-Za-z0-9._-]{1,100}"


def address(root: Path = ROOT) -> str:
    """Return the book's address, as pyproject.toml gives it."""
    with open(root / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]["urls"]["Repository"]


def is_set(root: Path = ROOT) -> bool:
    """Say whether the owner has set the address; links that need it are left out until then."""
    return address(root) != PLACEHOLDER


def bootstrap_cell(url: str | None = None) -> str:
    """Return the source of the notebooks' first code cell: it gets `qkvlib` where it is missing.

    It takes GitHub's archive, so that git is not needed, and never torch, which is an extra:
    Colab has its own. While `url` is the placeholder the cell stops and says what to do.
    """
    return f'''\
# Does something only where qkvlib is missing: in Colab, or beside a notebook downloaded alone.
import importlib.util
import subprocess
import sys

REPOSITORY = "{url or address()}"
if importlib.util.find_spec("qkvlib") is None:
    if "/_owner_/" in REPOSITORY:
        raise ModuleNotFoundError(
            "qkvlib is missing and this copy of the book has no address yet to get it from. "
            "Run `pip install '.[learn]'` in the book's folder, restart the kernel, run again.")
    package = f"qkvlib @ {{REPOSITORY}}/archive/HEAD.zip"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", package], check=True)
    importlib.invalidate_caches()
if importlib.util.find_spec("torch") is None:
    raise ModuleNotFoundError("PyTorch is missing: run `pip install torch`, then restart.")'''


def places(root: Path = ROOT) -> dict[str, list[str]]:
    """Return every file that holds the address, with the addresses found in it."""
    found = {}
    for path, pattern in _files(root):
        name = path.relative_to(root).as_posix()
        found[name] = re.findall(pattern, _read(path), re.MULTILINE)
        if not found[name]:
            raise ValueError(f"{name} holds no address: expected text like {pattern!r}")
    return found


def set_address(url: str, root: Path = ROOT) -> list[str]:
    """Write the address into every place and return the names of the files that changed.

    Nothing is written unless `url` is sound and every place was found.
    """
    url = checked(url)
    places(root)
    changed = []
    for path, pattern in _files(root):
        text = re.sub(pattern, lambda match: _swap(match, url), _read(path), flags=re.MULTILINE)
        if replace(path, text):
            changed.append(path.relative_to(root).as_posix())
    return changed


def checked(url: str) -> str:
    """Return the address in its plain form, or raise ValueError saying what is wrong with it."""
    if url == PLACEHOLDER:
        return url
    plain = url.removesuffix("/").removesuffix(".git")
    for wanted, problem in (
        (r"https://", "it does not start with https://"),
        (r"https://github\.com/", "it is not on github.com (launch links need GitHub)"),
        (r"https://github\.com/[^/]+/[^/]+\Z", "it does not name one account and one repository"),
        (rf"https://github\.com/{_ACCOUNT}/", "no GitHub account can be called that"),
        (rf".*/{_REPOSITORY}\Z", "no repository can be called that"),
    ):
        if not re.match(wanted, plain):
            raise ValueError(f"{url!r}: {problem}. Wanted: https://github.com/you/your-book")
    return plain


def _files(root):
    for glob, pattern in PLACES.items():
        paths = sorted(root.glob(glob))
        if not paths and "*" not in glob:
            raise FileNotFoundError(f"{root / glob} is missing, and the address belongs there")
        for path in paths:
            yield path, pattern


def _swap(match, url):
    start, end = (at - match.start() for at in match.span(1))
    return match[0][:start] + url + match[0][end:]


def _read(path):
    return path.read_bytes().decode("utf-8")


def main(arguments: list[str]) -> None:
    """Set the address from the command line, or print it and its places when none is given."""
    if len(arguments) > 1:
        sys.exit("usage: python -m bookbuild.address [https://github.com/you/your-book]")
    if not arguments:
        print(address())
        return
    try:
        changed = set_address(arguments[0])
    except (ValueError, FileNotFoundError) as error:
        sys.exit(f"The address was not changed. {error}")
    print(f"{address()} stands in {len(places())} files. Changed: {', '.join(changed) or 'none'}.")


if __name__ == "__main__":
    main(sys.argv[1:])
