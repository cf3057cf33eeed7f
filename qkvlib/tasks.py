"""Toy tasks: data made to need exactly one thing of attention."""

import torch


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
