"""Character models of real text that read both ways or backwards only, all trained in one batch.

Each has one block, attention with four heads and an MLP, over embeddings of characters and places.
"""

from pydoc_data.topics import topics

import torch
import torch.nn.functional as F

from .attention import attention
from .train import fit

OBJECTIVES = {  # name: is there a causal mask, are characters hidden that it has to fill in
    "fill in, both ways": (False, True),
    "fill in, causal mask": (True, True),
    "say the next, causal mask": (True, False),
}
WIDTH, HEADS, LENGTH, BATCH, HIDDEN = 48, 4, 48, 12, 0.2


def characters():
    """The help texts that come with Python, as whole numbers (N,), and how many kinds there are."""
    text = "\n".join(topics[name] for name in sorted(topics))
    number = {character: i for i, character in enumerate(sorted(set(text)))}
    return torch.tensor([number[character] for character in text]), len(number)


def train(seeds, steps, *, lr=2e-3, progress=None):
    """Train a model of each objective and seed; returns their forms on the way and their losses.

    `steps` lists, in rising order, after how many steps to look; the last ends the training. Forms
    are (steps, objectives, seeds, heads, width, width); losses (objectives, seeds), means of the
    last hundred steps in nats a character.
    """
    text, kinds = characters()
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    p = _fresh(generators, kinds)
    forms, losses = [], []

    def loss():
        if len(losses) in steps:
            forms.append(_forms(p))
        each = _losses(p, *_draw(generators, text, kinds), kinds)
        losses.append(each.detach())
        return each.sum()  # each model has a term of its own

    fit(loss, p.values(), steps=steps[-1], lr=lr, progress=progress)
    return torch.stack([*forms, _forms(p)]), torch.stack(losses[-100:]).mean(0)


def _fresh(generators, kinds):
    sizes = {"embed": (kinds + 1, WIDTH), "place": (LENGTH, WIDTH), "W_1": (WIDTH, 2 * WIDTH),
             "W_2": (2 * WIDTH, WIDTH), "W_U": (WIDTH, kinds)}
    sizes |= {f"W_{role}": (WIDTH, WIDTH) for role in "QKVO"}
    fresh = {}
    for name, size in sizes.items():
        scale = 1 if name in ("embed", "place") else size[0] ** -0.5
        draws = torch.stack([scale * torch.randn(size, generator=g, dtype=torch.float32)
                             for g in generators])
        # All objectives of a seed begin at the same point.
        same = draws.expand(len(OBJECTIVES), *draws.shape).clone()
        fresh[name] = same.unsqueeze(2).requires_grad_()
    return fresh


def _draw(generators, text, kinds):
    """Characters (objectives, seeds, batch, length) as the models see them and as they should
    answer, and which answers count."""
    starts = torch.stack([torch.randint(len(text) - LENGTH, (BATCH, 1), generator=g)
                          for g in generators])
    found = text[starts + torch.arange(LENGTH + 1)]
    hide = torch.stack([torch.rand(BATCH, LENGTH, generator=g, dtype=torch.float32) < HIDDEN
                        for g in generators])
    now, following = found[..., :-1], found[..., 1:]
    cases = [(now.masked_fill(hide, kinds), now, hide) if hidden
             else (now, following, torch.ones_like(hide)) for _, hidden in OBJECTIVES.values()]
    return map(torch.stack, zip(*cases, strict=True))


def _losses(p, seen, wanted, counted, kinds):
    x = F.one_hot(seen, kinds + 1).to(p["embed"].dtype) @ p["embed"] + p["place"]
    h = F.layer_norm(x, (WIDTH,))
    query, key, value = ((h @ p[f"W_{role}"]).unflatten(-1, (HEADS, -1)).transpose(-2, -3)
                         for role in "QKV")
    pairs = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    mask = torch.stack([pairs.tril() if causal else pairs for causal, _ in OBJECTIVES.values()])
    o = attention(query, key, value, mask=mask[:, None, None, None])
    x = x + o.transpose(-2, -3).flatten(-2) @ p["W_O"]
    x = x + F.gelu(F.layer_norm(x, (WIDTH,)) @ p["W_1"]) @ p["W_2"]
    logits = F.layer_norm(x, (WIDTH,)) @ p["W_U"]
    losses = F.cross_entropy(logits.movedim(-1, 1), wanted, reduction="none")
    return (losses * counted).sum((-1, -2)) / counted.sum((-1, -2))


@torch.no_grad()
def _forms(p):
    """The form W_Q W_Kᵀ of each head."""
    query, key = (p[name][:, :, 0].unflatten(-1, (HEADS, -1)).movedim(-2, 2)
                  for name in ("W_Q", "W_K"))
    return query @ key.mT
