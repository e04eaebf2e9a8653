"""Arrays from numbers, from shapes, and from other libraries' arrays."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

import reference
from tensors.errors import check
from tensors.tensor import Tensor

from .array import Array, Shape, as_bool
from .dtypes import DEFAULT, bool, dtype_of, float64


def _of_numpy(operation: str, array: Any, dtype: Any, device: Any, ops: Any = reference) -> Array:
    check(device in (None, "cpu"), operation, "the device cpu", device)
    dtype = DEFAULT if dtype is None else dtype_of(operation, dtype)
    array = np.asarray(array)
    return as_bool(array, ops) if dtype is bool else Array(Tensor(array.astype(dtype, copy=False), ops))


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: builtins.bool | None = None
) -> Array:  # fmt: skip
    """An array of numbers, of nested sequences, or of the memory of a tensor, an array or NumPy's array."""
    if isinstance(obj, Tensor):
        obj = Array(obj)
    if isinstance(obj, Array):
        wanted = obj.dtype if dtype is None else dtype_of("asarray", dtype)
        check(copy is not False or wanted is obj.dtype, "asarray", f"{obj.dtype}, as no copy is to be made", wanted)
        return obj if wanted is obj.dtype and not copy else obj.as_type(wanted)
    given = np.asarray(obj)
    check(copy is not False or given is obj, "asarray", "an array, as no copy is to be made", type(obj).__name__)
    if dtype is None and isinstance(obj, np.ndarray | np.generic):
        dtype = given.dtype
    elif dtype is None:
        dtype = bool if given.dtype == bool else DEFAULT
    is_kept = given.dtype == dtype and given.dtype != np.bool_  # true and false are kept as numbers
    check(copy is not False or is_kept, "asarray", f"{given.dtype}, as no copy is to be made", dtype)
    return _of_numpy("asarray", given.copy() if copy else given, dtype, device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: builtins.bool | None = None) -> Array:
    """An array of the same memory, unless a copy is asked for."""
    check(device in (None, "cpu"), "from_dlpack", "the device cpu", device)
    return asarray(np.from_dlpack(x), copy=copy)


def full(shape: Shape, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    if dtype is None and isinstance(fill_value, builtins.bool):
        dtype = bool
    value = fill_value.numpy() if isinstance(fill_value, Array) else fill_value
    return _of_numpy("full", np.full(shape, value, dtype or DEFAULT), dtype, device)


def zeros(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    return full(shape, 0, dtype=dtype or DEFAULT, device=device)


def ones(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    return full(shape, 1, dtype=dtype or DEFAULT, device=device)


def empty(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros: nothing is gained by other contents."""
    return zeros(shape, dtype=dtype, device=device)


def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)


def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    return zeros_like(x, dtype=dtype, device=device)


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None, device: Any = None
) -> Array:  # fmt: skip
    """start, start + step, ... below stop; from 0 up to start where stop is None."""
    first, last = (0.0, start) if stop is None else (start, stop)
    count = max(0, math.ceil((last - first) / step))
    return _of_numpy("arange", first + step * np.arange(count, dtype=np.float64), dtype, device)


def linspace(
    start: float, stop: float, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: builtins.bool = True
) -> Array:  # fmt: skip
    """num numbers equally far apart."""
    return _of_numpy("linspace", np.linspace(start, stop, num, endpoint, dtype=float64), dtype, device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Array:
    """1 on a diagonal, k places right of the main one; 0 elsewhere."""
    return _of_numpy("eye", np.eye(n_rows, n_cols, k), dtype, device)


def _triangle(x: Array, mask: Any) -> Array:
    kept = np.where(np.broadcast_to(mask, x.shape), x.tensor.numpy(), 0)
    return x.with_tensor(Tensor(kept.astype(x.tensor.dtype, copy=False), x.tensor.ops))


def tril(x: Array, /, *, k: int = 0) -> Array:
    """The matrices' lower triangles, the k diagonals above the main one with them."""
    return _triangle(x, np.tri(x.shape[-2], x.shape[-1], k, np.bool_))


def triu(x: Array, /, *, k: int = 0) -> Array:
    """The matrices' upper triangles, from the k-th diagonal on."""
    return _triangle(x, ~np.tri(x.shape[-2], x.shape[-1], k - 1, np.bool_))


def meshgrid(*arrays: Array, indexing: str = "xy") -> list[Array]:
    """The coordinates of a grid; indexing: "xy" or "ij"."""
    check(indexing in ("xy", "ij"), "meshgrid", "xy or ij", indexing)
    check(all(a.ndim <= 1 for a in arrays), "meshgrid", "arrays of one axis", [a.shape for a in arrays])
    order = [*range(len(arrays))]
    if indexing == "xy" and len(arrays) > 1:
        order[0], order[1] = 1, 0
    shape = tuple(arrays[k].size for k in order)
    along = ((1,) * place + (-1,) + (1,) * (len(arrays) - place - 1) for place in order)
    grids = (a.tensor.reshape(s).broadcast_to(shape).contiguous() for a, s in zip(arrays, along, strict=True))
    return [a.with_tensor(grid) for a, grid in zip(arrays, grids, strict=True)]
