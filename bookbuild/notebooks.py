"""Commands for the chapters' notebooks.

    python -m bookbuild.notebooks sync       text and notebook to the same cells
    python -m bookbuild.notebooks execute    sync, then fresh outputs and the plain copy
    python -m bookbuild.notebooks plain      chapters/colab/NAME.ipynb anew
    python -m bookbuild.notebooks check      the static gate: every fault, with its cure
    python -m bookbuild.notebooks verify     each plain copy alone in an empty folder

Each takes the names of chapters; without names it takes all.
"""

import argparse
import sys

from nbclient.exceptions import CellExecutionError, DeadKernelError

from bookbuild.chapter import Chapter, as_json, chapters, read
from bookbuild.files import replace
from bookbuild.gate import faults
from bookbuild.lookup import Book
from bookbuild.myst import MystError
from bookbuild.pairing import PairingError, settle, sync
from bookbuild.plain import plain_copy
from bookbuild.running import execute, run_alone


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return 0, or 1 after saying what is wrong."""
    options = parser().parse_args(arguments)
    try:
        chosen = choose(options.names)
        return max([COMMANDS[options.command](chapter, options) for chapter in chosen])
    except (PairingError, MystError, CellExecutionError, DeadKernelError) as error:
        print(error, file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="python -m bookbuild.notebooks",
        description="Commands for the chapters' notebooks; without names they take all chapters.",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(name, help=command.__doc__, description=command.__doc__)
        sub.add_argument("names", nargs="*", metavar="NAME", help="a chapter (default: all)")
        if name in ("sync", "execute"):
            sub.add_argument(
                "--from",
                dest="source",
                choices=("notebook", "text"),
                help="which form to keep where both have changed",
            )
        if name == "verify":
            sub.add_argument(
                "--portable",
                action="store_true",
                help="on the plainest processor code: shows that outputs survive other machines",
            )
    return top


def choose(names: list[str]) -> list[Chapter]:
    """Return the chapters with these names, or all; raises PairingError for an unknown one."""
    known = {chapter.name: chapter for chapter in chapters()}
    if not known:
        raise PairingError("there is no notebook in chapters/ and no text in chapters/text/")
    for name in names:
        if name not in known:
            raise PairingError(f"no chapter is called '{name}': there is {', '.join(known)}")
    return [known[name] for name in names or known]


def sync_command(chapter: Chapter, options: argparse.Namespace) -> int:
    """bring notebook and text to the same cells; outputs of unchanged cells stay"""
    print(f"{chapter.name}: {sync(chapter, options.source)}")
    return 0


def execute_command(chapter: Chapter, options: argparse.Namespace) -> int:
    """sync, run every cell in a fresh kernel, store the outputs, make the plain copy"""
    sync_command(chapter, options)
    fresh = execute(
        read(chapter.notebook), lambda done: print(f"{chapter.name}: {done}", flush=True)
    )
    settle(chapter, fresh, "executed")  # the text, too: a picture may have new words
    return plain_command(chapter, options)


def plain_command(chapter: Chapter, options: argparse.Namespace) -> int:
    """write the plain copy for Colab and for download"""
    try:
        copy = plain_copy(read(chapter.notebook), book(chapter).opened(chapter.name))
    except MystError as error:
        raise MystError(f"{chapter.name}: {error}") from None
    changed = replace(chapter.colab, as_json(copy))
    print(f"{chapter.name}: plain copy {'written' if changed else 'unchanged'}")
    return 0


def check_command(chapter: Chapter, options: argparse.Namespace) -> int:
    """list every fault that can be seen without running a notebook"""
    found = list(faults(chapter, book(chapter)))
    print("\n".join(found) if found else f"{chapter.name}: no fault")
    if found:
        print("The cures in quotes are commands of python -m bookbuild.notebooks.")
    return int(bool(found))


def verify_command(chapter: Chapter, options: argparse.Namespace) -> int:
    """compare every stored output with a fresh run, alone in an empty folder, without network"""
    if not chapter.colab.exists():
        raise PairingError(f"{chapter.name} has no plain copy yet: run 'plain'")
    run = run_alone(chapter.colab, portable=options.portable)
    outcome = "same outputs" if run.passed else f"differs\n{run.output}"
    print(f"{chapter.name}: {run.seconds:.0f} s, at most {run.peak:.0f} MB: {outcome}")
    return int(not run.passed)


def book(chapter: Chapter) -> Book:
    """Return the book that a chapter belongs to."""
    return Book(chapter.folder.parent)


COMMANDS = {
    "sync": sync_command,
    "execute": execute_command,
    "plain": plain_command,
    "check": check_command,
    "verify": verify_command,
}

if __name__ == "__main__":
    sys.exit(main())
