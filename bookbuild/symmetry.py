"""How symmetric forms get: `make record WHAT=symmetry` writes qkvlib/results/symmetry.json.

Six minutes on one core: small character models, trained, and the real weights that one package
ships. The chapter on asymmetry shows the record and trains one model of each kind for a while; a
test does so, too, and compares. Weights are read where the package is installed, else they stay as
recorded.
"""

import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

import torch

from bookbuild.benchmark import processor
from bookbuild.files import replace
from qkvlib.forms import symmetry_score
from qkvlib.language import OBJECTIVES, train
from qkvlib.results import as_text, recorded
from qkvlib.shipped import MINILM, layer_forms

RECORD = Path(__file__).parents[1] / "qkvlib" / "results" / "symmetry.json"
SEEDS, STEPS = range(5), [0, 100, 500, 1000, 2000]


def trained() -> dict:
    """Scores of the form of the whole layer, by objective: a list of seeds for each step."""
    torch.set_num_threads(1)
    forms, losses = train(SEEDS, STEPS, progress="characters")
    scores = symmetry_score(forms.sum(3))
    return {"seeds": len(SEEDS), "steps": STEPS, "objectives": {
        name: {"scores": scores[:, k].tolist(), "losses": losses[k].tolist()}
        for k, name in enumerate(OBJECTIVES)}}


def shipped() -> dict:
    """Scores of real weights by layer, and of its heads' queries with the next head's keys."""
    try:
        query, key = layer_forms()
    except ModuleNotFoundError as error:
        print(f"{error}: the weights' scores stay as they are.")
        return recorded("symmetry")["shipped"]
    next_key = [k[[*range(1, len(k)), 0]] for k in key]
    return {"package": MINILM, "version": version(MINILM),
            "layers": scores(query, key), "other heads": scores(query, next_key)}


def scores(query, key) -> list[float]:
    """Of the form of each layer, the sum over its heads."""
    return [float(symmetry_score((q @ k.swapaxes(-1, -2)).sum(0)))
            for q, k in zip(query, key, strict=True)]


if __name__ == "__main__":
    record = {"date": date.today().isoformat(), "python": platform.python_version(),
              "torch": version("torch"), "processor": processor(),
              "shipped": shipped(), "characters": trained()}
    replace(RECORD, as_text(record))
    print(f"Wrote {RECORD.relative_to(Path.cwd())}.")
