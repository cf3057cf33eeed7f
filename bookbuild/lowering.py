"""Lower MyST Markdown to the Markdown that Colab, GitHub, JupyterLab and nbconvert all draw.

Theorems, exercises and notes become quotations with a bold head, everything folded becomes
`<details>`, cross-references become their words. What has no plain form raises MystError: no
directive or role ever passes through as raw text.
"""

import html
import re

from bookbuild.lookup import THEOREMS, Book
from bookbuild.myst import Block, MystError, blocks
from bookbuild.roles import inline

# Their titles are fixed: words after the name are already text.
ADMONITIONS = "attention caution danger error hint important note seealso tip warning".split()
TITLED = ("admonition", "dropdown", "margin", "sidebar", "topic")  # words after the name: a title


def lower(text: str, book: Book) -> str:
    """Return MyST Markdown as plain Markdown; raises MystError for what has no plain form."""
    return "\n\n".join(part for block in blocks(text) if (part := lower_block(block, book)))


def lower_block(block: Block, book: Book) -> str:
    """Return one block as plain Markdown: an empty string where a reader sees nothing."""
    if block.kind == "directive":
        return lower_directive(block, book)
    if block.kind == "equation":
        return display(block, book)
    if block.kind == "target":
        return ""
    if block.inside:
        raise MystError(f"'{block.inside}' stands inside a list or a quotation: move it out of it")
    return block.source if block.kind == "verbatim" else inline(block.source, book)


def lower_directive(block: Block, book: Book) -> str:
    """Return a directive as a quotation, a folded section, an equation or a code block."""
    name = block.name.removeprefix("prf:")
    if name == "math":
        return display(block, book)
    if name in ("code-block", "code"):
        fence = "`" * max(3, 1 + longest_run(block.body))
        return f"{fence}{block.argument}\n{block.body}\n{fence}"
    if name == "table":
        return f"**{inline(block.argument, book)}**\n\n{lower(block.body, book)}"
    if name == "claim":
        return claim(block.argument, book)
    title, body = titled(block, name, book)
    if name == "solution" or "dropdown" in block.classes or name == "dropdown":
        return folded(title, body)
    return proof(body) if name == "proof" else boxed(title, body)


def titled(block: Block, name: str, book: Book) -> tuple[str, str]:
    """Return the head and the lowered body of a directive that holds Markdown."""
    body = block.body
    if name in ADMONITIONS or name == "proof":
        title = {"seealso": "See also"}.get(name, name.capitalize())
        body = "\n\n".join(part for part in (block.argument, body) if part)
    elif name in TITLED:
        title = block.argument
    elif name == "solution":
        title = f"Solution to {book.place(block.argument).words}"
    elif name in THEOREMS or name == "exercise":
        title = numbered(block, name, book)
    else:
        raise MystError(f"directive '{{{block.name}}}' has no plain form in bookbuild/lowering.py")
    return inline(title, book), lower(body, book)


def numbered(block: Block, name: str, book: Book) -> str:
    """Return "Theorem 1 (its title)" for a block that the book numbers."""
    if "nonumber" in block.options:
        head = name.capitalize()
    elif not block.label:
        raise MystError(f"this '{{{block.name}}}' needs a ':label:' (or ':nonumber:')")
    else:
        head = book.place(block.label).words
    return f"{head} ({block.argument})" if block.argument else head


def display(block: Block, book: Book) -> str:
    r"""Return an equation between dollars, with the site's number as its `\tag`."""
    tex = "\n".join(part for part in (block.argument, block.body.strip()) if part)
    if "\n\n" in tex or re.search(r"(?<!\\)%", tex):
        raise MystError(r"an equation must hold no empty line and no comment: " + tex)
    tex = re.sub(r"^\\begin\{equation\*?\}\s*(.*?)\s*\\end\{equation\*?\}$", r"\1", tex, flags=re.S)
    tex = re.sub(r"\\(begin|end)\{align\*?\}", r"\\\1{aligned}", tex)
    tex = re.sub(r"\\(begin|end)\{gather\*?\}", r"\\\1{gathered}", tex)
    if r"\\" in outside_environments(tex):
        tex = "\\begin{aligned}\n" + tex + "\n\\end{aligned}"
    if block.label:
        tex += f" \\tag{{{book.place(block.label).words.strip('()')}}}"
    return f"$$\n{tex}\n$$"


def outside_environments(tex: str) -> str:
    r"""Return what stands outside every \begin{…}…\end{…}."""
    innermost = re.compile(r"\\begin\{(\w+\*?)\}(?:(?!\\begin\{).)*?\\end\{\1\}", re.DOTALL)
    while (shorter := innermost.sub("", tex)) != tex:
        tex = shorter
    return tex


def claim(name: str, book: Book) -> str:
    """Return the verdict box of a claim."""
    entry = book.claim(name)
    return boxed(
        f"Claim {entry.id}: {entry.verdict}", f"{entry.statement}\n\n*Why.* {entry.reason}"
    )


def proof(body: str) -> str:
    """Return a proof between its first word and its last sign, on its text's lines if possible."""
    before = " " if body[:1].isalnum() else "\n\n"
    if body.endswith("\n$$"):
        return f"*Proof.*{before}{body[:-3]} \\qquad\\blacksquare\n$$"
    after = "\n\n" if body.endswith(("`", ">")) else " "
    return f"*Proof.*{before}{body}{after}∎"


def boxed(title: str, body: str) -> str:
    """Return a quotation with a bold head."""
    text = one_line_maths(f"**{title}**\n\n{body}")
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def folded(title: str, body: str) -> str:
    """Return a section that opens on a click; the empty lines let Markdown inside be drawn."""
    plain = html.escape(re.sub("[*`]", "", title), quote=False)  # no Markdown is read in here
    return f"<details>\n<summary>{plain}</summary>\n\n{body}\n\n</details>"


def one_line_maths(text: str) -> str:
    """Put each formula on one line: notebooks take formulas out before they read the '>' of a
    quotation, so that a '>' at the start of a formula's second line would become part of it.
    """
    fenced = r"(?P<fence>```+).*?(?P=fence)"
    formula = re.compile(rf"{fenced}|(?P<ticks>`+).+?(?P=ticks)|\$\$.+?\$\$|\$[^$]+\$", re.DOTALL)

    def join(match: re.Match) -> str:
        return " ".join(match[0].split()) if match[0].startswith("$") else match[0]

    return formula.sub(join, text)


def longest_run(text: str) -> int:
    """Return the length of the longest run of backticks in `text`."""
    return max(map(len, re.findall("`+", text)), default=0)
