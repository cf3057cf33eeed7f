"""The Content-Security-Policy of a page: the browser's own guard against any third party.

The policy names the page's inline scripts by their hashes and allows nothing from another host.
It is computed from the finished page, and a page that would break under it is refused.
"""

import base64
import hashlib
import re
from html.parser import HTMLParser

# 'self' also holds from file:// in Chromium. Styles may stand inline, since KaTeX places symbols
# with style attributes; data: serves the small pictures inside style sheets.
POLICY = (
    "default-src 'none'; script-src 'self'{hashes}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'"
)
LOADED_LINKS = {"icon", "manifest", "modulepreload", "preload", "stylesheet"}
ELSEWHERE = re.compile(r"(?:https?:)?//")


class PolicyError(ValueError):
    """A page that would break under its policy."""


def secured(html: str) -> str:
    """The page with its policy. Raises PolicyError where the page would break under it."""
    page = _Contents(html)
    if foreign := [url for url in page.loaded if ELSEWHERE.match(url)]:
        raise PolicyError(f"the page would load {', '.join(foreign)}: serve it from this site")
    if page.handlers:
        raise PolicyError(f"{', '.join(page.handlers)} would never run: listen from a script")
    hashes = "".join(f" '{name}'" for name in sorted({_hash(code) for code in page.scripts}))
    policy = POLICY.format(hashes=hashes)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    # Behind the encoding, which must be near the top, and before all that the policy governs.
    html, found = re.subn(r"(<meta charset=[^>]*>)", rf"\1\n    {policy}", html, count=1)
    if not found:
        raise PolicyError("the page has no <meta charset>, behind which its policy belongs")
    return html


class _Contents(HTMLParser):
    """What a page runs (inline scripts, handlers in attributes) and what it loads."""

    def __init__(self, html: str):
        super().__init__()
        self.scripts: list[str] = []
        self.loaded: list[str] = []
        self.handlers: list[str] = []
        self._in_script = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.handlers += [f"<{tag} {name}=…>" for name in values if name.startswith("on")]
        if tag == "link" and LOADED_LINKS & set((values.get("rel") or "").split()):
            self.loaded.append(values.get("href") or "")
        self.loaded += [values[name] for name in ("src", "data", "poster") if values.get(name)]
        # A script of another type, such as JSON, is data that the browser never runs.
        runs = values.get("type") in (None, "", "module", "text/javascript")
        self._in_script = tag == "script" and "src" not in values and runs
        if self._in_script:
            self.scripts.append("")

    def handle_data(self, data):
        if self._in_script:
            self.scripts[-1] += data

    def handle_endtag(self, tag):
        self._in_script = False


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
