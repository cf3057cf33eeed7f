"""What was measured, kept in chapters/appendix/benchmarks.json, and the page that shows it.

Each command that measures replaces its own part of the record and writes the page anew.
"""

import json
from datetime import date
from pathlib import Path

from bookbuild.files import replace

APPENDIX = Path(__file__).parents[1] / "chapters" / "appendix"
RECORD = APPENDIX / "benchmarks.json"
PAGE = APPENDIX / "benchmarks.md"

TEMPLATE = """\
---
myst:
  html_meta:
    description: >-
      How long this book's attention takes beside PyTorch's, as a ratio measured in one run, and how
      its pages load on a slow phone.
---

<!-- Written by `make benchmark` and `make benchmark-site` from benchmarks.json. -->

# Benchmarks

Times differ between machines and between two runs on one machine. What is shown are medians, each
with its day.

## Attention beside PyTorch's

`qkvlib.attention` is written to be read, once for NumPy and torch. What does that cost? Both
functions run in turn on the same tensors of {attention[heads]} heads of width {attention[width]},
forward and backward, on one thread; the table shows the medians of {attention[pairs]} runs each.
Only their ratio means something: PyTorch's function is compiled for the purpose and never writes
the weights down.

{attention_table}

Recorded on {attention[date]} with Python {attention[python]} and torch {attention[torch]} on a
processor that calls itself "{attention[processor]}".

## The pages of this site

One page of each kind, the longest, and the search: what a first visit loads, as it is sent
(compressed), and what Lighthouse makes of it on a simulated slow phone, as the median of
{site[runs]} visits. LCP is the time until the largest piece is drawn, TBT how long scripts block
the page, CLS how far things move while it loads; the scores run from 0 to 1. Errors count messages
and failed requests, and the findings of axe are broken rules of accessibility, in light and dark.

{site_table}

Recorded on {site[date]}.
"""


def write(part: str, figures: dict) -> None:
    """Replace one part of the record, "attention" or "site", by new figures, and write the page."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    record[part] = {"date": date.today().isoformat(), **figures}
    replace(RECORD, json.dumps(record, indent=1) + "\n")
    replace(PAGE, page(record))
    print(f"Wrote {PAGE}.")


def page(record: dict) -> str:
    """The page of the book that shows a record."""
    return TEMPLATE.format(
        **record,
        attention_table=table(
            "Time of qkvlib.attention over that of scaled_dot_product_attention", "attention-speed",
            [{"Batch × tokens": f"{row['batch']} × {row['tokens']}",
              "Causal": "yes" if row["causal"] else "no",
              "qkvlib, ms": f"{row['qkvlib']:.2f}", "PyTorch, ms": f"{row['pytorch']:.2f}",
              "Ratio": f"{row['qkvlib'] / row['pytorch']:.2f}"}
             for row in record["attention"]["rows"]]),
        site_table=table("Loading a page", "page-speed", record["site"]["rows"]))


def table(title: str, name: str, rows: list[dict]) -> str:
    """A table in MyST: its heading are the keys of the rows."""
    lines = [row for cells in [rows[0], *(row.values() for row in rows)]
             for row in ("* - " + "\n  - ".join(map(str, cells))).splitlines()]
    return "\n".join([f"```{{list-table}} {title}", ":header-rows: 1", f":name: {name}", "", *lines,
                      "```"])
