"""Tensors as the dense arrays that the header's operations take, and back."""

from __future__ import annotations

from typing import Any

from reference.namespace import Ops
from tensors.layout import Shape, dense
from tensors.storage import Storage
from tensors.tensor import Tensor


def array_of(tensor: Tensor, *shape: int) -> Any:
    """Return a tensor's elements as a dense array of this shape, its own where none is given; copied if not dense."""
    whole = tensor.contiguous()
    array, start = whole.storage.array, whole.layout.offset
    if len(array) != whole.size:
        array = array[start : start + whole.size]
    return array.reshape(shape or whole.shape)


def tensor_of(array: Any, ops: Ops, shape: Shape | None = None) -> Tensor:
    """Return an operation's result as a tensor of this shape, its own where none is given."""
    return Tensor.in_storage(Storage(array.reshape(-1), ops), dense(array.shape if shape is None else shape))


def rows_of(tensor: Tensor) -> Any:
    """Return a tensor as a matrix: its last axis, and all others as rows."""
    return array_of(tensor, -1, tensor.shape[-1])
