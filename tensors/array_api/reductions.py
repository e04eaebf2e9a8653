"""Functions along axes, and products of matrices."""

from __future__ import annotations

import builtins
from typing import Any

from tensors.errors import check
from tensors.layout import axes_of, axis_of
from tensors.tensor import Tensor

from .array import Array, Function, floats, promoted
from .dtypes import bool
from .manipulation import broadcast_arrays, reshape

Axis = int | tuple[int, ...] | None


def _reduce(name: str, function: str) -> Function:
    def reduced(x: Array, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
        return Array(floats(name, x).reduce(function, axis, keepdims))

    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = f"{name} of the elements along these axes; None: all."
    return reduced


max, min, mean = _reduce("max", "maximum"), _reduce("min", "minimum"), _reduce("mean", "mean")


def sum(x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: builtins.bool = False) -> Array:
    """The sum of the elements along these axes, in a type."""
    found = x if dtype is None else x.as_type(dtype)
    return Array(floats("sum", found).sum(axis, keepdims))


def prod(x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: builtins.bool = False) -> Array:
    """The product of the elements along these axes, in a type."""
    found = x if dtype is None else x.as_type(dtype)
    return Array(floats("prod", found).prod(axis, keepdims))


def var(x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: builtins.bool = False) -> Array:
    """The mean of the squared distances from the mean, of `correction` elements less."""
    t = floats("var", x)
    count = 1
    for k in axes_of("var", axis, t.ndim):
        count *= t.shape[k]
    squares = (t - t.mean(axis, True)).map("square").sum(axis, keepdims)
    return Array(squares / float(builtins.max(count - correction, 0.0)))


def std(x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: builtins.bool = False) -> Array:
    """The root of `var`."""
    return Array(var(x, axis=axis, correction=correction, keepdims=keepdims).tensor.map("sqrt"))


def _truths(x: Array) -> Tensor:
    return x.tensor if x.dtype is bool else x.as_type(bool).tensor


def all(x: Array, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """Whether all elements along these axes are true, or other than 0; so it is of none."""
    return Array(_truths(x).reduce("minimum", axis, keepdims, start=1.0), True)


def any(x: Array, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """Whether one of the elements along these axes is true, or other than 0."""
    return Array(_truths(x).reduce("maximum", axis, keepdims, start=0.0), True)


def matmul(x1: Array, x2: Array, /) -> Array:
    """The product of matrices in the last two axes; one axis is a vector."""
    a, b = promoted("matmul", x1, x2)
    return Array(floats("matmul", a) @ floats("matmul", b))


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The sums of products along an axis."""
    a, b = promoted("vecdot", x1, x2)
    check(-builtins.min(a.ndim, b.ndim) <= axis < 0, "vecdot", "an axis of both, counted from behind", axis)
    lengths = a.shape[axis], b.shape[axis]
    check(lengths[0] == lengths[1], "vecdot", f"axes of one length along {axis}", lengths)
    a, b = broadcast_arrays(a, b)
    return Array((floats("vecdot", a) * floats("vecdot", b)).sum(axis))


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """The sums of products along axes of both: the last of x1 and the first of x2, or two sequences of axes."""
    a, b = promoted("tensordot", x1, x2)
    count = isinstance(axes, int)
    left, right = ([*range(a.ndim - axes, a.ndim)], [*range(axes)]) if count else axes
    left = [axis_of("tensordot", k, a.ndim) for k in left]
    right = [axis_of("tensordot", k, b.ndim) for k in right]
    lengths = [a.shape[k] for k in left], [b.shape[k] for k in right]
    check(lengths[0] == lengths[1], "tensordot", "the same lengths along the axes of both", lengths)
    rows, columns = [k for k in range(a.ndim) if k not in left], [k for k in range(b.ndim) if k not in right]
    inner, m, n = _product(lengths[0]), _product([a.shape[k] for k in rows]), _product([b.shape[k] for k in columns])
    first = reshape(a.with_tensor(floats("tensordot", a).permute_dims([*rows, *left])), (m, inner))
    second = reshape(b.with_tensor(floats("tensordot", b).permute_dims([*right, *columns])), (inner, n))
    shape = (*(a.shape[k] for k in rows), *(b.shape[k] for k in columns))
    return Array((first.tensor @ second.tensor).reshape(shape))


def _product(lengths: list[int]) -> int:
    found = 1
    for length in lengths:
        found *= length
    return found


setattr(Array, "__matmul__", matmul)  # noqa: B010 (a method, as the operators of elementwise.py)
setattr(Array, "__rmatmul__", lambda self, other: matmul(other, self))  # noqa: B010
