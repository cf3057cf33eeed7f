"""How long `attention` takes beside PyTorch's own: `make benchmark` writes a page of the book.

A speed is a ratio of medians within one run, forward and backward, on one thread: seconds differ
between machines, and between two runs on one machine. Nothing here is a test.
"""

import json
import platform
import statistics
import sys
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

import torch
from tqdm import tqdm

from bookbuild.files import replace
from qkvlib import attention

APPENDIX = Path(__file__).parents[1] / "chapters" / "appendix"
RECORD = APPENDIX / "benchmarks.json"
PAGE = APPENDIX / "benchmarks.md"

HEADS, WIDTH = 4, 64  # the width of a head in BERT, GPT-2 and ViT-B
SIZES = [(64, 4), (64, 16), (16, 64), (4, 256), (1, 1024)]  # batch, tokens
PAIRS = 60  # runs of each function, in turn, for every row
WARM_UP = 5

INTRODUCTION = """\
---
myst:
  html_meta:
    description: >-
      How long this book's attention takes beside PyTorch's, forward and backward, as a ratio
      measured in one run.
---

<!-- Written by `make benchmark` from benchmarks.json. -->

# Benchmarks

`qkvlib.attention` is written to be read, once for NumPy and torch. What does that cost? Both
functions run in turn on the same tensors of {heads} heads of width {width}, forward and backward,
on one thread; the table shows the medians of {pairs} runs each. Only their ratio means something:
PyTorch's function is compiled for the purpose and never writes the weights down, so its causal form
skips half of the work, while ours computes every score and masks.

```{{list-table}} Time of qkvlib.attention over that of scaled_dot_product_attention
:header-rows: 1
:name: attention-speed

* - Batch × tokens
  - Causal
  - qkvlib, ms
  - PyTorch, ms
  - Ratio
{rows}
```

Recorded on {date} with Python {python} and torch {torch} on a processor that calls itself
"{processor}".
"""


def measure() -> dict:
    """Return the record: what was measured, where, with which versions, on which day."""
    torch.set_num_threads(1)
    rows = [compare(batch, tokens, causal)
            for causal in (False, True) for batch, tokens in tqdm(SIZES, desc=f"{causal=}")]
    return {"date": date.today().isoformat(), "python": platform.python_version(),
            "torch": version("torch"), "processor": processor(), "rows": rows}


def compare(batch, tokens, causal) -> dict:
    """Median milliseconds of both functions for one size, taken in turn."""
    *tensors, downstream = torch.randn(4, batch, HEADS, tokens, WIDTH)
    times = {"qkvlib": [], "pytorch": []}
    for run in range(WARM_UP + PAIRS):
        for name, function, option in [
            ("qkvlib", attention, {"causal": causal}),
            ("pytorch", torch.nn.functional.scaled_dot_product_attention, {"is_causal": causal}),
        ]:
            query, key, value = (x.clone().requires_grad_() for x in tensors)
            start = time.perf_counter()
            function(query, key, value, **option).backward(downstream)
            if run >= WARM_UP:
                times[name].append(1000 * (time.perf_counter() - start))
    return {"batch": batch, "tokens": tokens, "causal": causal,
            **{name: round(statistics.median(ms), 3) for name, ms in times.items()}}


def processor() -> str:
    """What the processor calls itself, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def page(record: dict) -> str:
    """The page of the book that shows a record."""
    rows = "\n".join(
        f"* - {row['batch']} × {row['tokens']}\n  - {'yes' if row['causal'] else 'no'}\n"
        f"  - {row['qkvlib']:.2f}\n  - {row['pytorch']:.2f}\n"
        f"  - {row['qkvlib'] / row['pytorch']:.2f}"
        for row in record["rows"])
    return INTRODUCTION.format(rows=rows, heads=HEADS, width=WIDTH, pairs=PAIRS,
                               **{k: v for k, v in record.items() if k != "rows"})


if __name__ == "__main__":
    if "--page" not in sys.argv:
        replace(RECORD, json.dumps(measure(), indent=1) + "\n")
    replace(PAGE, page(json.loads(RECORD.read_text(encoding="utf-8"))))
    print(f"Wrote {PAGE.relative_to(Path.cwd())}.")
