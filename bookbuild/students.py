"""Students of the chapter on low rank: `make record WHAT=students` writes their record anew.

Some ten minutes on one core. The chapter shows the record and teaches a small part of it anew; a
test teaches one seed of it again and compares.
"""

import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

import torch
from tqdm import tqdm

from bookbuild.benchmark import processor
from bookbuild.files import replace
from qkvlib.results import as_text
from qkvlib.teacher import WIDTH, Student, compare

RECORD = Path(__file__).parents[1] / "qkvlib" / "results" / "students.json"
RANKS = [2, WIDTH]  # of the teacher
COUNTS = [20, 80, 160, 320]  # sequences to learn from
SEEDS = range(5)
SMALL, LARGE = 0.01, 1.0  # the starts
STUDENTS = {f"d_k = {k}": Student(k, SMALL) for k in (1, 2, 4, 8, WIDTH)}
STUDENTS |= {"free": Student(None, SMALL), "d_k = 2, large start": Student(2, LARGE),
             f"d_k = {WIDTH}, large start": Student(WIDTH, LARGE),
             "free, large start": Student(None, LARGE)}


def measure() -> dict:
    """Return the record: errors by teacher, count and student, how, where, and when."""
    torch.set_num_threads(1)
    cells = [(rank, count) for rank in RANKS for count in COUNTS]
    scores = {cell: compare(STUDENTS, rank=cell[0], count=cell[1], seeds=SEEDS)
              for cell in tqdm(cells, desc="teachers and counts")}
    return {"date": date.today().isoformat(), "python": platform.python_version(),
            "torch": version("torch"), "processor": processor(), "seeds": len(SEEDS),
            "errors": {str(rank): {str(count): {
                name: score._asdict() for name, score in scores[rank, count].items()}
                for count in COUNTS} for rank in RANKS}}


if __name__ == "__main__":
    replace(RECORD, as_text(measure()))
    print(f"Wrote {RECORD.relative_to(Path.cwd())}.")
