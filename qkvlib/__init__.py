"""qkvlib: the small library behind "Query, Key, Value: an executable inquiry"."""

from .attention import attention, softmax

__all__ = ["attention", "softmax"]
