"""Sphinx extension: the first use of a glossary term on a page leads to its entry.

Authors write plain sentences; nothing is added to the sources, nor to the plain copies. A page that
sets a link of its own with the role {term} keeps that one and gets no other to the same entry.

Where an everyday word would be taken for a term, the front matter of the glossary says which form
is meant: `first_uses: {value: values}` passes over "no value of it".
"""

import json
import re
from functools import partial

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

# What is no running text: titles and labels, what is a link already, code, formulas, references.
PASSED_OVER = (
    nodes.title, nodes.rubric, nodes.caption, nodes.thead, nodes.term, nodes.label,
    nodes.reference, addnodes.pending_xref, nodes.citation, addnodes.desc, addnodes.glossary,
    nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw,
)
LINKED_AS_A_WHOLE = "sd-card"  # a link inside could not be told from the card


class Glossary:
    """The entries of a page with a glossary: `anchors` leads from the words of each to an id.

    Words of one entry (its synonyms) share a definition, and `entry` gives them one number.
    """

    def __init__(self, env, docname):
        self.docname, self.anchors, self.entry = docname, {}, {}
        forms = json.loads(env.metadata[docname].get("first_uses", "{}"))
        items = env.get_doctree(docname).findall(nodes.definition_list_item)
        patterns = {}
        for number, item in enumerate(items):
            for term in item.findall(nodes.term):
                word = term.astext()
                self.anchors[word], self.entry[word] = term["ids"][0], number
                patterns[word] = re.escape(forms[word]) if word in forms else inflected(word)
        # The longest first, so that a key bias is not taken for a key. Each word is a group.
        self._words = sorted(patterns, key=len, reverse=True)
        groups = "|".join(f"({patterns[word]})" for word in self._words)
        self._pattern = re.compile(rf"(?<![\w-])(?:{groups})(?![\w-])", re.IGNORECASE)

    def uses(self, text):
        """The words that occur in a text, each with the match."""
        for match in self._pattern.finditer(text):
            yield self._words[match.lastindex - 1], match


class FirstUses(SphinxPostTransform):
    """Link them, before Sphinx resolves the references of the page."""

    default_priority = 5
    formats = ("html",)

    def run(self) -> None:
        for glossary in glossaries(self.env):
            if glossary.docname != self.env.docname:
                self.link(glossary)

    def link(self, glossary) -> None:
        done = {glossary.entry[node["reftarget"]]
                for node in self.document.findall(addnodes.pending_xref)
                if node["reftype"] == "term" and node["reftarget"] in glossary.entry}
        refer = partial(make_refnode, self.app.builder, self.env.docname, glossary.docname)
        for node in list(self.document.findall(nodes.Text)):
            text, pieces, end = node.astext(), [], 0
            if not runs_on(node):
                continue
            for word, match in glossary.uses(text):
                if glossary.entry[word] in done:
                    continue
                done.add(glossary.entry[word])
                link = refer(glossary.anchors[word], nodes.Text(match[0]))
                link["classes"].append("first-use")
                pieces += [nodes.Text(text[end:match.start()]), link]
                end = match.end()
            if pieces:
                node.parent.replace(node, [*pieces, nodes.Text(text[end:])])


def runs_on(node) -> bool:
    """Whether a text is part of a sentence."""
    while node := node.parent:
        if isinstance(node, PASSED_OVER) or LINKED_AS_A_WHOLE in node.get("classes", ()):
            return False
    return True


def inflected(word: str) -> str:
    """A pattern for a word in singular and plural, however its parts are spaced."""
    words = r"\s+".join(map(re.escape, word.split()))
    return f"{words[:-1]}(?:y|ies)" if re.search("[^aeiou]y$", word) else f"{words}(?:s|es)?"


def glossaries(env) -> list[Glossary]:
    """The book's glossaries, read once a build."""
    if not hasattr(env, "finding_glossaries"):
        pages = {page for _, _, kind, page, *_ in env.get_domain("std").get_objects()
                 if kind == "term"}
        env.finding_glossaries = [Glossary(env, page) for page in sorted(pages)]
    return env.finding_glossaries


def setup(app) -> dict:
    app.add_post_transform(FirstUses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
