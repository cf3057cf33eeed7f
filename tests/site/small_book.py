"""A small book in a folder of its own, with a history, for what depends on address or git."""

import os
import subprocess
from io import StringIO
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

ADDRESS = "https://github.com/Some-Teacher/class"
SITE = "https://some-teacher.github.io/class/"
EXTENSIONS = ["myst_parser", "bookbuild.finding_figure", "bookbuild.finding_terms",
              "bookbuild.finding_moves", "bookbuild.finding", "sphinx_last_updated_by_git"]
LAYOUT = """{% extends "!layout.html" %}
{% block extrahead %}{% include "finding-head.html" %}{% endblock %}
{% block footer %}{{ last_updated }} {% include "finding-footer.html" %}{% endblock %}"""
HEAD = '---\nmyst:\n  html_meta:\n    description: What & why, in "{0}".\n---\n'
GLOSSARY = """---
first_uses: {value: values}
myst: {html_meta: {description: Terms.}}
---
# Glossary

```{glossary}
key
  What is found.

key bias
k_bias
  A shift of keys.

query
  What finds.

value
  What is handed over.
```
"""
PAGES = {
    "first": "# First key\n\nWords. {doc}`second`, {doc}`glossary`\n\n"
             "```{toctree}\nsecond\nglossary\n```\n",
    "second": "# Second query\n\nNo value of `key` or [key](first) or *Key bias* is a keyhole. "
              "A k_bias, keys, keys: two {term}`queries <query>`, a query, values.\n\n"
              "## A key\n\n> Another value.\n",
}


def write(root: Path, url: str, pages: dict | None = None) -> Path:
    """Write the small book; `url` is the address of its repository."""
    (root / "templates").mkdir(parents=True)
    (root / "templates" / "layout.html").write_text(LAYOUT)
    (root / "pyproject.toml").write_text(f'[project.urls]\nRepository = "{url}"\n')
    (root / "glossary.md").write_text(GLOSSARY)
    for name, text in (pages or PAGES).items():
        (root / f"{name}.md").write_text(HEAD.format(name) + text)
    return root


def commit(root: Path, day: str) -> None:
    """Put everything into git on a day of the past."""
    day = f"{day}T12:00:00+0000"
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
           for what, value in [("NAME", "n"), ("EMAIL", "n@example.org"), ("DATE", day)]}
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", day]):
        subprocess.run(["git", *command], cwd=root, check=True, env=os.environ | who)


def build(root: Path, out: Path) -> tuple[Path, str]:
    """Build the small book; return the site, and every warning."""
    settings = {
        "extensions": EXTENSIONS, "templates_path": ["templates"], "root_doc": "first",
        "project": "Small book", "html_title": "Small book", "html_theme": "basic",
        "html_last_updated_fmt": "%-d %B %Y", "git_last_updated_timezone": "UTC",
        "suppress_warnings": ["git.command_not_found", "git.subprocess_error", "git.too_shallow"],
    }
    warnings = StringIO()
    with docutils_namespace():
        app = Sphinx(root, None, out, out / ".doctrees", "html", settings, status=None,
                     warning=warnings)
        app.build()
    return out, warnings.getvalue()
