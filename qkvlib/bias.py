"""The three biases of attention: what each does to the scores, the weights, the output.

With rows as vectors, Q = X W_Q + b_Q and K = X W_K + b_K, the scores are a sum of four terms:

    √d_k · S = (X W_Q)(X W_K)ᵀ  +  1 (X W_K b_Q)ᵀ  +  (X W_Q b_K) 1ᵀ  +  (b_Q·b_K) 1 1ᵀ
               content             query bias         key bias           constant

The last two are constant along each row, and the softmax of a row ignores what is constant in it.
"""

import math
from typing import Any, NamedTuple

from array_api_compat import to_device

from .attention import softmax
from .shapes import check_arrays, check_scale, check_widths


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
    Raises TypeError and ValueError, as `attention` does, for arrays that do not fit together.
    """
    context = X if context is None else context
    xp = check_arrays(X=X, W_Q=W_Q, W_K=W_K, b_Q=b_Q, b_K=b_K, context=context)
    check_widths(X=(X, "*nd"), context=(context, "*md"), W_Q=(W_Q, "dk"), W_K=(W_K, "dk"),
                 b_Q=(b_Q, "k"), b_K=(b_K, "k"))
    query, key = X @ W_Q, context @ W_K
    parts = (query @ key.mT,
             (key @ b_Q)[..., None, :],  # one number a key
             (query @ b_K)[..., :, None],  # one number a query
             xp.sum(b_Q * b_K)[None, None])
    scale = 1 / math.sqrt(b_Q.shape[-1])
    ones = xp.ones_like(parts[0])  # so that each term has memory of its own
    return Terms(*(part * scale * ones for part in parts))


def query_bias_prior(key, b_Q, *, scale=None):
    """The prior over keys that a query bias amounts to: softmax of b_Q · k_j / √d_k.

    Shapes: key (..., m, d_k), b_Q (d_k,); returns (..., m), rows that sum to one.
    With it, weights with b_Q = prior × weights without b_Q, normalised again: every query
    starts from the same opinion of the keys and updates it by its own match.
    """
    check_arrays(key=key, b_Q=b_Q)
    check_widths(key=(key, "*mk"), b_Q=(b_Q, "k"))
    scale = 1 / math.sqrt(b_Q.shape[-1]) if scale is None else check_scale(scale)
    return softmax((key @ b_Q) * scale)


def fold_value_bias(b_V, W_O, b_O, weights):
    """The output bias that makes the value bias superfluous: b_O + c · b_V W_O.

    A row of weights that sums to c hands on c · b_V whatever it attends to, so b_V can move
    behind the output projection, if c is the same for every row. For softmax c = 1.

    Shapes: b_V (d,), W_O (d, d_model), b_O (d_model,) or None, weights (..., n, m); returns
    (d_model,). With several heads d runs over all of them, as in W_O.
    Raises ValueError where the rows of `weights` have different sums: dropout, a sink or +1 in
    the denominator, sigmoid weights, a query that may attend to nothing.
    """
    xp = check_arrays(b_V=b_V, W_O=W_O, weights=weights)
    check_widths(b_V=(b_V, "d"), W_O=(W_O, "de"),
                 **({} if b_O is None else {"b_O": (b_O, "e")}))
    # A row of n weights carries n roundings: in a wider type their sum adds none of its own. On the
    # CPU, since not every device has that type: Apple's GPUs lack it.
    sums = xp.sum(xp.astype(to_device(weights, "cpu"), xp.float64), axis=-1)
    total = float(xp.mean(sums)) if math.prod(sums.shape) else 1.0
    eps = xp.finfo(weights.dtype).eps
    slack = min(1e-3, 100 * eps) + eps  # what softmax itself leaves; in half precision no more
    if bool(xp.any(~(abs(sums - total) <= slack * max(1.0, abs(total))))):
        low, high = float(xp.min(sums)), float(xp.max(sums))
        raise ValueError(f"rows of weights sum to {low:.4g} … {high:.4g}, so b_V reaches the "
                         "output in different amounts and cannot be folded; keep b_V, or make the "
                         "rows sum to one (softmax without dropout, sink or empty rows)")
    folded = total * (b_V @ W_O)
    return folded if b_O is None else b_O + folded
