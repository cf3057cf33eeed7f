"""The commands as a contributor types them, on a small book."""

import pytest

from bookbuild import notebooks


@pytest.fixture
def run(small, monkeypatch, capsys):
    """Return a function that runs a command on the small book: its status and what it printed."""
    monkeypatch.setattr(notebooks, "chapters", lambda: [small])

    def run(*arguments):
        status = notebooks.main(list(arguments))
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return run


def edit(path, old, new):
    """Replace text in a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_from_an_edited_text_to_a_verified_notebook(small, run):
    assert run("check") == (0, "small: no fault\n")
    edit(small.text, "0.83", "0.91")
    status, printed = run("check")
    assert status == 1 and "notebook and text differ" in printed
    status, printed = run("execute", "small")
    assert status == 0
    assert printed.startswith("small: notebook from text\nsmall: cell 1 of 6 (")
    assert printed.endswith("small: plain copy written\n")
    assert "0.91" in small.notebook.read_text() and "0.83" not in small.notebook.read_text()
    assert run("check") == (0, "small: no fault\n")
    before = small.notebook.read_bytes(), small.colab.read_bytes()
    run("execute")
    assert (small.notebook.read_bytes(), small.colab.read_bytes()) == before
    status, printed = run("verify", "--portable")
    assert status == 0 and "MB: same outputs" in printed
    edit(small.colab, '"0.91\\n"', '"0.92\\n"')
    status, printed = run("verify")
    assert status == 1 and "Cell outputs differ" in printed


def test_a_cell_that_fails_leaves_the_outputs_alone(small, run):
    edit(small.text, "a = 1", "a = 1 / 0")
    run("sync")
    before = small.notebook.read_bytes(), small.colab.read_bytes()
    status, printed = run("execute")
    assert status == 1 and "ZeroDivisionError" in printed
    assert (small.notebook.read_bytes(), small.colab.read_bytes()) == before


def test_sync_asks_and_obeys(small, run):
    edit(small.text, "An idea.", "A text's idea.")
    edit(small.notebook, "An idea.", "A notebook's idea.")
    status, printed = run("sync")
    assert status == 1 and "--from notebook or --from text" in printed
    assert run("sync", "--from", "text") == (0, "small: notebook from text\n")


def test_an_unknown_chapter_is_named(run):
    assert run("check", "smal") == (1, "no chapter is called 'smal': there is small\n")


def test_markdown_without_a_plain_form_is_named(small, run):
    edit(small.text, "An idea.", "See {nosuch}`a`.")
    run("sync")
    status, printed = run("plain")
    assert status == 1 and "small: cell 1: role '{nosuch}'" in printed


def test_nothing_to_verify_says_so(small, run):
    small.colab.unlink()
    assert run("verify") == (1, "small has no plain copy yet: run 'plain'\n")


def test_an_empty_book_says_so(run, monkeypatch):
    monkeypatch.setattr(notebooks, "chapters", lambda: [])
    status, printed = run("check")
    assert status == 1 and "no notebook in chapters/" in printed
