"""The chapters' solutions are right, and every exercise has one."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from qkvlib import check

TEXTS = sorted((Path(__file__).parents[1] / "chapters" / "text").glob("*.md"))
FENCED = re.compile(r"^(`{3,})\{(exercise|solution)\}(.*?)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def directives(kind):
    """(chapter, label, body) of every exercise or solution in the book."""
    for path in TEXTS:
        for _, name, argument, body in FENCED.findall(path.read_text(encoding="utf-8")):
            if name == kind:
                label = argument.strip() or re.search(r":label: (\S+)", body)[1]
                yield path.stem, label, body


def test_every_exercise_has_a_solution_and_none_is_left_over():
    exercises = [entry[:2] for entry in directives("exercise")]
    assert len(exercises) == len(set(exercises)) >= 5
    assert sorted(exercises) == sorted(entry[:2] for entry in directives("solution"))


@pytest.mark.parametrize("chapter, label, body", list(directives("solution")),
                         ids=lambda value: "" if "\n" in value else value)
def test_solution_passes_its_own_check(chapter, label, body):
    code = ast.parse(re.search(r"^```python\n(.*?)^```$", body, re.MULTILINE | re.DOTALL)[1])
    last = code.body[-1]
    code.body[-1] = ast.Assign([ast.Name("result", ast.Store())], last.value)
    names = {"np": np, "torch": torch, "check": check}
    exec(compile(ast.fix_missing_locations(code), f"{chapter}: {label}", "exec"), names)
    assert names["result"].passed, names["result"]
