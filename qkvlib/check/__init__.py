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
from .factors import bound_or_factors
from .filters import best_filter, oblique_filters, pruned_values
from .gauge import same_head
from .kernel import kernel_regression
from .key_bias import wake_key_bias
from .key_gradient import key_gradient
from .naive import naive_tokens
from .one_matrix import one_matrix
from .query_bias import query_bias_prior
from .result import Result
from .rotary import same_rotary_head
from .scale import break_the_scale
from .scaled_dot_product import attention
from .symmetry import one_sided, symmetry_score
from .tied_maps import tied_maps
from .two_numbers import two_numbers
from .value_bias import fold_value_bias

__all__ = ["Result", "attention", "attention_step", "best_filter", "best_form", "bound_or_factors",
           "break_the_scale", "fold_value_bias", "free_numbers", "kernel_regression",
           "key_gradient", "least_forms", "naive_tokens", "oblique_filters", "one_matrix",
           "one_sided", "out_of_reach", "pruned_values", "query_bias_prior", "same_head",
           "same_rotary_head", "sharp_map", "sharp_tokens", "symmetry_score", "three_tokens",
           "tied_maps", "tied_vectors", "two_numbers", "wake_key_bias"]
