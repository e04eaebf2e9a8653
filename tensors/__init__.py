"""Tensors of any shape and strides, their arithmetic by the header's four strided operations.

In: NumPy arrays, anything with DLPack; a namespace of operations, the reference or a library.
Out: tensors, whose views share storage.
Used by: who writes a model or a training step of them.
"""

from __future__ import annotations

from .creation import concat, from_dlpack, full, ones, zeros
from .errors import TapeError, TensorError, TensorIndexError
from .layout import Layout
from .storage import Storage
from .tensor import Tensor

__all__ = [
    "Layout",
    "Storage",
    "TapeError",
    "Tensor",
    "TensorError",
    "TensorIndexError",
    "concat",
    "from_dlpack",
    "full",
    "ones",
    "zeros",
]
