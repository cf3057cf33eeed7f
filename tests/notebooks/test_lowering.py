"""MyST in, Markdown out that any notebook viewer draws; nothing raw ever passes through."""

import re

import pytest

from bookbuild.files import replace
from bookbuild.lookup import Book
from bookbuild.lowering import lower
from bookbuild.myst import MystError

LABELLED = """\
(start)=
# Small

$$
S = QK^\\top
$$ (scores)

```{prf:theorem} Cancels
:label: cancels
It does.
```

```{prf:lemma}
:label: first
It must.
```

```{exercise} By hand
:label: by-hand
Try.
```
"""


def add_page(root, name, text):
    """Add a page to the small book, behind the others."""
    replace(root / f"chapters/{name}.md", text)
    toc = (root / "_toc.yml").read_text()
    replace(root / "_toc.yml", f"{toc}  - file: chapters/{name}\n")


@pytest.fixture
def book(root):
    """The small book, open at its chapter."""
    add_page(root, "small", LABELLED)
    return Book(root).opened("small")


@pytest.fixture
def published(root, book):
    """The small book once its repository has an address."""
    replace(root / "pyproject.toml", '[project.urls]\nRepository = "https://github.com/Me/qkv"\n')
    return Book(root).opened("small")


BLOCKS = {
    "theorem": (
        "```{prf:theorem} Cancels\n:label: cancels\nIt *does*.\n```",
        "> **Theorem 1 (Cancels)**\n>\n> It *does*.",
    ),
    "each kind counts on its own": (
        "```{prf:lemma}\n:label: first\nIt must.\n```",
        "> **Lemma 1**\n>\n> It must.",
    ),
    "unnumbered": (
        "```{prf:remark} On rows\n:nonumber:\nSo.\n```",
        "> **Remark (On rows)**\n>\n> So.",
    ),
    "proof": ("```{prf:proof}\nBy {eq}`scores`.\n```", "*Proof.* By (1). ∎"),
    "proof that ends in a formula": (
        ":::{prf:proof}\nSo\n\n$$\na\n$$\n:::",
        "*Proof.* So\n\n$$\na \\qquad\\blacksquare\n$$",
    ),
    "formulas in a quotation stay on one line": (
        "```{note}\n$$\na\n> b\n$$\n\nand $c +\nd$\n```",
        "> **Note**\n>\n> $$ a > b $$\n>\n> and $c + d$",
    ),
    "exercise": (
        "```{exercise} By hand\n:label: by-hand\nTry.\n```",
        "> **Exercise 1 (By hand)**\n>\n> Try.",
    ),
    "solution": (
        "````{solution} by-hand\n:class: dropdown\n```python\nx = 1\n```\n````",
        "<details>\n<summary>Solution to Exercise 1</summary>\n\n"
        "```python\nx = 1\n```\n\n</details>",
    ),
    "solution without the class": (
        "```{solution} by-hand\nSo.\n```",
        "<details>\n<summary>Solution to Exercise 1</summary>\n\nSo.\n\n</details>",
    ),
    "folded note": (
        ":::{admonition} Why $k$ & `b`?\n:class: tip dropdown\nSo.\n:::",
        "<details>\n<summary>Why $k$ &amp; b?</summary>\n\nSo.\n\n</details>",
    ),
    "hint inside an exercise": (
        "````{exercise} By hand\n:label: by-hand\n```{hint}\n:class: dropdown\nSo.\n```\n````",
        "> **Exercise 1 (By hand)**\n>\n> <details>\n> <summary>Hint</summary>\n>\n> So.\n>\n"
        "> </details>",
    ),
    "admonition": (
        "```{admonition} What do you *expect*?\nGuess.\n```",
        "> **What do you *expect*?**\n>\n> Guess.",
    ),
    "note that starts on its first line": (
        ":::{note} One {term}`softmax`.\n:::",
        "> **Note**\n>\n> One softmax.",
    ),
    "tip": (":::{tip}\nTry.\n:::", "> **Tip**\n>\n> Try."),
    "warning": ("```{warning}\nNo.\n```", "> **Warning**\n>\n> No."),
    "see also": ("```{seealso}\nMore.\n```", "> **See also**\n>\n> More."),
    "colon fences inside one another": (
        "::::{note}\nA\n:::{tip}\nB\n:::\n::::",
        "> **Note**\n>\n> A\n>\n> > **Tip**\n> >\n> > B",
    ),
    "verdict box": (
        "```{claim} B7\n```",
        "> **Claim B7: true**\n>\n> The key bias cancels.\n>\n> *Why.* A softmax ignores $c$.",
    ),
    "numbered formula": ("$$\nS = QK^\\top\n$$ (scores)", "$$\nS = QK^\\top \\tag{1}\n$$"),
    "formula as a directive": (
        "```{math}\n:label: scores\nS\n```",
        "$$\nS \\tag{1}\n$$",
    ),
    "rows": (
        "```{math}\na &= b \\\\\nc &= d\n```",
        "$$\n\\begin{aligned}\na &= b \\\\\nc &= d\n\\end{aligned}\n$$",
    ),
    "a matrix needs no other environment": (
        "$$\n\\begin{pmatrix} a \\\\ b \\end{pmatrix}\n$$",
        "$$\n\\begin{pmatrix} a \\\\ b \\end{pmatrix}\n$$",
    ),
    "bare environment": (
        "\\begin{align*}\na &= b\n\\end{align*}",
        "$$\n\\begin{aligned}\na &= b\n\\end{aligned}\n$$",
    ),
    "code block": ("```{code-block} python\nx = 1\n```", "```python\nx = 1\n```"),
    "table": (
        "```{table} Sizes\n| a |\n|---|\n| 1 |\n```",
        "**Sizes**\n\n| a |\n|---|\n| 1 |",
    ),
    "target, comment, break": ("(here)=\n\n% hidden\n\nText\n\n+++\n\nmore", "Text\n\nmore"),
    "plain Markdown": (
        "## Head\n\n1. one\n2. two\n\n| a |\n|---|\n| b |\n\n> quoted\n\n---",
        "## Head\n\n1. one\n2. two\n\n| a |\n|---|\n| b |\n\n> quoted\n\n---",
    ),
    "code is left alone": (
        "`{ref}` and\n\n```python\nx = '{ref}`a`'\n```\n\n- a\n\n  ```\n  {doc}`b`\n  ```",
        "`{ref}` and\n\n```python\nx = '{ref}`a`'\n```\n\n- a\n\n  ```\n  {doc}`b`\n  ```",
    ),
}

ROLES = {
    "{ref}`cancels`": "Theorem 1",
    "{prf:ref}`cancels`": "Theorem 1",
    "{numref}`by-hand`": "Exercise 1",
    "{ref}`the theorem <cancels>`": "the theorem",
    "{ref}`start`": "Small",
    "{ref}`the-table`": "Notation",
    "{ref}`claim-b7`": "claim B7",
    "{eq}`scores`": "(1)",
    "{eq}`these scores <scores>`": "(1)",
    "{doc}`notation`": "Notation",
    "{doc}`/chapters/appendix/claims`": "Claims ledger",
    "{doc}`the table <notation>`": "the table",
    "{term}`softmax`": "softmax",
    "{term}`weights <attention weights>`": "weights",
    "{math}`x^2`": "$x^2$",
    "{sub}`2`": "<sub>2</sub>",
    "{func}`~qkvlib.attention`": "`qkvlib.attention`",
    "{py:func}`qkvlib.softmax`": "`qkvlib.softmax`",
    "{cite:t}`cordonnier`": "[Cordonnier et al. (2020)](https://arxiv.org/abs/2006.16362)",
    "{cite}`benzecri`": "(Benzécri and de Jong, 1982)",
    "{cite:p}`benzecri,cordonnier`": "(Benzécri and de Jong, 1982; "
    "[Cordonnier et al., 2020](https://arxiv.org/abs/2006.16362))",
    "[the table](notation.md)": "the table",
    "[](#cancels)": "Theorem 1",
    "[there](https://example.org/a)": "[there](https://example.org/a)",
    "$a[i](j)$ stays": "$a[i](j)$ stays",
}


@pytest.mark.parametrize(("myst", "plain"), BLOCKS.values(), ids=BLOCKS)
def test_each_block_has_a_plain_form(myst, plain, book):
    assert lower(myst, book) == plain


@pytest.mark.parametrize(("myst", "plain"), ROLES.items(), ids=ROLES)
def test_each_role_has_a_plain_form(myst, plain, book):
    assert lower(f"- See {myst}.", book) == f"- See {plain}."


def test_other_pages_are_links_once_the_book_has_an_address(published):
    text = "{ref}`cancels`, {doc}`notation`, [table](notation.md), {ref}`the-table`"
    site = "https://me.github.io/qkv/chapters/notation.html"
    assert lower(text, published) == (
        f"Theorem 1, [Notation]({site}), [table]({site}), [Notation]({site}#the-table)"
    )


REFUSED = {
    "```{glue} x\n```": "directive '{glue}'",
    "```{figure} a.png\n```": "directive '{figure}'",
    "```{verdict-board}\n```": "directive '{verdict-board}'",
    "{kbd:x}`a`": "role '{kbd:x}'",
    "{download}`a`": "role '{download}'",
    "{ref}`nowhere`": "nothing in the book is labelled 'nowhere'",
    "{doc}`nowhere`": "no page 'nowhere'",
    "{cite}`nobody`": "no entry 'nobody'",
    "```{claim} Z9\n```": "no claim 'Z9'",
    "```{prf:theorem} X\nSo.\n```": "needs a ':label:'",
    "- a\n\n  ```{note}\n  b\n  ```": "inside a list",
    "> :::{note}\n> b\n> :::": "inside a list or a quotation",
    "![a](a.png)": "image 'a.png'",
    "[see [a]](notation.md)": "a link into the book",
    "a {{ name }}": "a substitution",
    "a [^1]": "a footnote",
    "term\n: meaning": "a definition list",
    "{ref}`unfinished": "a role that does not end",
    ":::\nx": "a directive that does not end",
    "```{math}\na % b\n```": "no comment",
    "```{math}\na\n\nb\n```": "no empty line",
}


@pytest.mark.parametrize(("myst", "message"), REFUSED.items(), ids=REFUSED)
def test_what_has_no_plain_form_is_refused_by_name(myst, message, book):
    with pytest.raises(MystError, match=re.escape(message)):
        lower(myst, book)


OTHER = "# Other\n\n$$\na\n$$ (next)\n\n```{prf:lemma}\n:label: l\nSo.\n```\n"


def test_each_page_counts_from_one(root, book):
    add_page(root, "other", OTHER)
    other = Book(root).opened("other")
    assert lower("{eq}`next` {prf:ref}`l`", other) == "(1) Lemma 1"
    assert lower("{prf:ref}`that lemma <first>`, [try](#by-hand)", other) == "that lemma, try"


# Sphinx shows an equation by its number, whatever words come with it.
@pytest.mark.parametrize("bare", ["{prf:ref}`first`", "[](#by-hand)", "[that equation](#scores)"])
def test_the_number_of_another_page_needs_words(root, book, bare):
    add_page(root, "other", OTHER)
    with pytest.raises(MystError, match=r"stands on page 'small', and each page counts from 1"):
        lower(bare, Book(root).opened("other"))


def test_a_label_may_stand_only_once_in_the_book(root, book):
    add_page(root, "other", "(start)=\n# Other\n")
    with pytest.raises(MystError, match="'start' stands in small and in other"):
        Book(root).place("start")
