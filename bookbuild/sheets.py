"""Style sheets joined into one that holds only what the pages use, with subsets of its fonts."""

import hashlib
import json
import posixpath
import re
import subprocess
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from sphinx.errors import ExtensionError

from bookbuild import fonts
from bookbuild.maths import node_executable

HERE = Path(__file__).parent
ADDRESS = re.compile(r"""url\(\s*["']?(?!data:|#)([^"')]+)["']?\s*\)""")
IMPORT = re.compile(r"""@import\s+["']([^"']+)["']\s*;""")
WRITTEN = re.compile(r"""(?:content|--fa)\s*:\s*(?:"([^"]*)"|'([^']*)')""")  # --fa is an icon
ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?")
VARIABLE = re.compile(r"--[\w-]+")
OTHER_FORMATS = re.compile(r',\s*url\([^)]*\.(?:ttf|woff)\)\s*format\("\w+"\)')
BY_BROWSER = {"open"}  # attributes that no page and no script of ours sets


@dataclass(frozen=True)
class Sheet:
    """What was written: its text, its address and that of each font, seen from the static files."""

    css: str
    url: str
    fonts: dict[str, str]


class Used(HTMLParser):
    """What pages and scripts use: names for selectors, variables, characters of formulas."""

    def __init__(self, pages, scripts):
        super().__init__()
        self.names, self.variables = set(BY_BROWSER), set()
        self.formulas, self.icons = set(), set()
        self._in_formula, self._in_script = 0, False
        for script in scripts:
            self._script(script)
        for html in pages:
            self.variables |= set(VARIABLE.findall(html))
            self.feed(html)
            self.close()
            self.reset()

    def handle_starttag(self, tag, attributes):
        self._in_script = tag == "script"
        self.names.add(tag)
        for name, value in attributes:
            self.names.add(name)
            # KaTeX's places and paths are no names, and there are thousands.
            self.names |= set((value or "").split()) if name not in ("style", "d") else set()
        if self._in_formula:
            self._in_formula += 1
        elif ("class", "katex-html") in attributes:
            self._in_formula = 1

    def handle_endtag(self, tag):
        self._in_script = False
        self._in_formula = max(self._in_formula - 1, 0)

    def handle_data(self, data):
        if self._in_script:
            self._script(data)
        if self._in_formula:
            self.formulas |= set(data)
        self.icons |= set(filter(fonts.is_private, data))

    def _script(self, script):
        self.names |= set(re.findall(r"[\w-]+", script))
        self.names |= {f"data-{name}" for name in re.findall(r"\bdataset\.([a-z]+)", script)}
        self.variables |= set(VARIABLE.findall(script))


def write(file: Path, parts: list[str], used: Used) -> Sheet:
    """Write a sheet to `file` made of those beside it, and its fonts."""
    static = file.parent
    css = purged("\n".join(_read(static, name) for name in parts), used)
    css = OTHER_FORMATS.sub("", css)  # every browser that can show the pages reads woff2
    characters = used.formulas | used.icons | _in_strings(css)
    addresses = {}

    def subset(match):
        name = match[1]
        if not name.endswith(".woff2"):
            return match[0]
        small = static / "fonts" / posixpath.basename(name)
        small.parent.mkdir(exist_ok=True)
        small.write_bytes(fonts.subset(static / name, characters))
        addresses[small.stem] = versioned(small, static)
        return f"url({addresses[small.stem]})"

    css = ADDRESS.sub(subset, css)
    file.write_text(css, encoding="utf-8", newline="\n")
    return Sheet(css, versioned(file, static), addresses)


def versioned(file: Path, static: Path) -> str:
    """Address of a static file that changes with its content: no browser shows an old one."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    return f"{file.relative_to(static).as_posix()}?v={digest}"


def purged(css: str, used: Used) -> str:
    """The sheet without rules, fonts and variables that no page uses."""
    question = {"css": css, "names": sorted(used.names), "variables": sorted(used.variables)}
    run = subprocess.run([node_executable(), HERE / "purge.cjs"], input=json.dumps(question),
                         capture_output=True, encoding="utf-8")
    if run.returncode:
        raise ExtensionError(f"the style sheet could not be purged: {run.stderr}")
    return run.stdout


def _read(static: Path, name: str) -> str:
    """A sheet with those it imports, its addresses seen from the folder of static files."""
    folder = posixpath.dirname(name)

    def seen(address):
        return posixpath.normpath(posixpath.join(folder, address))

    css = (static / name).read_text(encoding="utf-8")
    css = ADDRESS.sub(lambda match: f"url({seen(match[1])})", css)
    css = IMPORT.sub(lambda match: _read(static, seen(match[1])), css)
    if "@import" in css:
        raise ExtensionError(f"{name} imports a sheet in a way bookbuild/sheets.py does not know")
    return re.sub(r'@charset "[^"]*";', "", css)


def _in_strings(css: str) -> set[str]:
    """Characters that a sheet adds to a page; it may hold them as themselves or as numbers."""
    css = ESCAPE.sub(lambda match: chr(int(match[1], 16)), css)
    # A variable may hold an icon, too, and most of what variables hold is no text at all.
    icons = set(filter(fonts.is_private, css))
    return icons.union(*(text for pair in WRITTEN.findall(css) for text in pair))
