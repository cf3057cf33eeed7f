"""What is drawn has the same bytes in another process, whatever the order of its sets."""

import subprocess
import sys

import pytest

DRAWN = {
    "figure": """
import numpy as np
from qkvlib.figures import bars, heatmap, panels
first = heatmap(np.arange(12).reshape(3, 4) / 7, alt="x", rows="abc", title="t")
drawn = panels(first, bars([-.1, 1/3], alt="y"), alt="z", operators="+")
""",
    "explorer": """
from qkvlib.explore import explore
from qkvlib.figures import bars
draw = lambda a, b: bars([a / 7, a * b], alt=f"{a} {b}")
drawn = explore(draw, a=[1, 2], b=[.1, 3], labels={"a": "x", "b": "y"})
""",
}


@pytest.mark.parametrize("code", DRAWN.values(), ids=DRAWN)
def test_the_same_call_draws_the_same_bytes_in_another_process(code):
    python = [sys.executable, "-c", code + "print(drawn._repr_html_())"]
    runs = {subprocess.run(python, check=True, capture_output=True,
                           env={"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}).stdout
            for seed in ("1", "2")}
    assert len(runs) == 1 and b"viewBox" in runs.pop()
