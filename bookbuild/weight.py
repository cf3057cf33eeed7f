"""What a page weighs: the bytes and requests of a first visit, and how many its kind may have.

Text is counted as gzip makes it, since that is how hosts send it; pictures and fonts as they are.
The server here sends it so, too.
"""

import functools
import gzip
import http.server
import io
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

TEXT = {".html", ".css", ".js", ".svg", ".json", ".xml", ".txt"}


@dataclass(frozen=True)
class Budget:
    bytes: int
    requests: int


BUDGETS = {
    "text": Budget(50_000, 8),
    "maths": Budget(120_000, 18),
    "explorer": Budget(150_000, 18),
}


def kind(html: str) -> str:
    """Kind of a page, a key of BUDGETS: by what it holds, the heaviest first."""
    if 'class="explorer"' in html:
        return "explorer"
    return "maths" if 'class="katex"' in html or "cell_input" in html else "text"


def pages(site: Path) -> list[str]:
    """Names of the pages of a site, without the root, which only leads to the first of them."""
    names = (path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return sorted(n for n in names if n != "index.html" and not n.startswith("_"))


def weigh(site: Path, urls: list[str]) -> dict[str, int]:
    """Bytes of each file that a visit asked for, by its name; 0 for one that is not there."""
    return {name: _size(site / name) for name in (unquote(urlsplit(u).path)[1:] for u in urls)}


def first_visit(page, url: str) -> list[str]:
    """What a page of playwright, its cache empty, asks for until it is complete."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    page.evaluate("document.fonts.ready")
    page.wait_for_load_state("networkidle")
    return [one for one in asked if not one.startswith("data:")]


@contextmanager
def served(site: Path):
    """Serve a site on this machine as a host would; gives its address."""
    handler = functools.partial(_Handler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _size(file: Path) -> int:
    return len(_packed(file)) if file.is_file() else 0


@functools.lru_cache(maxsize=256)
def _packed(file: Path) -> bytes:
    content = file.read_bytes()
    return gzip.compress(content, 9, mtime=0) if file.suffix in TEXT else content


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many files, as hosts do

    def send_head(self):
        file = Path(self.translate_path(self.path))
        if file.suffix not in TEXT or not file.is_file():
            return super().send_head()
        content = _packed(file)
        self.send_response(200)
        self.send_header("Content-Type", f"{self.guess_type(file)}; charset=utf-8")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return io.BytesIO(content)

    def log_message(self, *arguments):
        pass
