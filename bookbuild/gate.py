"""The static gate: everything that can be known of a chapter's notebook without running it."""

import ast
import re
from collections.abc import Iterator
from statistics import median

from nbformat import NotebookNode

from bookbuild.address import address, bootstrap_cell
from bookbuild.chapter import Chapter, PairingError, as_json, as_text, read
from bookbuild.lookup import Book
from bookbuild.myst import MystError
from bookbuild.normal import ALT
from bookbuild.pairing import sources
from bookbuild.plain import plain_copy
from bookbuild.prose import strange_decimals

LONGEST_CELL, LONG_CELL, USUAL_CELL = 25, 15, 5
LARGEST_NOTEBOOK = 600_000

# Modules that reach the network or belong to the book's making, and names that fetch data.
FORBIDDEN_MODULES = {
    "aiohttp", "bookbuild", "ftplib", "gdown", "httpx", "requests", "smtplib", "socket", "tests",
    "urllib", "urllib3", "wget",
}  # fmt: skip
FETCH = re.compile(r"\b(fetch_\w+|urlopen|urlretrieve|load_dataset|from_pretrained)\s*\(")
SHELL = re.compile(r"^\s*(!|%%?(bash|sh|script|pip|conda|system|sx)\b)", re.MULTILINE)

# What differs at every run or on every machine.
UNSTABLE = re.compile(r"\b0x[0-9a-f]{6,}\b|/tmp/\w+|/home/\w+|/Users/\w+|ipykernel_\d+")

# In stored HTML: what would load from or lead to another host, and a picture without words.
THIRD_PARTY = re.compile(
    r"""(?:\b(?:src|href)\s*=|\burl\()\s*\\?["']?\s*(?:https?:)?//[^\s"'>]*""", re.IGNORECASE
)
WORDLESS = re.compile(r"""<img\b(?![^>]*\salt\s*=\s*\\?["']?\s*[^\\"'\s>])""", re.IGNORECASE)


def faults(chapter: Chapter, book: Book) -> Iterator[str]:
    """Yield every fault of a chapter: where it is, what it is and how to cure it."""
    missing = [path for path in (chapter.notebook, chapter.text) if not path.exists()]
    if missing:
        yield f"{missing[0].name} is missing: run 'sync {chapter.name}'"
        return
    try:
        notebook = read(chapter.notebook)
        read(chapter.text)
    except PairingError as error:
        yield str(error)
        return
    for check in (form, size, cells, numbers):
        for fault in check(chapter, notebook):
            yield f"{chapter.name}: {fault}"
    yield from (f"{chapter.name}: {fault}" for fault in copies(chapter, notebook, book))


def form(chapter: Chapter, notebook: NotebookNode) -> Iterator[str]:
    """Notebook and text have the same cells, and both are in the fixed form."""
    # Bytes, because reading as text would hide other line ends and a byte order mark.
    if (raw := chapter.notebook.read_bytes()) != as_json(notebook).encode():
        noise = " (it holds widget state)" if b'"widgets"' in raw else ""
        yield f"the notebook is not in the fixed form{noise}: run 'sync'"
    if len(raw) > LARGEST_NOTEBOOK:
        yield f"the notebook has {len(raw) // 1000} kB, more than 600: draw less or smaller frames"
    text = read(chapter.text)
    ours, theirs = sources(notebook), sources(text)
    if ours != theirs:
        same = [a == b for a, b in zip(ours, theirs, strict=False)]
        number = (same + [False]).index(False)  # the first is the page's own metadata
        where = f"cell {number}" if number else "the page's description"
        yield f"{where}: notebook and text differ: run 'sync'"
    elif chapter.text.read_bytes() != as_text(notebook).encode():
        yield "the text is not in the fixed form: run 'sync'"


def size(chapter: Chapter, notebook: NotebookNode) -> Iterator[str]:
    """One idea a cell: median 5 lines, nine in ten at most 15, none over 25."""
    lengths = []
    for name, cell in code_cells(notebook):
        lengths.append(sum(bool(line.strip()) for line in cell.source.split("\n")))
        if lengths[-1] > LONGEST_CELL:
            yield f"{name}: {lengths[-1]} lines, more than {LONGEST_CELL}: split it"
    if lengths and median(lengths) > USUAL_CELL:
        yield f"the median code cell has {median(lengths):g} lines, more than {USUAL_CELL}"
    long = sum(length > LONG_CELL for length in lengths)
    if long * 10 > len(lengths):
        yield f"{long} of {len(lengths)} code cells have over {LONG_CELL} lines: one in ten may"


def cells(chapter: Chapter, notebook: NotebookNode) -> Iterator[str]:
    """Every cell was run, in order, without the network, and its images have words."""
    if not any("bootstrap" in tags(cell) for _, cell in code_cells(notebook)):
        yield "no cell has the tag 'bootstrap': begin with bookbuild.address.bootstrap_cell()"
    counted = enumerate(code_cells(notebook), 1)
    if late := [name for count, (name, cell) in counted if cell.execution_count != count]:
        others = f" and {len(late) - 1} more" if len(late) > 1 else ""
        yield f"{late[0]}{others}: not run, or not in order from the top: run 'execute'"
    for name, cell in code_cells(notebook):
        if "bootstrap" not in tags(cell):
            yield from (f"{name}: {fault}" for fault in network(cell.source))
        elif cell.source != bootstrap_cell(address(chapter.folder.parent)).strip("\n"):
            yield f"{name}: differs from bookbuild.address.bootstrap_cell(): copy that text"
        yield from (f"{name}: {fault}" for fault in outputs(cell))


def network(source: str) -> Iterator[str]:
    """Signs that a cell needs the network or the book's own tools."""
    if match := SHELL.search(source):
        yield f"'{match[1]}' runs a shell: notebooks need Python only"
    if match := FETCH.search(source):
        yield f"'{match[1]}' fetches data: a notebook must run without the network"
    try:
        tree = ast.parse(re.sub(r"(?m)^\s*[%!].*$", "", source))
    except SyntaxError:
        return  # a cell may show an error on purpose
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            if name.split(".")[0] in FORBIDDEN_MODULES:
                yield f"imports {name}: a notebook needs neither the network nor the book's tools"


def outputs(cell: NotebookNode) -> Iterator[str]:
    """Faults of a cell's stored outputs."""
    for output in cell.outputs:
        data = output.get("data", {})
        if output.output_type == "error" and "raises-exception" not in tags(cell):
            yield f"stored with an error ({output.ename}): mend it, or tag it 'raises-exception'"
        texts = [body for kind, body in data.items() if kind.startswith("text/")]
        for text in (output.get("text", ""), *output.get("traceback", []), *texts):
            if found := UNSTABLE.search(text):
                yield f"the output holds '{found[0]}', which changes with every run or machine"
        if "application/javascript" in data:
            yield "the output is JavaScript, which can load anything: show a figure instead"
        if found := THIRD_PARTY.search(data.get("text/html", "")):
            yield f"the output reaches another host ('{found[0][:60]}'): a page stands alone"
        if WORDLESS.search(data.get("text/html", "")):
            yield "an <img> without alternative text: show it with qkvlib.figures.show"
        if any(kind.startswith("image/") for kind in data):
            head, _, alt = data.get("text/plain", "").partition(ALT)
            if head or not alt.strip():
                yield "an image without alternative text: show it with qkvlib.figures.show"
            elif re.fullmatch(r"\S+|.*\.(png|svg|jpe?g|webp)", alt.strip(), re.IGNORECASE):
                yield f"the alternative text '{alt}' is a file name or one word: say what is seen"


def numbers(chapter: Chapter, notebook: NotebookNode) -> Iterator[str]:
    """Every decimal in prose is one that the notebook shows."""
    for number, decimal in strange_decimals(notebook):
        yield f"cell {number}: {decimal} stands in no output: print it, or leave it out"


def copies(chapter: Chapter, notebook: NotebookNode, book: Book) -> Iterator[str]:
    """The plain copy can be made and is the one that is stored."""
    try:
        fresh = as_json(plain_copy(notebook, book.opened(chapter.name)))
    except MystError as error:
        yield str(error)
        return
    if not chapter.colab.exists() or chapter.colab.read_bytes() != fresh.encode():
        yield "the plain copy in colab/ is missing or stale: run 'plain'"


def code_cells(notebook: NotebookNode) -> Iterator[tuple[str, NotebookNode]]:
    """Yield each code cell with a name for messages: "cell 3 ('import numpy as np')"."""
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "code":
            yield f"cell {number} ('{cell.source.splitlines()[0][:40]}')", cell


def tags(cell: NotebookNode) -> list[str]:
    """Return a cell's tags."""
    return cell.metadata.get("tags", [])
