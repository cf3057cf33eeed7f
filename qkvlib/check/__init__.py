"""Exercises that check themselves: each takes an attempt, returns a `Result`, names the mistake.

    >>> from qkvlib import check
    >>> check.attention(lambda query, key, value: ...)
    … attention: not attempted yet (the function returns Ellipsis).

A function is tried on random shapes in float64 and float32, as NumPy or as torch, and compared
with this library and with functions that are wrong in known ways. A new exercise is a call of
`judge` with cases, a reference and its misconceptions.
"""

from .block import attention_step
from .by_hand import sharp_tokens, three_tokens
from .circle import out_of_reach, sharp_map
from .counting import free_numbers
from .cut import best_form
from .cycles import least_forms, tied_vectors
from .gauge import same_head
from .kernel import kernel_regression
from .key_bias import wake_key_bias
from .query_bias import query_bias_prior
from .result import Result
from .rotary import same_rotary_head
from .scale import break_the_scale
from .scaled_dot_product import attention
from .symmetry import one_sided, symmetry_score
from .value_bias import fold_value_bias

__all__ = ["Result", "attention", "attention_step", "best_form", "break_the_scale",
           "fold_value_bias", "free_numbers", "kernel_regression", "least_forms", "one_sided",
           "out_of_reach", "query_bias_prior", "same_head", "same_rotary_head", "sharp_map",
           "sharp_tokens", "symmetry_score", "three_tokens", "tied_vectors", "wake_key_bias"]
