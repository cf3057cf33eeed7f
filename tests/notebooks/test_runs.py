"""The one run of every chapter: its plain copy, alone in an empty folder, under strict nbval.

Alone means: no other file, no network, and of the repository only a copy of `qkvlib`, first on
PYTHONPATH. The copy has the chapter's own code and outputs, so the run counts for both.
"""

import pytest

from bookbuild.chapter import chapters, read
from bookbuild.running import run_alone

MEMORY = 1500  # MB, of a reader's smallest machine

CHAPTERS = chapters()


def name(chapter):
    """Return what a test of the chapter is called."""
    return chapter.name


def code(path):
    """Return each code cell's source, outputs, number, and the tags that nbval heeds."""
    return [
        (cell.source, cell.outputs, cell.execution_count, cell.metadata.get("tags", []))
        for cell in read(path).cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=name)
def test_the_plain_copy_has_the_chapters_code_and_outputs(chapter):
    assert code(chapter.notebook) == code(chapter.colab) != []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=name)
def test_no_output_is_excused_from_comparison(chapter):
    tags = {tag for *_, tags in code(chapter.notebook) for tag in tags}
    assert not [tag for tag in tags if tag.startswith("nbval")]
    assert "NBVAL_" not in chapter.notebook.read_text(encoding="utf-8")


@pytest.mark.parametrize("chapter", CHAPTERS, ids=name)
def test_the_chapter_runs_alone_and_gives_what_is_stored(chapter, record_property):
    run = run_alone(chapter.colab)
    record_property("measured", f"{chapter.name}: {run.seconds:.0f} s, {run.peak:.0f} MB at most")
    assert run.passed, run.output
    assert run.peak <= MEMORY, f"{run.peak:.0f} MB, more than {MEMORY}"


def test_there_is_a_chapter_to_run():
    assert CHAPTERS, "chapters/ holds no notebook: nothing would be tested"
