"""Papers of references.bib as a reader of plain text names them: "Cordonnier et al. (2020)"."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pybtex.database import Entry, Person, parse_file
from pybtex.richtext import Text

from bookbuild.myst import MystError


class Paper(NamedTuple):
    """Authors ("de Jong and Benzécri"), year, and where to read it if that is known."""

    authors: str
    year: str
    url: str | None


def read_papers(path: Path) -> Mapping[str, Entry]:
    """Return the entries of a BibTeX file by their keys."""
    return parse_file(str(path), bib_format="bibtex").entries


def named_paper(key: str, entry: Entry) -> Paper:
    """Return how a paper is named; raises MystError if it has no author."""
    names = [surname(person) for person in entry.persons.get("author", [])]
    if not names:
        raise MystError(f"references.bib: '{key}' has no author")
    many = len(names) > 2 or names[-1] == "others"
    authors = f"{names[0]} et al." if many else " and ".join(names)
    return Paper(authors, entry.fields.get("year", "n.d."), web_address(entry.fields))


def surname(person: Person) -> str:
    """Return an author's family name without TeX: "de Jong", "Benzécri"."""
    parts = person.prelast_names + person.last_names
    return " ".join(str(Text.from_latex(part)) for part in parts)


def web_address(fields: Mapping[str, str]) -> str | None:
    """Return where a paper can be read: its own address, its DOI, or arXiv."""
    if "url" in fields:
        return fields["url"]
    if "doi" in fields:
        return f"https://doi.org/{fields['doi']}"
    return f"https://arxiv.org/abs/{fields['eprint']}" if "eprint" in fields else None
