"""A vision transformer small enough to read, with the attention of this library inside.

Dosovitskiy et al. 2021, with pre-norm blocks, learned positions and mean pooling.
Weights act on rows, x W + b, so W_Q, W_K, W_V, W_O are those of the text.
"""

import math

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import nn

from .attention import attention


class Attention(nn.Module):
    """Multi-head self-attention whose query, key and value biases can be left out.

    `biases` names those that are there, for example "qv". All three exist and are drawn whatever
    it says, and are multiplied by 0 or 1: two models that differ in `biases` alone start from
    the same values everywhere else.
    """

    def __init__(self, d_model, heads, biases="qkv"):
        super().__init__()
        self.heads = heads
        for name in "QKVO":
            setattr(self, f"W_{name}", _weight(d_model, d_model))
            setattr(self, f"b_{name}", _bias(d_model))
        self.register_buffer("keep", torch.tensor([float(name in biases) for name in "qkv"]))

    def forward(self, x):  # (batch, tokens, d_model), and the same again
        query = x @ self.W_Q + self.keep[0] * self.b_Q
        key = x @ self.W_K + self.keep[1] * self.b_K
        value = x @ self.W_V + self.keep[2] * self.b_V
        return attention(query, key, value, heads=self.heads) @ self.W_O + self.b_O


class Block(nn.Module):
    """Tokens exchange (attention), then each thinks for itself (MLP); both are added on."""

    def __init__(self, d_model, heads, biases):
        super().__init__()
        self.norm_1, self.attention = nn.LayerNorm(d_model), Attention(d_model, heads, biases)
        self.norm_2 = nn.LayerNorm(d_model)
        self.W_1, self.b_1 = _weight(d_model, 2 * d_model), _bias(d_model, 2 * d_model)
        self.W_2, self.b_2 = _weight(2 * d_model, d_model), _bias(2 * d_model, d_model)

    def forward(self, x):  # (batch, tokens, d_model)
        x = x + self.attention(self.norm_1(x))
        hidden = F.gelu(self.norm_2(x) @ self.W_1 + self.b_1)  # (batch, tokens, 2 d_model)
        return x + hidden @ self.W_2 + self.b_2


class ViT(nn.Module):
    """Classify square images: patches → tokens → blocks → mean → class scores.

    images (batch, size, size) → logits (batch, classes). `seed` fixes the initial weights;
    `biases` says which of the attention's "q", "k", "v" biases are present.
    Raises ValueError if the patch does not divide the image or the heads the width.
    """

    def __init__(self, *, size=8, patch=2, d_model=32, heads=4, depth=2, classes=10,
                 biases="qkv", seed=0):
        if size % patch or d_model % heads or not set(biases) <= set("qkv"):
            raise ValueError(f"patch={patch} must divide size={size}, heads={heads} must divide "
                             f"d_model={d_model}, and biases={biases!r} be letters of 'qkv'")
        super().__init__()
        self.patch = patch
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.W_E, self.b_E = _weight(patch**2, d_model), _bias(patch**2, d_model)
            self.position = nn.Parameter(torch.randn((size // patch) ** 2, d_model) / 2)
            self.blocks = nn.Sequential(*(Block(d_model, heads, biases) for _ in range(depth)))
            self.norm = nn.LayerNorm(d_model)
            self.W_C, self.b_C = _weight(d_model, classes), _bias(d_model, classes)

    def forward(self, images):
        patches = rearrange(images, "b (h p) (w q) -> b (h w) (p q)", p=self.patch, q=self.patch)
        x = patches @ self.W_E + self.b_E + self.position  # (batch, tokens, d_model)
        x = self.norm(self.blocks(x)).mean(-2)  # (batch, d_model)
        return x @ self.W_C + self.b_C  # (batch, classes)


def _weight(d_in, d_out):
    return nn.Parameter(torch.randn(d_in, d_out) / math.sqrt(d_in))


def _bias(d_in, d_out=None):
    # not zero, as in nn.Linear: a bias that starts at 0 and stays there proves nothing
    return nn.Parameter((2 * torch.rand(d_out or d_in) - 1) / math.sqrt(d_in))
