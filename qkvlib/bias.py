"""The three biases of attention: what each does to the scores, the weights, the output.

With rows as vectors, Q = X W_Q + b_Q and K = X W_K + b_K, the scores are a sum of four terms:

    √d_k · S = (X W_Q)(X W_K)ᵀ  +  1 (X W_K b_Q)ᵀ  +  (X W_Q b_K) 1ᵀ  +  (b_Q·b_K) 1 1ᵀ
               content             query bias         key bias           constant

The last two are constant along each row, and the softmax of a row ignores what is constant in it.
"""

import math
from typing import Any, NamedTuple

from array_api_compat import array_namespace

from .attention import softmax


class Terms(NamedTuple):
    """The four parts of the scores, each (..., n, m) and already divided by √d_k; they sum to S."""

    content: Any
    query_bias: Any
    key_bias: Any
    constant: Any


def four_terms(X, W_Q, W_K, b_Q, b_K, *, context=None):
    """Split the scores of biased queries and keys into the four terms of their product.

    Shapes: X (..., n, d_model), W_Q and W_K (d_model, d_k), b_Q and b_K (d_k,). Keys come from
    `context` (..., m, d_model) where it is given, else from X. Returns `Terms`, each (..., n, m).
    Raises ValueError where the widths of weights and biases differ.
    """
    named = {"W_Q": W_Q, "W_K": W_K, "b_Q": b_Q, "b_K": b_K}
    widths = {name: x.shape[-1] for name, x in named.items()}
    if len(set(widths.values())) != 1:
        raise ValueError(f"queries and keys need one width d_k; came {widths}")
    xp = array_namespace(X, W_Q, W_K, b_Q, b_K)
    query = X @ W_Q
    key = (X if context is None else context) @ W_K
    parts = (query @ key.mT,
             (key @ b_Q)[..., None, :],  # one number a key
             (query @ b_K)[..., :, None],  # one number a query
             xp.sum(b_Q * b_K)[None, None])
    scale = 1 / math.sqrt(b_Q.shape[-1])
    return Terms(*xp.broadcast_arrays(*(part * scale for part in parts)))


def query_bias_prior(key, b_Q, *, scale=None):
    """The prior over keys that a query bias amounts to: softmax of b_Q · k_j / √d_k.

    Shapes: key (..., m, d_k), b_Q (d_k,); returns (..., m), rows that sum to one.
    With it, weights with b_Q = prior × weights without b_Q, normalised again: every query
    starts from the same opinion of the keys and updates it by its own match.
    """
    if key.shape[-1] != b_Q.shape[-1]:
        raise ValueError(f"key and b_Q need one width d_k; came {tuple(key.shape)} "
                         f"and {tuple(b_Q.shape)}")
    return softmax((key @ b_Q) * (1 / math.sqrt(b_Q.shape[-1]) if scale is None else scale))


def fold_value_bias(b_V, W_O, b_O, weights):
    """The output bias that makes the value bias superfluous: b_O + c · b_V W_O.

    A row of weights that sums to c hands on c · b_V whatever it attends to, so b_V can move
    behind the output projection, if c is the same for every row. For softmax c = 1.

    Shapes: b_V (d,), W_O (d, d_model), b_O (d_model,) or None, weights (..., n, m); returns
    (d_model,). With several heads d runs over all of them, as in W_O.
    Raises ValueError where the rows of `weights` have different sums: dropout, a sink or +1 in
    the denominator, sigmoid weights, a query that may attend to nothing.
    """
    if b_V.shape[-1] != W_O.shape[-2]:
        raise ValueError(f"b_V must be as wide as W_O is high; came {tuple(b_V.shape)} "
                         f"and {tuple(W_O.shape)}")
    xp = array_namespace(b_V, W_O, weights)
    sums = xp.sum(weights, axis=-1)
    low, high = float(xp.min(sums)), float(xp.max(sums))
    slack = 100 * xp.finfo(weights.dtype).eps
    if not high - low <= slack * max(1.0, abs(high)):
        raise ValueError(f"rows of weights sum to {low:.3g} … {high:.3g}, so b_V reaches the "
                         "output in different amounts and cannot be folded; keep b_V, or make the "
                         "rows sum to one (softmax without dropout, sink or empty rows)")
    folded = (low + high) / 2 * (b_V @ W_O)
    return folded if b_O is None else b_O + folded
