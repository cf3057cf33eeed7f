"""Heads whose matrices are tied, dropped or free: three letters say who plays which role.

"QKV" is the usual head. In "QQV" one matrix makes queries and keys, in "QQQ" one makes all three.
X stands for the tokens themselves, so that "XXX" is softmax(X Xᵀ) X. S is W_Q with a learned factor
on every column, half of them negative at first: "QSV" has a symmetric form that need not be
positive semidefinite.

Without biases a head depends on two products only: the form M = W_Q W_Kᵀ decides who is read,
W_V W_O what is handed over. Both have the same shape in every variant, so all train in one batch.
"""

import math

import torch

VARIANTS = {
    "naive": "XXX",
    "W_Q only": "QXX",
    "K = Q": "QQV",
    "symmetric": "QSV",
    "all tied": "QQQ",
    "K = V": "QKK",
    "Q = V": "QKQ",
    "V = X": "QKX",
    "full": "QKV",
}


def fresh(roles, seeds, *, d_model=36, d_k=12, classes=12, dtype=torch.float32):
    """Random parameters of one head a seed, every tensor with the seeds as its first axis.

    `roles` is three letters, `seeds` a list of numbers; a seed's draw does not depend on others.
    Returns a dictionary: the matrices that `roles` names (d_model, d_k), or (d_model, d_model)
    where a learned matrix meets X; W_O (d_v, classes); b_O (1, classes); log_beta (1, 1), the
    logarithm of a factor on the scores, so that no variant fails for want of large scores. All
    need gradients.
    Raises ValueError for letters other than Q, K, V, S and X.
    """
    letters = _checked(roles).replace("S", "Q")  # S is made of W_Q
    wide = letters[:2] if "X" in letters[:2] else "X"  # what meets X is as wide as X
    width = {name: d_model if name in wide or name == "X" else d_k for name in "QKVX"}
    shapes = {f"W_{name}": (d_model, width[name]) for name in "QKV" if name in letters}
    shapes["W_O"] = (width[letters[2]], classes)
    draws = []
    for seed in seeds:
        g = torch.Generator().manual_seed(seed)
        draws.append({name: torch.randn(shape, generator=g, dtype=dtype) / math.sqrt(shape[0])
                      for name, shape in shapes.items()})
    p = {name: torch.stack([draw[name] for draw in draws]) for name in shapes}
    if "S" in roles:
        sign = torch.tensor([1.0, -1.0], dtype=dtype).repeat(width["Q"])[:width["Q"]]
        p["sign"] = sign.repeat(len(seeds), 1, 1)
    p["b_O"] = torch.zeros(len(seeds), 1, classes, dtype=dtype)
    p["log_beta"] = torch.zeros(len(seeds), 1, 1, dtype=dtype)
    return {name: value.requires_grad_() for name, value in p.items()}


def projections(roles, p):
    """The matrices (W_Q, W_K, W_V) that play query, key and value, X being the identity."""
    matrices = {name[-1]: p[name] for name in ("W_Q", "W_K", "W_V") if name in p}
    d_model = next(iter(matrices.values()), p["W_O"]).shape[-2]  # XXX: the readout meets X
    matrices["X"] = torch.eye(d_model, dtype=p["W_O"].dtype)
    if "S" in roles:
        matrices["S"] = p["W_Q"] * p["sign"]
    return tuple(matrices[role] for role in _checked(roles))


def products(roles, p):
    """What a head depends on: its scaled form β W_Q W_Kᵀ / √d_k and its product W_V W_O."""
    W_Q, W_K, W_V = projections(roles, p)
    form = W_Q @ W_K.mT / math.sqrt(W_Q.shape[-1])
    return p["log_beta"].exp() * form, W_V @ p["W_O"]


def count(p):
    """How many numbers the projections of one head have: the readout W_O, b_O and β not counted."""
    return sum(p[f"W_{name}"][0].numel() for name in "QKV" if f"W_{name}" in p)


def _checked(roles):
    if len(roles) != 3 or not set(roles) <= set("QKVSX"):
        raise ValueError(f"roles={roles!r}; wanted three letters of Q, K, V, S, X, as in 'QQV'")
    return roles
