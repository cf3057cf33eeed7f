"""Toy tasks: data made to need exactly one thing of attention."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot


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
    animate = one_hot(antecedent, nouns)
    features = torch.stack([animate, 1 - animate, 0 * animate], -1)
    noun = torch.cat([features, one_hot(colour, kinds), one_hot(size, kinds)], -1)
    it = torch.zeros_like(noun[..., :1, :])
    it[..., 2] = 1
    tokens = torch.cat([noun, it], -2).to(dtype)
    chosen = (x.gather(-1, antecedent[..., None])[..., 0] for x in (colour, size))
    return Mentions(tokens, antecedent, *chosen)
