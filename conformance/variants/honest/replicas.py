"""Other honest implementations: the reference in float32 with its sums taken in another order.

An implementation may add in any order it likes; the judge must pass them all.  A `Replica` array is an ordinary
float32 array whose sums and matrix products follow a named order, so that the whole reference can be run on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

TERMS = 1 << 21  # products of a matrix product that are laid out at a time
Floats = NDArray[np.float32]
Sum: TypeAlias = Callable[[Floats], Floats]  # along the last axis


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


ORDERS: dict[str, Sum] = {f.__name__: f for f in (sequential, reverse, pairwise, lanes, blocked)}


class Replica(np.ndarray[Any, np.dtype[np.float32]]):
    """A float32 array that carries these reductions out its own way, along the last axis; sums in products too."""

    reductions: ClassVar[Mapping[np.ufunc, Sum]] = {np.add: sequential}

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = [plain(i) for i in inputs]
        if ufunc is np.matmul and method == "__call__":
            return self._wrap(self.multiplied(arrays[0], arrays[1]))
        if ufunc in self.reductions and method == "reduce" and arrays[0].dtype == np.float32:
            along, keepdims = options.get("axis", 0), bool(options.get("keepdims"))
            return self._wrap(reduced(arrays[0], self.reductions[ufunc], along, keepdims))
        if "out" in options:
            options["out"] = tuple(plain(o) for o in options["out"])
        return self._wrap(getattr(ufunc, method)(*arrays, **options))

    def multiplied(self, a: Floats, b: Floats) -> Floats:
        """The matrix product of plain arrays."""
        return product(a, b, self.reductions[np.add])

    def _wrap(self, result: Any) -> Any:
        if isinstance(result, tuple):
            return tuple(self._wrap(r) for r in result)
        array = np.asarray(result)
        return array.view(type(self)) if array.dtype == np.float32 else result


class Fused(Replica):
    """Its products are fused multiply-adds."""

    def multiplied(self, a: Floats, b: Floats) -> Floats:
        return fused(a, b)


def plain(value: Any) -> Any:
    """A replica as an ordinary array; anything else as it is."""
    return value.view(np.ndarray) if isinstance(value, Replica) else value


def reduced(array: Floats, reduction: Sum, axis: Any, keepdims: bool) -> Floats:
    """The sum, or other reduction, of a plain array over axes."""
    axes = tuple(range(array.ndim)) if axis is None else tuple(np.atleast_1d(axis) % array.ndim)
    kept = [a for a in range(array.ndim) if a not in axes]
    terms = array.transpose(*kept, *axes).reshape(*(array.shape[a] for a in kept), -1)
    total = _along(terms, reduction)
    return np.expand_dims(total, axes) if keepdims else total


def _along(terms: Floats, reduction: Sum) -> Floats:
    if terms.shape[-1] == 0:
        return np.zeros(terms.shape[:-1], np.float32)
    return np.asarray(reduction(terms))


def product(a: Floats, b: Floats, total: Sum) -> Floats:
    """Matrix product of float32 arrays with each element's sum taken by `total`, some rows of a at a time."""
    if a.shape[-2] == 0:
        return a @ b
    columns = np.swapaxes(b, -1, -2)
    step = max(1, TERMS // max(1, columns.size))
    starts = range(0, a.shape[-2], step)
    rows = [_along(a[..., s : s + step, None, :] * columns[..., None, :, :], total) for s in starts]
    return np.concatenate(rows, axis=-2)


KINDS: dict[str, type[Replica]] = {
    **{name: type(name, (Replica,), {"reductions": {np.add: order}}) for name, order in ORDERS.items()},
    "fused": Fused,
}
