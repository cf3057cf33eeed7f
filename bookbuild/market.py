"""The big race of tied heads: `make record WHAT=market` trains them all and writes their record.

Twenty minutes on one core. The chapter on role decoupling shows the record and trains a small part
of it anew; a test trains one seed of it again and compares.
"""

import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

import torch
from tqdm import tqdm

from bookbuild.benchmark import processor
from bookbuild.files import replace
from qkvlib.race import race
from qkvlib.results import as_text
from qkvlib.tying import VARIANTS, count, fresh

RECORD = Path(__file__).parents[1] / "qkvlib" / "results" / "market.json"
KINDS = ["self", "mutual", "directed", "chain", "star", "random"]
SEEDS, STEPS, RATES = range(8), 1000, (0.01, 0.03, 0.1)
WIDTH = 12  # of a head; below, the widths at which a tied head has as many numbers as a full one
MATCHED = {"K = Q": 18, "symmetric": 18, "K = V": 18, "all tied": 36}
NARROW = [2, 4, 6]

TABLE = {name: (roles, WIDTH) for name, roles in VARIANTS.items()}
TABLE |= {f"{name}, d_k = {d_k}": (VARIANTS[name], d_k) for name, d_k in MATCHED.items()}
WIDTHS = {f"{name}, d_k = {d_k}": (VARIANTS[name], d_k)
          for name in ("full", "V = X", "K = V", "Q = V", "all tied") for d_k in NARROW}


def measure() -> dict:
    """Return the record: scores by map and variant, how, where, with which versions, and when."""
    torch.set_num_threads(1)
    maps = {kind: scores(TABLE, kind) for kind in tqdm(KINDS, desc="maps of the market")}
    return {"date": date.today().isoformat(), "python": platform.python_version(),
            "torch": version("torch"), "processor": processor(), "seeds": len(SEEDS),
            "steps": STEPS, "rates": list(RATES),
            "parameters": {name: count(fresh(roles, [0], d_k=d_k))
                           for name, (roles, d_k) in TABLE.items()},
            "maps": maps, "widths": scores(WIDTHS, "directed")}


def scores(entries, kind) -> dict:
    """The scores of one race, as they stand in the record."""
    found = race(entries, kind, seeds=SEEDS, rates=RATES, steps=STEPS, progress=kind)
    return {name: score._asdict() for name, score in found.items()}


if __name__ == "__main__":
    replace(RECORD, as_text(measure()))
    print(f"Wrote {RECORD.relative_to(Path.cwd())}.")
