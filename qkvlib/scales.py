"""What a figure shows of its numbers: rounded as printed, between which ends, in which colours."""

import math

import numpy as np
from matplotlib.colors import to_hex

LARGEST = 1e100  # beyond, lengths and shares would overflow


def number(value, digits):
    """Return `value` as it is printed in figures: a true minus, and no minus before zero."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    return text.replace("-", "−" if float(text) else "")


def as_shown(values, axes, digits):
    """Return what is printed of `values`: as an array of numbers and as lists of text."""
    if hasattr(values, "detach"):  # a torch tensor, in whatever precision and place
        values = values.detach().cpu().double()
    if np.iscomplexobj(values):
        raise ValueError("values are complex, wanted real numbers: draw values.real or abs(values)")
    if np.ma.isMaskedArray(values):  # what is masked must not be seen
        values = np.ma.filled(values.astype(float), np.nan)
    values = np.asarray(values, dtype=float)
    if values.ndim != axes or not values.size:
        raise ValueError(
            f"wanted {'a matrix (rows, columns)' if axes == 2 else 'a vector (n,)'} and got shape "
            f"{values.shape}: pick one, such as weights[0, 0] for the first head of a batch"
        )
    texts = np.vectorize(lambda value: number(value, digits))(values).tolist()
    return np.vectorize(lambda value: float(f"{value:.{digits}f}") + 0.0)(values), texts


def ends(shown, limits, digits, *, symmetric=False):
    """Return the values at both ends of the colours or of the axis."""
    finite = shown[np.isfinite(shown)]
    least, greatest = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    if max(-least, greatest) > LARGEST:
        raise ValueError(f"values run from {least:g} to {greatest:g}, and a figure holds at most "
                         f"{LARGEST:g}: divide by a power of ten")
    if limits is None:
        low, high = min(least, 0.0), max(greatest, 0.0)
        if symmetric:
            low, high = min(low, -high), max(high, -low)
        return (low, high) if low < high else (-1.0 if symmetric else 0.0, 1.0)
    if not np.all(np.isfinite(limits)):
        raise ValueError(f"limits are {limits}, wanted two finite numbers: give (low, high)")
    low, high = (float(f"{limit:.{digits}f}") for limit in limits)  # rounded as the values are
    if not low <= least <= greatest <= high or low == high:
        raise ValueError(
            f"limits are {low:g} to {high:g} and values run from {least:g} to {greatest:g}: "
            "widen the limits, for a colour or a length must not lie"
        )
    if symmetric and low != -high:
        raise ValueError(f"diverging colours are centred at 0: wanted limits (-m, m), got {limits}")
    return low, high


def colours_at(colours, share):
    """Return the colour of a cell and of the text on it; what is not finite has the page's own."""
    if not math.isfinite(share):
        return "none", "currentColor"
    rgb = colours(share)[:3]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    luminance = float(np.dot([0.2126, 0.7152, 0.0722], linear))
    # WCAG's contrast with black and with white; at this luminance both are 4.58.
    return to_hex(rgb), "#000" if luminance > 0.179 else "#fff"
