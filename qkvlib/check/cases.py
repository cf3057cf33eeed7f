"""Random inputs on which a learner's function is tried."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    """One set of inputs, by name, and what is special about it.

    A trait completes the sentence "wrong only when …", which is how a checker says that a
    solution is right for two-dimensional arrays or for float32 alone.
    """

    inputs: dict[str, np.ndarray]
    traits: frozenset[str] = frozenset()

    def __str__(self):
        shapes = ", ".join(f"{name} {array.shape}" for name, array in self.inputs.items())
        return f"{shapes}, {next(iter(self.inputs.values())).dtype}"


def random_cases(shapes, *, seed=0):
    """Draw cases: every set of shapes in float64 and in float32.

    `shapes` is a list of pairs (traits, {name: shape}). Magnitudes are drawn for each array,
    since some wrong functions come close to the right one while scores are small; so are
    memory layouts, since a transposed array need not be contiguous.
    """
    rng = np.random.default_rng(seed)
    return [_draw(rng, traits, named, dtype)
            for traits, named in shapes for dtype in (np.float64, np.float32)]


def _draw(rng, traits, shapes, dtype):
    inputs, traits = {}, {*traits, f"the inputs are {np.dtype(dtype)}"}
    for name, shape in shapes.items():
        array = (rng.uniform(0.7, 2) * rng.standard_normal(shape)).astype(dtype)
        if array.ndim > 1 and rng.random() < 0.4:
            array = np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
        if not array.flags.c_contiguous:
            traits.add("an input is not contiguous")
        inputs[name] = array
    return Case(inputs, frozenset(traits))
