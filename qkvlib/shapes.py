"""What the library asks of its arrays, and what it says when they do not fit.

Only kinds, dtypes, devices and shapes are looked at, never values.
"""

import operator

from array_api_compat import array_namespace, device, is_array_api_obj
from numpy import broadcast_shapes, ma, matrix


def check_arrays(**arrays):
    """Return the arrays' common namespace; refuse a mixture of kinds, dtypes or devices."""
    xp = _namespace(arrays)
    dtype, *others = [x.dtype for x in arrays.values()]
    if any(other != dtype for other in others) or not xp.isdtype(dtype, "real floating"):
        raise TypeError(f"wanted one real floating dtype; {_list(arrays, 'dtype')}. "
                        "Convert all to the same, for example float32")
    return xp


def check_heads(heads, kv_heads):
    """Return both numbers of heads as integers; refuse fractions, and groups without heads."""
    if heads is None:
        raise ValueError(f"kv_heads={kv_heads} came without heads; give both, or neither")
    try:
        return operator.index(heads), operator.index(heads if kv_heads is None else kv_heads)
    except TypeError:
        raise TypeError(f"heads={heads!r} and kv_heads={kv_heads!r} must be whole numbers; "
                        "divide with //, not with /") from None


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


def check_fits(name, x, scores):
    """Refuse a mask or bias of another kind, dtype, device or shape than the scores can use."""
    xp = _namespace({name: x, "scores": scores})
    if name == "mask" and not xp.isdtype(x.dtype, "bool"):
        raise TypeError(f"mask has dtype {x.dtype}; wanted booleans, True = may attend; "
                        "numbers to add to the scores go into bias=")
    if name == "bias" and x.dtype != scores.dtype:
        raise TypeError(f"bias has dtype {x.dtype}; wanted {scores.dtype}, as the scores have; "
                        "convert it, and put a boolean mask into mask=")
    shape = _broadcast(x.shape, scores.shape)
    if shape is None or shape[-2:] != scores.shape[-2:]:
        raise ValueError(f"{name} has shape {tuple(x.shape)}, which does not broadcast against the "
                         f"scores {tuple(scores.shape)} = (..., queries, keys). "
                         "Add an axis of length 1 wherever it repeats")


def check_scale(scale):
    """Return the scale, a number or 0-d tensor; refuse arrays, which would reshape the scores."""
    if getattr(scale, "ndim", 0):
        raise ValueError(f"scale has shape {tuple(scale.shape)}; wanted one number for all scores. "
                         "Scale single heads by multiplying their queries")
    return float(scale) if hasattr(scale, "__array_priority__") else scale


def check_widths(**arrays):
    """Refuse arrays that are not of the shapes named: name=(array, "a letter an axis").

    A letter stands for one length wherever it occurs, "*" first for any leading axes; no length
    may be 0 but those of leading axes.
    """
    _namespace({name: x for name, (x, _) in arrays.items()})
    lengths, fits = {}, True
    for x, axes in arrays.values():
        shape, letters = tuple(x.shape), axes.removeprefix("*")
        fits &= len(shape) == len(letters) or (axes != letters and len(shape) > len(letters))
        for letter, length in zip(letters, shape[len(shape) - len(letters):], strict=False):
            fits &= 0 < length == lengths.setdefault(letter, length)
    if not fits:
        wanted = ", ".join(f"{name} ({', '.join(axes).replace('*', '...')})"
                           for name, (_, axes) in arrays.items())
        came = _list({name: x for name, (x, _) in arrays.items()}, "shape")
        raise ValueError(f"the shapes do not fit: {came}; wanted {wanted}, "
                         "where a letter is one length, at least 1")


def _namespace(arrays):
    """The arrays' common array-API namespace, once they are of one kind and on one device."""
    plain = all(is_array_api_obj(x) and not isinstance(x, (matrix, ma.MaskedArray))
                for x in arrays.values())
    try:
        xp = array_namespace(*arrays.values()) if plain else None
    except TypeError:  # of several kinds
        xp = None
    if xp is None:
        kinds = ", ".join(f"{name} is a {type(x).__name__}" for name, x in arrays.items())
        raise TypeError(f"wanted NumPy arrays or torch tensors, all of one kind; {kinds}. "
                        "Convert with numpy.asarray or torch.as_tensor")
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
