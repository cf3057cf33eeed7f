"""How long `attention` takes beside PyTorch's own: `make benchmark` writes it into the book.

A speed is a ratio of medians within one run, forward and backward, on one thread: seconds differ
between machines, and between two runs on one machine. Nothing here is a test.
"""

import platform
import statistics
import time
from importlib.metadata import version
from pathlib import Path

import torch
from tqdm import tqdm

from bookbuild import benchmark_page
from qkvlib import attention

HEADS, WIDTH = 4, 64  # the width of a head in BERT, GPT-2 and ViT-B
SIZES = [(64, 4), (64, 16), (16, 64), (4, 256), (1, 1024)]  # batch, tokens
PAIRS = 60  # runs of each function, in turn, for every row
WARM_UP = 5


def measure() -> dict:
    """Return what was measured, how, where, and with which versions."""
    torch.set_num_threads(1)
    rows = [compare(batch, tokens, causal)
            for causal in (False, True) for batch, tokens in tqdm(SIZES, desc=f"{causal=}")]
    return {"heads": HEADS, "width": WIDTH, "pairs": PAIRS, "python": platform.python_version(),
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


if __name__ == "__main__":
    benchmark_page.write("attention", measure())
