"""Probes: what can be read from vectors, by small models trained to guess a label from them.

A probe shows that something can be read in its way, never that nothing is there. So a linear one
has a flexible one beside it and, where the law of the vectors is known, the best there can be.
"""

from itertools import pairwise

import torch
import torch.nn.functional as F

from .train import fit


def probe(known, unseen, *, hidden=0, steps=300, lr=0.03, batch=100, seed=0):
    """Share of unseen labels that a probe guesses, trained on known ones, for each leading axis.

    `known` and `unseen` are pairs of features (*runs, N, f), the seeds being the last of the runs,
    and labels, whole numbers (seeds, N). A probe is a softmax regression or, with `hidden`, a
    network with so many hidden units. Features are whitened first, so that neither their scale nor
    their basis matters; what varies less than a millionth of the widest is left out.
    Returns accuracies (*runs). Raises ValueError where features and labels are not as many.
    """
    for features, labels in (known, unseen):
        _checked(features, labels)
    whiten = _whitening(known[0].detach())
    x, y = whiten(known[0].detach()), known[1]
    generator = torch.Generator().manual_seed(seed)
    widths = [x.shape[-1], *([hidden] if hidden else []), int(y.max()) + 1]
    layers = []
    for a, b in pairwise(widths):
        W = torch.randn(*x.shape[:-2], a, b, generator=generator, dtype=x.dtype) / a**0.5
        layers += [W.requires_grad_(), torch.zeros_like(W[..., :1, :]).requires_grad_()]

    def logits(z):
        z = z @ layers[0] + layers[1]
        return torch.relu(z) @ layers[2] + layers[3] if hidden else z

    def loss():
        some = torch.randint(x.shape[-2], (batch,), generator=generator)
        told = F.one_hot(y[..., some], widths[-1])
        return -(told * logits(x[..., some, :]).log_softmax(-1)).sum(-1).mean(-1).sum()

    fit(loss, layers, steps=steps, lr=lr)
    with torch.no_grad():
        return (logits(whiten(unseen[0])).argmax(-1) == unseen[1]).to(x.dtype).mean(-1)


def ceiling(W_V, x, labels, centres, named, *, noise):
    """Share of labels that the best of all probes would guess from values x W_V.

    Tokens x (seeds, N, d) are centres (seeds, m, d), all equally likely, plus Gaussian noise of the
    standard deviation `noise` in every feature; `named` (m,) are the labels of the centres.
    W_V (*runs, d, d_v), the seeds being the last of the runs; labels (seeds, N).
    Returns accuracies (*runs). Bayes' rule: values are Gaussian around the images of the centres.
    Raises ValueError where tokens and labels, or centres and names, are not as many, and where
    there is no noise.
    """
    _checked(x, labels)
    _checked(centres, named)
    if not noise > 0:
        raise ValueError(f"noise={noise}; wanted a standard deviation above 0")
    U, sizes, _ = torch.linalg.svd(W_V, full_matrices=False)
    U = U * (sizes > 1e-6 * sizes[..., :1])[..., None, :]  # of equal noise in every direction
    fits = -torch.cdist(x @ U, centres @ U).square() / (2 * noise**2)
    guess = torch.stack([fits[..., named == label].logsumexp(-1)
                         for label in range(int(named.max()) + 1)], -1)
    return (guess.argmax(-1) == labels).to(x.dtype).mean(-1)


def _checked(vectors, labels):
    if vectors.shape[-2] != labels.shape[-1]:
        raise ValueError(f"{vectors.shape[-2]} vectors came with {labels.shape[-1]} labels; wanted "
                         "one for each")


def _whitening(x):
    """A function that gives features mean 0 and, within their span, the identity as covariance."""
    mean = x.mean(-2, keepdim=True)
    centred = x - mean
    sizes, axes = torch.linalg.eigh(centred.mT @ centred / x.shape[-2])
    kept = sizes > 1e-6 * sizes[..., -1:]
    scale = torch.where(kept, sizes.clamp_min(1e-300).rsqrt(), 0.0)
    return lambda z: (z - mean) @ (axes * scale[..., None, :])
