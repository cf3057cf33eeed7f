"""Toy tasks: data made to need exactly one thing of attention."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

MAPS = {  # of the market, for n tokens in a row: position → the position it wants
    "self": lambda i, n: i,
    "mutual": lambda i, n: i ^ 1,  # 0 ↔ 1, 2 ↔ 3, …
    "directed": lambda i, n: (i + 1) % n,
    "chain": lambda i, n: min(i + 1, n - 1),
    "star": lambda i, n: 0,
}


def salient(generator, batch, *, tokens=8, width=9, payload=4, dtype=torch.float32):
    """Every query must fetch the payload of the most salient token, whoever asks.

    Returns tokens (*batch, tokens, width) of standard normal numbers and targets
    (*batch, 1, payload): feature 0 is a token's salience, features 1 … payload what it carries.
    `batch` is a tuple. Raises ValueError if the payload does not fit into the width.
    """
    if payload + 1 > width:
        raise ValueError(f"payload={payload} and the salience need width ≥ {payload + 1}, "
                         f"came {width}")
    x = torch.randn(*batch, tokens, width, generator=generator, dtype=dtype)
    winner = x[..., 0].argmax(-1)[..., None, None].expand(*batch, 1, payload)
    return x, x[..., 1:payload + 1].gather(-2, winner)


def market(generator, batch, kind, *, tokens=6, ids=12, dtype=torch.float32):
    """Every token has a name, wants a name and holds a value; fetch the value of the wanted token.

    Returns three tensors
        x       (*batch, tokens, 3 · ids), a token being [name | wants | value]: three one-hot
                vectors times √ids, so that the mean square of its features is 1. Names differ
                within a sequence; values are drawn with replacement.
        target  (*batch, tokens), whole numbers below `ids`: the value of the token whose name
                is what this token wants.
        wanted  (*batch, tokens), the position of that token.
    `batch` is a tuple. `kind` is the map from a token to the one that it wants: "self" (itself),
    "mutual" (cycles of two), "directed" (one cycle through all), "chain" (an open path whose last
    token wants itself), "star" (all want one of them), "random" (each wants any, itself included),
    or a list of positions, as [1, 2, 2, 4, 5, 5] for two chains of three. All but "random" are laid
    over the tokens in random order, so that positions give nothing away.
    Raises ValueError for an unknown kind, positions that are none, an odd number of tokens in
    pairs, and fewer ids than tokens.
    """
    if tokens > ids:
        raise ValueError(f"tokens={tokens} need as many different names, and ids={ids}")

    def draw(*size):
        return torch.rand(*batch, *size, generator=generator, device=generator.device)

    name = draw(ids).argsort(-1)[..., :tokens]
    value = (ids * draw(tokens)).long()
    if kind == "random":
        wanted = (tokens * draw(tokens)).long()
    else:
        order = draw(tokens).argsort(-1)
        following = torch.tensor(_map(kind, tokens), device=order.device)
        wanted = torch.empty_like(order).scatter_(-1, order, order[..., following])
    parts = (name, name.gather(-1, wanted), value)
    x = torch.cat([F.one_hot(part, ids) for part in parts], -1).to(dtype) * math.sqrt(ids)
    return x, value.gather(-1, wanted), wanted


class Mentions(NamedTuple):
    """Tokens (*batch, nouns + 1, width), and three numbers a sequence (*batch): the place of the
    antecedent, its colour and its size."""

    tokens: Tensor
    antecedent: Tensor
    colour: Tensor
    size: Tensor


def coreference(generator, batch, *, nouns=4, kinds=6, dtype=torch.float32):
    """The last token, "it", stands for the one noun before it that is animate.

    Returns `Mentions`. A token has 3 + 2 · kinds features: animate, inanimate, pronoun, and one-hot
    a colour and a size, which say nothing of who is meant and which "it" has not. `batch` is a
    tuple. Raises ValueError without two nouns to choose from.
    """
    if nouns < 2:
        raise ValueError(f"nouns={nouns}; wanted at least 2, or there is nothing to choose")
    antecedent = torch.randint(nouns, batch, generator=generator)
    colour, size = torch.randint(kinds, (2, *batch, nouns), generator=generator)
    animate = F.one_hot(antecedent, nouns)
    features = torch.stack([animate, 1 - animate, 0 * animate], -1)
    noun = torch.cat([features, F.one_hot(colour, kinds), F.one_hot(size, kinds)], -1)
    it = torch.zeros_like(noun[..., :1, :])
    it[..., 2] = 1
    tokens = torch.cat([noun, it], -2).to(dtype)
    chosen = (x.gather(-1, antecedent[..., None])[..., 0] for x in (colour, size))
    return Mentions(tokens, antecedent, *chosen)


def _map(kind, tokens):
    """The positions that the tokens want, before they are put into random order."""
    if isinstance(kind, str) and kind not in MAPS:
        raise ValueError(f"kind={kind!r}; wanted one of {', '.join(MAPS)}, random, or a list")
    if kind == "mutual" and tokens % 2:
        raise ValueError(f"tokens={tokens} cannot be paired; mutual needs an even number")
    named = isinstance(kind, str)
    following = [MAPS[kind](i, tokens) for i in range(tokens)] if named else list(kind)
    if len(following) != tokens or not set(following) <= set(range(tokens)):
        raise ValueError(f"kind={following}; wanted {tokens} positions from 0 to {tokens - 1}")
    return following
