"""Tensors from nothing, from other libraries' arrays, and from several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import reference
from reference.namespace import Ops

from . import layout as layouts
from .errors import check
from .tensor import Tensor


def full(shape: int | Sequence[int], value: float, dtype: Any = np.float32, ops: Ops = reference) -> Tensor:
    """Return a dense tensor of one number."""
    return Tensor(np.full(layouts.lengths("full", shape), value, dtype), ops)


def zeros(shape: int | Sequence[int], dtype: Any = np.float32, ops: Ops = reference) -> Tensor:
    return Tensor(np.zeros(layouts.lengths("zeros", shape), dtype), ops)  # pages that nobody writes are never made


def ones(shape: int | Sequence[int], dtype: Any = np.float32, ops: Ops = reference) -> Tensor:
    return full(shape, 1.0, dtype, ops)


def from_dlpack(array: Any, ops: Ops = reference) -> Tensor:
    """Return a tensor of the memory of anything that has DLPack."""
    return Tensor(np.from_dlpack(array), ops)


def concat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return a copy of the tensors one behind the other along an axis; elsewhere their shapes are the same."""
    check(len(tensors) > 0, "concat", "at least one tensor", "none")
    first = tensors[0]
    place = layouts.axis_of("concat", axis, first.ndim)
    rests = {(*t.shape[:place], *t.shape[place + 1 :]) for t in tensors}
    shapes = [t.shape for t in tensors]
    check(len(rests) == 1 and len({*map(len, shapes)}) == 1, "concat", f"shapes alike but for axis {place}", shapes)
    shape = (*first.shape[:place], sum(t.shape[place] for t in tensors), *first.shape[place + 1 :])
    joined, at = zeros(shape, first.dtype, first.ops), 0
    for tensor in tensors:
        joined[(slice(None),) * place + (slice(at, at + tensor.shape[place]),)] = tensor
        at += tensor.shape[place]
    return joined
