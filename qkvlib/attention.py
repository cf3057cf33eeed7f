"""Scaled dot-product attention, written once for NumPy arrays and torch tensors.

    scores  = query · keyᵀ / √d_k          who matches whom
    weights = softmax(scores) over keys    each query spends a budget of one
    output  = weights · value              what is handed over

Vaswani et al. 2017, equation 1. Vectors are rows, as everywhere in this book.
"""

import math

from array_api_compat import array_namespace, device, is_torch_namespace
from einops import rearrange

from .shapes import check_arrays, check_fits, check_heads, check_scale, check_shapes

BLOCK = 128  # queries: their scores with a thousand keys fit a processor's cache


def attention(query, key, value, *, mask=None, bias=None, causal=False, scale=None,
              heads=None, kv_heads=None, return_weights=False):
    """Mix the values: each query weighs the keys by a softmax of scaled dot products.

    Shapes
        query (..., n, d_k), key (..., m, d_k), value (..., m, d_v); leading axes broadcast.
        Returns the output (..., n, d_v) or, with `return_weights`, the pair (output, weights)
        with weights (..., n, m). A query that may attend to nothing gets a row of zeros.

    Parameters
        mask      boolean, broadcasts against the weights; True = this query may attend here.
        bias      real numbers added to the scaled scores (ALiBi, relative positions);
                  broadcasts against the weights.
        causal    query i sees keys 0 … i only, both counted from the start, as in PyTorch.
        scale     factor on the dot products; 1/√d_k unless given.
        heads     split the last axes into this many heads and join the outputs again:
                  query (..., n, heads·d_k), key (..., m, kv_heads·d_k),
                  value (..., m, kv_heads·d_v), output (..., n, heads·d_v),
                  weights (..., heads, n, m).
        kv_heads  heads of key and value; as many as `heads` unless given. Fewer is grouped-query
                  attention, one is multi-query: consecutive query heads share a key head.

    Raises
        TypeError for arrays of different kinds, dtypes or devices, or that are not real floats;
        ValueError for shapes that do not fit. Values are not inspected, so that the function
        can be traced, mapped (`torch.func.vmap`) and differentiated.
    """
    xp = check_arrays(query=query, key=key, value=value)
    group = None
    if heads is None and kv_heads is None:
        check_shapes(query, key, value)
    else:
        heads, kv_heads = check_heads(heads, kv_heads)
        check_shapes(query, key, value, heads, kv_heads)
        group = heads // kv_heads
        query = rearrange(query, "... n (h d) -> ... h n d", h=heads)
        key = rearrange(key, "... m (g d) -> ... g m d", g=kv_heads)
        value = rearrange(value, "... m (g d) -> ... g m d", g=kv_heads)
    query = query * (1 / math.sqrt(query.shape[-1]) if scale is None else check_scale(scale))

    if return_weights or mask is not None or bias is not None:
        output, weights = _mix(xp, query, key, value, group, mask, bias, 0 if causal else None)
    else:
        # Each query is on its own, so a long row of them is taken a block at a time; in a causal
        # order no key behind the block is looked at.
        blocks, (n, m) = [], (query.shape[-2], key.shape[-2])
        for first in range(0, max(n, 1), BLOCK):
            end = min(first + BLOCK, n)
            place, seen = (first, min(end, m)) if causal else (None, m)
            blocks.append(_mix(xp, query[..., first:end, :], key[..., :seen, :],
                               value[..., :seen, :], group, first=place)[0])
        output = blocks[0] if len(blocks) == 1 else xp.concat(blocks, axis=-2)
    output = output if heads is None else rearrange(output, "... h n d -> ... n (h d)")
    return (output, weights) if return_weights else output


def softmax(scores, *, axis=-1):
    """Exponentiate and normalise along one axis, safely for scores of any size.

    An entry of −inf gets weight 0. Where a whole row is −inf its weights are 0, not NaN, and
    so are the gradients. NumPy arrays and torch tensors of any shape with a real dtype.
    """
    xp = array_namespace(scores)
    peak = xp.max(scores, axis=axis, keepdims=True)
    alive = peak != -math.inf  # so that NaN counts as alive and is seen
    # Dead rows become 0 before the exponential: a NaN, once made, survives every later mask
    # in the backward pass.
    scores = xp.where(alive, scores, 0.0)
    if is_torch_namespace(xp):
        weights = xp.softmax(scores, dim=axis)
    else:
        weights = xp.exp(scores - xp.where(alive, peak, 0.0))
        weights = weights / xp.sum(weights, axis=axis, keepdims=True)
    return xp.where(alive, weights, 0.0)


def _mix(xp, query, key, value, group, mask=None, bias=None, first=None):
    """Return output and weights of scaled queries.

    `group` query heads share a key head; in a causal order `first` is the place of the first query.
    """
    if group is None:
        weights = _weigh(xp, query @ key.mT, mask, bias, first)
        return weights @ value, weights
    # The queries of a group stand below one another, so that no key or value is copied.
    scores = rearrange(query, "... (g r) n d -> ... g (r n) d", r=group) @ key.mT
    scores = rearrange(scores, "... g (r n) m -> ... (g r) n m", r=group)
    weights = _weigh(xp, scores, mask, bias, first)
    output = rearrange(weights, "... (g r) n m -> ... g (r n) m", r=group) @ value
    return rearrange(output, "... g (r n) d -> ... (g r) n d", r=group), weights


def _weigh(xp, scores, mask, bias, first):
    """Scores → weights, under a mask, an additive bias, a causal order."""
    if bias is not None:
        check_fits("bias", bias, scores)
        scores = scores + bias
    if mask is not None:
        check_fits("mask", mask, scores)
        scores = xp.where(mask, scores, -math.inf)
    if first is not None:
        n, m = scores.shape[-2:]
        row = xp.arange(first, first + n, device=device(scores))
        column = xp.arange(m, device=device(scores))
        scores = xp.where(row[:, None] >= column[None, :], scores, -math.inf)
    if mask is None and bias is None and is_torch_namespace(xp):
        return xp.softmax(scores, dim=-1)  # no row can be dead: torch's own, in one pass
    return softmax(scores)
