"""What `attention` asks of its arrays, and what it says when they do not fit.

Only kinds, dtypes, devices and shapes are looked at, never values.
"""

from array_api_compat import array_namespace, device
from numpy import broadcast_shapes


def check_arrays(**arrays):
    """Return the arrays' common namespace; refuse a mixture of kinds, dtypes or devices."""
    xp = _namespace(arrays)
    dtype, *others = [x.dtype for x in arrays.values()]
    if any(other != dtype for other in others) or not xp.isdtype(dtype, "real floating"):
        raise TypeError(f"wanted one real floating dtype; {_list(arrays, 'dtype')}. "
                        "Convert all to the same, for example float32")
    return xp


def check_shapes(query, key, value, heads=1, kv_heads=1):
    """Refuse shapes but (..., n, heads·d_k), (..., m, kv_heads·d_k), (..., m, kv_heads·d_v)."""
    if min(query.ndim, key.ndim, value.ndim) < 2:
        wanted = "wanted (..., tokens, width) for all three; give a lone vector an axis: x[None, :]"
    elif min(heads, kv_heads) < 1 or heads % kv_heads:
        wanted = f"heads={heads} must be a positive multiple of kv_heads={kv_heads}"
    elif query.shape[-1] % heads or key.shape[-1] % kv_heads or value.shape[-1] % kv_heads:
        wanted = (f"the widths do not divide into heads={heads} for the query and "
                  f"kv_heads={kv_heads} for key and value; change the widths or the heads")
    elif query.shape[-1] // heads != key.shape[-1] // kv_heads:
        wanted = ("query and key need the same width d_k (per head), their last axis; "
                  "project both to one width")
    elif key.shape[-2] != value.shape[-2]:
        wanted = "key and value need the same number of tokens; give each key its value"
    elif query.shape[-1] == 0 or key.shape[-2] == 0:
        wanted = "nothing to attend to; pass at least one key, of width at least 1"
    elif _broadcast(query.shape[:-2], key.shape[:-2], value.shape[:-2]) is None:
        wanted = "the leading axes do not broadcast; flat heads are split by heads= and kv_heads="
    else:
        return
    raise ValueError(f"{wanted} ({_list({'query': query, 'key': key, 'value': value}, 'shape')})")


def check_fits(name, x, scores, kind):
    """Refuse a mask or bias of another kind, dtype, device or shape than the scores can use."""
    xp = _namespace({name: x, "scores": scores})
    if not xp.isdtype(x.dtype, kind):
        wanted = {"bool": "booleans, True = may attend; numbers to add to the scores go into bias=",
                  "real floating": "real floats to add; a boolean mask goes into mask="}[kind]
        raise TypeError(f"{name} has dtype {x.dtype}; wanted {wanted}")
    shape = _broadcast(x.shape, scores.shape)
    if shape is None or shape[-2:] != scores.shape[-2:]:
        raise ValueError(f"{name} has shape {tuple(x.shape)}, which does not broadcast against the "
                         f"scores {tuple(scores.shape)} = (..., queries, keys). "
                         "Add an axis of length 1 wherever it repeats")


def _namespace(arrays):
    """The arrays' common array-API namespace, once they are of one kind and on one device."""
    try:
        xp = array_namespace(*arrays.values())
    except TypeError:
        kinds = ", ".join(f"{name} is a {type(x).__name__}" for name, x in arrays.items())
        raise TypeError(f"wanted NumPy arrays or torch tensors, all of one kind; {kinds}. "
                        "Convert with numpy.asarray or torch.as_tensor") from None
    place, *others = [device(x) for x in arrays.values()]
    if any(other != place for other in others):
        places = ", ".join(f"{name} is on {device(x)}" for name, x in arrays.items())
        raise TypeError(f"wanted all on one device; {places}. Move them together")
    return xp


def _list(arrays, attribute):
    """'query has shape (2, 3), key has …' for an error message."""
    value = {name: getattr(x, attribute) for name, x in arrays.items()}
    return ", ".join(f"{name} has {attribute} {tuple(v) if attribute == 'shape' else v}"
                     for name, v in value.items())


def _broadcast(*shapes):
    """The shape that these broadcast to, or None."""
    if len(set(shapes)) == 1:  # the usual case, at a tenth of the cost
        return shapes[0]
    try:
        return broadcast_shapes(*shapes)
    except ValueError:
        return None
