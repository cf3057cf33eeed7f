"""Sphinx extension: the library reference, read from the source without importing it.

`{library} bias` shows qkvlib/bias.py: its docstring, then every public function and class with
signature and docstring. So the book builds without torch, and a docstring stays the plain text
it is in the editor. Its layout means what it looks like:

    A block of unindented lines           a paragraph
    A line, then indented lines           a term and its definition
    name    two spaces, then words        an entry of a list, inside a definition
    A block that is indented as a whole   shown as it stands
"""

import ast
import re
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

PACKAGE = "qkvlib"
Definition = ast.FunctionDef | ast.ClassDef


class Library(SphinxDirective):
    """The reference of one module of the package."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        package = Path(self.env.srcdir) / PACKAGE
        path = module_file(package, self.arguments[0])
        if path is None:
            raise self.error(f"no module {self.arguments[0]} in {PACKAGE}/; correct the name")
        # Where the package exports a function by its module's name, the module is out of sight and
        # its functions are reached from the package: qkvlib.attention is the function.
        hidden = self.arguments[0] in public(package / "__init__.py")
        place = PACKAGE if hidden else f"{PACKAGE}.{self.arguments[0]}"
        shown = docstring(self.parse(path))
        for name, node in public(path).items():
            shown += self.describe(f"{place}.{name}", node)
        return shown

    def parse(self, path: Path) -> ast.Module:
        self.env.note_dependency(str(path))
        return ast.parse(path.read_text("utf-8"))

    def describe(self, name: str, node: Definition, kind: str = "") -> list[nodes.Node]:
        """The entry of a function or class, as Sphinx's own Python domain would make it."""
        kind = kind or ("class" if isinstance(node, ast.ClassDef) else "function")
        directive = self.env.get_domain("py").directives[kind]
        index, entry = directive(f"py:{kind}", [name + signature(node)], {}, StringList(),
                                 self.lineno, self.content_offset, "", self.state,
                                 self.state_machine).run()
        for type_ in list(entry.findall(addnodes.pending_xref)):
            type_.replace_self(type_.children)  # most lead to NumPy and torch, not into this book
        entry[-1] += docstring(node)
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and documented(method):
                    entry[-1] += self.describe(f"{name}.{method.name}", method, "method")
        return [index, entry]


def module_file(package: Path, name: str) -> Path | None:
    """The source of a module, or of a package inside the package."""
    files = package / f"{name}.py", package / name / "__init__.py"
    return next((file for file in files if file.is_file()), None)


def public(path: Path) -> dict[str, Definition]:
    """The functions and classes a module offers: its own, or those in __all__ from wherever."""
    own, passed_on, offered = {}, {}, None
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, Definition) and documented(node):
            own[node.name] = node
        elif isinstance(node, ast.ImportFrom) and node.level == 1:
            if (there := path.parent / f"{node.module}.py").is_file():
                passed_on |= public(there)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            offered = ast.literal_eval(node.value)
    known = passed_on | own
    return own if offered is None else {name: known[name] for name in offered if name in known}


def documented(node: Definition) -> bool:
    return not node.name.startswith("_") and ast.get_docstring(node) is not None


def signature(node: Definition) -> str:
    """Parameters and result as written; of a class those of __init__, or its fields."""
    if isinstance(node, ast.FunctionDef):
        result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        arguments = ast.unparse(node.args)
        return f"({re.sub(r'^self(, )?', '', arguments)}){result}"
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            return signature(method).removesuffix(" -> None")
    if any(re.search("dataclass|NamedTuple", ast.unparse(mark))
           for mark in node.decorator_list + node.bases):
        fields = (ast.unparse(line) for line in node.body if isinstance(line, ast.AnnAssign))
        return f"({', '.join(fields)})"
    return ""


def docstring(node: ast.AST) -> list[nodes.Node]:
    """The docstring of a module, class or function, laid out as the module's text above says."""
    blocks = re.split(r"\n\s*\n", cleandoc(ast.get_docstring(node) or ""))
    return [laid_out(block) for block in blocks if block]


def laid_out(block: str) -> nodes.Node:
    first, *rest = block.split("\n")
    indented = [line.startswith(" ") for line in rest]
    if not first.startswith(" ") and not any(indented):
        return nodes.paragraph("", "", *marked_up(block))
    if first.startswith(" ") or not all(indented):
        return nodes.literal_block(block, dedent(block), language="text")
    body = dedent("\n".join(rest))
    entries = re.findall(r"^(\S(?:.*?\S)?)  +(\S.*(?:\n +.*)*)", body, re.MULTILINE)
    return definitions([(first, definitions(entries) if entries else body)])


def definitions(entries: list[tuple[str, str | nodes.Node]]) -> nodes.definition_list:
    """A list of terms, each with words or another list as its definition."""
    bodies = (nodes.paragraph("", "", *marked_up(words)) if isinstance(words, str) else words
              for _, words in entries)
    return nodes.definition_list("", *(
        nodes.definition_list_item("", nodes.term("", "", *marked_up(term)),
                                   nodes.definition("", body))
        for (term, _), body in zip(entries, bodies, strict=True)))


def marked_up(text: str) -> list[nodes.Node]:
    """Text with `code` set as code; nothing else in a docstring is markup."""
    parts = re.split(r"`+([^`]+)`+", re.sub(r"\s+", " ", text))
    return [nodes.literal("", part) if i % 2 else nodes.Text(part) for i, part in enumerate(parts)]


def setup(app) -> dict:
    app.add_directive("library", Library)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
