"""What values carry: the best linear filter for noisy tokens, and what a head does not use.

A token is a sum, x = z D + u: the signal z, k uncorrelated numbers of mean 0 and variance 1, along
the rows of D (k, d), and all the rest u, uncorrelated with z, whose second moments are C (d, d). A
filter W (d, k) makes of x an estimate x W of z. Wiener's filter is the best of them.
"""

import math

from array_api_compat import array_namespace


def best_filter(signal, rest):
    """The filter W (..., d, k) for which E‖x W − z‖² is least: (DᵀD + C)⁻¹ Dᵀ.

    signal D (..., k, d), rest C (..., d, d), NumPy arrays or torch tensors. Raises ValueError for
    shapes that do not fit, and the linear algebra's own error where DᵀD + C cannot be inverted.
    """
    xp = _checked(signal, rest)
    return xp.linalg.solve(signal.mT @ signal + rest, signal.mT)


def snr(W, signal, rest):
    """Decibels of signal over error of the estimate x W, exactly: −10 log₁₀ (E‖x W − z‖² / k).

    W (..., d, k), signal (..., k, d), rest (..., d, d); returns (...). No filter exceeds
    `snr(best_filter(signal, rest), signal, rest)`. Raises ValueError for shapes that do not fit.
    """
    xp = _checked(signal, rest)
    k = signal.shape[-2]
    missed = signal @ W - xp.eye(k, dtype=W.dtype)  # what becomes of each signal
    squares = xp.sum(missed**2, axis=(-2, -1)) + xp.sum(W * (rest @ W), axis=(-2, -1))
    return -10 * xp.log(squares / k) / math.log(10)


def ridge(x, target, *, strength=1e-3):
    """The W (..., d, k) that minimises the mean of ‖x W − target‖² plus strength · ‖W‖².

    x (..., N, d), target (..., N, k), NumPy arrays or torch tensors: least squares, kept from
    following few samples too closely. Raises ValueError where x and target are not as many.
    """
    xp = array_namespace(x, target)
    count, d = x.shape[-2:]
    if target.shape[-2] != count:
        raise ValueError(f"x has {count} rows and target {target.shape[-2]}; wanted as many, one "
                         "row a sample")
    penalty = strength * count * xp.eye(d, dtype=x.dtype)
    return xp.linalg.solve(x.mT @ x + penalty, x.mT @ target)


def readable(W, part, covariance):
    """The share, from 0 to 1, of a part's variance that a linear probe can read from values x W.

    W (..., d, d_v) with independent columns, part (..., k, d) the directions of k numbers of
    variance 1, `covariance` (..., d, d) that of x. Returns (...). Raises ValueError for shapes that
    do not fit.
    """
    xp = _checked(part, covariance)
    seen = part @ W
    found = xp.linalg.solve(W.mT @ covariance @ W, seen.mT)
    return xp.sum(seen * found.mT, axis=(-2, -1)) / part.shape[-2]


def pruned(W_V, W_O):
    """Value weights without what W_O ignores: W_V W_O W_O⁺, with the same product W_V W_O.

    W_V (..., d, d_v), W_O (..., d_v, k). What a head makes of a token stays as it is; what its
    values carry beside that goes. Raises ValueError where the widths differ.
    """
    xp = array_namespace(W_V, W_O)
    if W_V.shape[-1] != W_O.shape[-2]:
        raise ValueError(f"W_V makes values of width {W_V.shape[-1]} and W_O reads {W_O.shape[-2]};"
                         " wanted one width")
    return W_V @ W_O @ xp.linalg.pinv(W_O)


def _checked(signal, rest):
    d = signal.shape[-1]
    if tuple(rest.shape[-2:]) != (d, d):
        raise ValueError(f"signal has {d} features a row and rest the shape {tuple(rest.shape)}; "
                         f"wanted a covariance (..., {d}, {d})")
    return array_namespace(signal, rest)
