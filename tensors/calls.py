"""The strided operations' arguments behind the storages, by layouts: shapes, strides, offsets, functions' numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import layout as layouts
from .errors import check
from .layout import Layout, dense
from .numbers import MAPS, REDUCTIONS, ZIPS, number
from .reshaping import rows

Rest = tuple[Any, ...]
NEUTRAL = {"sum": 0.0, "product": 1.0, "maximum": -math.inf, "minimum": math.inf, "mean": 0.0}


def _whole(values: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, np.int64)


def _lying(shape: Sequence[int], *operands: Layout) -> Rest:
    """The shape, then the strides of all, then their offsets."""
    return (_whole(shape), *(_whole(one.strides) for one in operands), *(one.offset for one in operands))


def copied(x: Layout, to: Layout) -> Rest:
    """Those of map_strided for a copy."""
    return (*_lying(to.shape, x, to), MAPS["identity"])


def mapped(function: str, x: Layout) -> tuple[Rest, Layout]:
    """Return those of map_strided, and the result's layout; so do the following."""
    f, out = number("map", MAPS, function), dense(x.shape)
    return (*_lying(x.shape, x, out), f), out


def zipped(function: str, x: Layout, y: Layout) -> tuple[Rest, Layout]:
    f = number("zip", ZIPS, function)
    out = dense(layouts.common_shape(function, x.shape, y.shape))
    a, b = layouts.broadcast(x, out.shape), layouts.broadcast(y, out.shape)
    return (*_lying(out.shape, a, b, out), f), out


def reduced(function: str, x: Layout, axis: Any, keepdims: bool, start: float | None) -> tuple[Rest, Layout]:
    """start: None for the one that changes nothing."""
    f = number("reduce", REDUCTIONS, function)
    gone = layouts.axes_of(function, axis, len(x.shape))
    count = math.prod(x.shape[k] for k in gone)
    has_result = count or start is not None or math.isfinite(NEUTRAL[function])
    check(has_result, function, "a start value, or elements along the axes", f"none: shape {x.shape}")
    kept = [k for k in range(len(x.shape)) if k not in gone]
    turned, out = layouts.permuted(x, [*kept, *gone]), dense(tuple(x.shape[k] for k in kept))
    rest = (*_lying(turned.shape, turned, out), f, NEUTRAL[function] if start is None else float(start))
    return rest, dense(tuple(1 if k in gone else n for k, n in enumerate(x.shape))) if keepdims else out


def multiplied(x: Layout, y: Layout) -> tuple[Rest, Layout]:
    """Both have at least 2 axes, and the inner ones fit."""
    batch = layouts.common_shape("matmul", x.shape[:-2], y.shape[:-2])
    if len(x.shape) > 2 and len(y.shape) == 2 and (matrix := rows(x)):  # the same y for all: one product
        return multiplied(matrix, y)[0], dense((*x.shape[:-1], y.shape[-1]))
    (m, k), n = x.shape[-2:], y.shape[-1]
    a, b = layouts.broadcast(x, (*batch, m, k)), layouts.broadcast(y, (*batch, k, n))
    left = Layout(a.shape, (*a.strides[:-1], 0, a.strides[-1]), a.offset)
    right = Layout(b.shape, (*b.strides[:-2], 0, b.strides[-1], b.strides[-2]), b.offset)
    out = dense((*batch, m, n))
    return _lying((*batch, m, n, k), left, right, out), out
