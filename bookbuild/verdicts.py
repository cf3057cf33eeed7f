"""Sphinx extension: the claims ledger on the page.

    {claim} B7        the verdict box of one claim, in its chapter; HTML id claim-B7
    {verdict-board}   every claim with its verdict, linked to its box
    {claims-ledger}   every claim in full, with the source of its tests

`{ref}` reaches a box as claim-B7, an entry of the ledger as ledger-B7. A broken link between
ledger, chapters and tests is a warning, and so an error in a strict build.
"""

import html
from itertools import groupby
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from bookbuild.claims import LEDGER, Claim, ClaimTest, LedgerError, broken_links, find_tests, load

STYLE = "claims.css"


class LedgerDirective(SphinxDirective):
    """What the three directives share: the ledger, links, and the box of a claim."""

    @property
    def claims(self) -> dict[str, Claim]:
        self.env.note_dependency(LEDGER)
        return self.env.claims_ledger

    def anchor(self, node: nodes.Element, name: str, title: str) -> nodes.Element:
        """Give a node an id that `{ref}` and the links below reach."""
        node["ids"].append(name)
        std = self.env.get_domain("std")
        std.note_hyperlink_target(name.lower(), self.env.docname, name, title)
        return node

    def link(self, kind: str, target: str, text: str = "") -> addnodes.pending_xref:
        """A cross-reference of the roles {ref} or {doc}; an unknown target is a warning."""
        return addnodes.pending_xref("", nodes.Text(text), refdomain="std", reftype=kind,
                                     reftarget=target, refexplicit=bool(text), refwarn=True,
                                     refdoc=self.env.docname)

    def markdown(self, text: str, *before: nodes.Node, css: str) -> nodes.paragraph:
        inline, messages = self.parse_inline(text, lineno=self.lineno)
        return nodes.paragraph("", "", *before, *inline, *messages, classes=[css])

    def box(self, claim: Claim, name: str, *details: nodes.Node) -> nodes.container:
        """A claim, its verdict and the reason, then details."""
        head = nodes.paragraph("", "", nodes.strong("", f"Claim {claim.id}"), nodes.Text(" "),
                               verdict(claim, claim.verdict), classes=["claim-head"])
        box = nodes.container("", head, self.markdown(claim.statement, css="claim-statement"),
                              self.markdown(claim.reason, nodes.strong("", "Why. "),
                                            css="claim-reason"),
                              *details, classes=["claim", css_class(claim)])
        return self.anchor(box, name, f"claim {claim.id}")

    def fine_print(self, *parts: nodes.Node | str) -> nodes.paragraph:
        texts = (nodes.Text(part) if isinstance(part, str) else part for part in parts)
        return nodes.paragraph("", "", *texts, classes=["claim-fine"])

    def test_link(self, id: str) -> nodes.paragraph:
        """A link to the code of a test in the ledger."""
        name = id.rpartition("::")[2]
        link = self.link("ref", f"ledger-{name.lower()}", name)
        return self.fine_print("Decided by ", nodes.literal("", "", link))


class ClaimBox(LedgerDirective):
    """`{claim} B7`: the verdict box; refuses an unknown claim and a claim of another chapter."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        claim = self.claims.get(self.arguments[0])
        if claim is None:
            raise self.error(f"no claim {self.arguments[0]} in {LEDGER}; "
                             f"it has {', '.join(self.claims)}")
        if claim.chapter != self.env.docname:
            raise self.error(f"claim {claim.id} belongs in {claim.chapter} according to {LEDGER}; "
                             "move the box, or correct the ledger")
        ledger = self.link("ref", f"ledger-{claim.id.lower()}", f"{claim.id} in the ledger")
        return [self.box(claim, f"claim-{claim.id}", *map(self.test_link, claim.tests),
                         self.fine_print(f"Plane: {claim.plane}. See ", ledger, "."))]


class VerdictBoard(LedgerDirective):
    """`{verdict-board}`: one table a chapter, every statement linked to its verdict box."""

    def run(self) -> list[nodes.Node]:
        board = nodes.container(classes=["verdict-board"])
        for chapter, claims in groupby(self.claims.values(), key=lambda claim: claim.chapter):
            board += nodes.paragraph("", "", self.link("doc", f"/{chapter}"),
                                     classes=["verdict-chapter"])
            board += table(["Id", "Claim", "Verdict"], [
                [nodes.Text(claim.id),
                 self.link("ref", f"claim-{claim.id.lower()}", claim.statement),
                 verdict(claim, "true if …" if claim.word == "true if" else claim.verdict)]
                for claim in claims])
        return [board]


class ClaimsLedger(LedgerDirective):
    """`{claims-ledger}`: every claim with source, plane, chapter and the code of its tests."""

    def run(self) -> list[nodes.Node]:
        tests = find_tests(Path(self.env.srcdir))
        return [self.box(
            claim, f"ledger-{claim.id}",
            self.fine_print(f"Source: {claim.source}. Plane: {claim.plane}. Argued at ",
                            self.link("ref", f"claim-{claim.id.lower()}", f"claim {claim.id}"),
                            " in ", self.link("doc", f"/{claim.chapter}"), "."),
            # A test that the ledger lacks is reported when the links are checked; a test of two
            # claims is shown at the first.
            *(self.test_source(tests.pop(id)) if id in tests else self.test_link(id)
              for id in claim.tests)) for claim in self.claims.values()]

    def test_source(self, test: ClaimTest) -> nodes.container:
        """The code of a test, folded; docutils has no node for HTML's details."""
        file = test.id.partition("::")[0]
        self.env.note_dependency(file)
        opening = f"<details><summary>{html.escape(test.name)}</summary>"
        folded = nodes.container("", nodes.raw("", opening, format="html"),
                                 self.fine_print("In ", nodes.literal("", file), ":"),
                                 nodes.literal_block(test.source, test.source, language="python"),
                                 nodes.raw("", "</details>", format="html"),
                                 classes=["claim-test"])
        return self.anchor(folded, f"ledger-{test.name}", test.name)


def css_class(claim: Claim) -> str:
    return "verdict-" + claim.word.replace(" ", "-")


def verdict(claim: Claim, words: str) -> nodes.inline:
    """The verdict in words; the style sheet adds colour and a sign."""
    return nodes.inline("", words, classes=["verdict", css_class(claim)])


def table(head: list[str], rows: list[list[nodes.Node]]) -> nodes.table:
    """A plain table of one-node cells."""
    def row(cells):
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += nodes.thead("", row(map(nodes.Text, head)))
    group += nodes.tbody("", *map(row, rows))
    return nodes.table("", group)


def read_ledger(app) -> None:
    """Load the ledger for the directives, and warn of every broken link."""
    root = Path(app.srcdir)
    try:
        claims = load(root / LEDGER)
    except (LedgerError, OSError) as error:
        raise ExtensionError(str(error)) from error
    app.env.claims_ledger = {claim.id: claim for claim in claims}
    for link in broken_links(claims, root):
        logging.getLogger(__name__).warning(link, type="claims")


def add_style(app, config) -> None:
    config.html_static_path.append(str(Path(__file__).parent / "assets" / STYLE))


def setup(app) -> dict:
    app.connect("config-inited", add_style)
    app.connect("builder-inited", read_ledger)
    app.add_css_file(STYLE)
    app.add_directive("claim", ClaimBox)
    app.add_directive("verdict-board", VerdictBoard)
    app.add_directive("claims-ledger", ClaimsLedger)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
