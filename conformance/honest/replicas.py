"""Other honest implementations: the reference in float32 with its sums taken in another order.

An implementation may add in any order it likes; the judge must pass them all.  A `Replica` array is an ordinary
float32 array whose sums and matrix products follow a named order, so that the whole reference can be run on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def sequential(terms: Floats) -> Floats:
    """One after the other, along the last axis."""
    return np.add.accumulate(terms, axis=-1, dtype=np.float32)[..., -1]


def reverse(terms: Floats) -> Floats:
    """From the last to the first."""
    return sequential(terms[..., ::-1])


def pairwise(terms: Floats) -> Floats:
    """Neighbours first, then pairs of pairs."""
    while terms.shape[-1] > 1:
        if terms.shape[-1] % 2:
            terms = np.concatenate([terms, np.zeros_like(terms[..., :1])], axis=-1)
        terms = terms[..., ::2] + terms[..., 1::2]
    return terms[..., 0]


def lanes(terms: Floats) -> Floats:
    """Thirty-two running sums over strided terms, then a tree: what a warp does."""
    short = -terms.shape[-1] % 32
    padded = np.concatenate([terms, np.zeros((*terms.shape[:-1], short), np.float32)], axis=-1)
    rows = np.swapaxes(padded.reshape(*terms.shape[:-1], -1, 32), -1, -2)
    return pairwise(sequential(rows))


def blocked(terms: Floats) -> Floats:
    """Blocks of 64 one after the other, then the block sums."""
    starts = np.arange(0, terms.shape[-1], 64)
    return sequential(np.stack([sequential(terms[..., s : s + 64]) for s in starts], axis=-1))


def fused(a: Floats, b: Floats) -> Floats:
    """Matrix product by fused multiply-add: one rounding for each product and sum together."""
    total = np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]), np.float32)
    for k in range(a.shape[-1]):
        product = a[..., :, k, None].astype(np.float64) * b[..., None, k, :]
        total = (product + total).astype(np.float32)
    return total


ORDERS: dict[str, Callable[[Floats], Floats]] = {f.__name__: f for f in (sequential, reverse, pairwise, lanes, blocked)}


class Replica(np.ndarray[Any, np.dtype[np.float32]]):
    """A float32 array that adds in the order named by its class attribute."""

    order: str

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = [plain(i) for i in inputs]
        if ufunc is np.matmul and method == "__call__":
            return self._wrap(product(arrays[0], arrays[1], self.order))
        if ufunc is np.add and method == "reduce" and arrays[0].dtype == np.float32:
            return self._wrap(_reduce(arrays[0], self.order, options.get("axis", 0), bool(options.get("keepdims"))))
        if "out" in options:
            options["out"] = tuple(plain(o) for o in options["out"])
        return self._wrap(getattr(ufunc, method)(*arrays, **options))

    def _wrap(self, result: Any) -> Any:
        if isinstance(result, tuple):
            return tuple(self._wrap(r) for r in result)
        array = np.asarray(result)
        return array.view(type(self)) if array.dtype == np.float32 else result


def plain(value: Any) -> Any:
    """A replica as an ordinary array; anything else as it is."""
    return value.view(np.ndarray) if isinstance(value, Replica) else value


def _reduce(array: Floats, order: str, axis: Any, keepdims: bool) -> Floats:
    axes = tuple(range(array.ndim)) if axis is None else tuple(np.atleast_1d(axis) % array.ndim)
    kept = [a for a in range(array.ndim) if a not in axes]
    terms = array.transpose(*kept, *axes).reshape(*(array.shape[a] for a in kept), -1)
    total = _add_up(terms, order)
    return np.expand_dims(total, axes) if keepdims else total


def _add_up(terms: Floats, order: str) -> Floats:
    if terms.shape[-1] == 0:
        return np.zeros(terms.shape[:-1], np.float32)
    return np.asarray(ORDERS.get(order, sequential)(terms))


def product(a: Floats, b: Floats, order: str) -> Floats:
    """Matrix product of float32 arrays with each element's sum taken in the named order, a row of a at a time."""
    if order == "fused":
        return fused(a, b)
    if a.shape[-2] == 0:
        return a @ b
    columns = np.swapaxes(b, -1, -2)
    rows = [_add_up(a[..., i, None, :] * columns, order) for i in range(a.shape[-2])]
    return np.stack(rows, axis=-2)


KINDS: dict[str, type[Replica]] = {name: type(name, (Replica,), {"order": name}) for name in (*ORDERS, "fused")}


def replica(values: Any, order: str) -> Replica:
    """Return values as a float32 array that adds in the given order."""
    return np.asarray(values, np.float32).view(KINDS[order])
