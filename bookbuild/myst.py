"""Read MyST Markdown as a list of blocks.

Only the block structure is parsed here (by markdown-it, with the plugins MyST itself uses); what a
directive means is the business of those who ask.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin

PARSER = (
    MarkdownIt("commonmark")
    .enable("table")
    .use(colon_fence_plugin)
    .use(myst_block_plugin)
    .use(dollarmath_plugin, allow_labels=True, double_inline=True)
    .use(amsmath_plugin)
)

# What a list or a quotation must not hold: it could not be lowered line by line.
MYST_TOKENS = {"colon_fence", "math_block_label", "myst_target", "amsmath"}

DIRECTIVE = re.compile(r"\{(?P<name>[\w:.+-]+)\}\s*(?P<argument>.*)")
OPTION = re.compile(r":(?P<key>[\w-]+):\s*(?P<value>.*)")


class MystError(ValueError):
    """Markdown that has no plain form; the message says what it is and what to write instead."""


@dataclass(frozen=True)
class Block:
    """One block of a page: `kind` is directive, equation, target, heading, text or verbatim."""

    kind: str
    source: str
    name: str = ""
    argument: str = ""
    options: dict[str, str] = field(default_factory=dict)
    body: str = ""
    inside: str = ""  # what stands in a list or quotation and cannot be lowered there

    @property
    def label(self) -> str:
        """The label that other places use to point here, or an empty string."""
        return self.options.get("label") or self.options.get("name") or ""

    @property
    def classes(self) -> list[str]:
        """The CSS classes given by `:class:`."""
        return self.options.get("class", "").split()


def blocks(text: str) -> Iterator[Block]:
    """Yield the top-level blocks of `text` in order; comments and block breaks are left out."""
    lines = text.split("\n")
    position = 0
    tokens = PARSER.parse(text)
    for index, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        start, end = token.map
        if token.type == "amsmath":
            end = start + token.content.count("\n") + 1  # the plugin counts one line too few
        # Link definitions leave no token: they are what stands between two blocks.
        if between := "\n".join(lines[position:start]).strip("\n"):
            yield Block("verbatim", between)
        position = end
        source = "\n".join(lines[start:end]).rstrip("\n")
        if token.type in ("fence", "colon_fence") and (match := DIRECTIVE.match(token.info)):
            yield directive(match["name"], match["argument"].strip(), token.content, source)
        elif token.type in ("math_block", "math_block_label", "amsmath"):
            yield Block("equation", source, options={"label": token.info}, body=token.content)
        elif token.type == "myst_target":
            yield Block("target", source, name=token.content)
        elif token.type == "heading_open":
            yield Block("heading", source, name=token.tag, body=tokens[index + 1].content)
        elif token.type in ("fence", "code_block", "html_block"):
            yield Block("verbatim", source)
        elif token.type not in ("myst_line_comment", "myst_block_break"):
            yield Block("text", source, inside=nested(tokens[index + 1 :]))
    if rest := "\n".join(lines[position:]).strip("\n"):
        yield Block("verbatim", rest)


def directive(name: str, argument: str, content: str, source: str) -> Block:
    """Split a directive's content into options (`:key: value` lines at the top) and body."""
    lines = content.split("\n")
    options = {}
    while lines and (match := OPTION.fullmatch(lines[0].strip())):
        options[match["key"]] = match["value"].strip()
        lines.pop(0)
    return Block("directive", source, name, argument, options, "\n".join(lines).strip("\n"))


def walk(text: str) -> Iterator[Block]:
    """Yield every block of `text`, those inside directives too, in reading order."""
    for block in blocks(text):
        yield block
        if block.kind == "directive" and block.name not in LITERAL:
            yield from walk(block.body)


# Directives whose body is not Markdown.
LITERAL = {"math", "code-block", "code", "code-cell", "raw", "eval-rst", "bibliography", "glossary"}


def nested(tokens: list) -> str:
    """Return the first directive, target or labelled equation before the container ends, or ""."""
    for token in tokens:
        if token.level == 0:
            break
        if token.type in MYST_TOKENS or (token.type == "fence" and token.info.startswith("{")):
            return token.info or token.content
    return ""
