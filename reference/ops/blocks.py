"""Evaluating one formula piece by piece, on every core: the same numbers, sooner.

NumPy evaluates a formula operation by operation, so temporaries of large arrays travel to memory and back; those of a
block stay in a core's second-level cache. NumPy leaves Python's lock while it computes, so threads share the pieces.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from reference.arrays import Array

Memory = tuple[Array | None, ...]  # of a formula's results: a place for each, or None

BLOCK = 1 << 16  # elements of one temporary: 256 kB in float32
SHARED_PRODUCT = 1 << 22  # multiplications from which a product is worth sharing out


def is_plain(*arrays: Array) -> bool:
    """Whether every array is an ndarray itself, so that results may be written into memory set aside for them."""
    return all(type(array) is np.ndarray for array in arrays)


def by_rows(formula: Callable[..., Any], *arrays: Array) -> Any:
    """formula(*arrays) for a formula that treats rows (axis 0) apart.

    The result is one array or a tuple of arrays with the same rows. Anything but plain arrays is evaluated at once.
    """
    rows = len(arrays[0])
    step = max(1, BLOCK * rows // max(1, max(array.size for array in arrays)))
    if not is_plain(*arrays) or rows <= step:
        return formula(*arrays)
    outputs: list[Array] = []
    lock = Lock()

    def fill(start: int) -> None:
        result = formula(*(array[start : start + step] for array in arrays))
        pieces = result if isinstance(result, tuple) else (result,)
        with lock:  # the first one to be ready tells what the outputs are like
            outputs.extend(np.empty((rows, *p.shape[1:]), p.dtype) for p in pieces[len(outputs) :])
        for output, piece in zip(outputs, pieces, strict=True):
            output[start : start + step] = piece

    each(fill, range(0, rows, step))
    return tuple(outputs) if len(outputs) > 1 else outputs[0]


def by_elements(formula: Callable[..., Any], *arrays: Array) -> Any:
    """by_rows for an elementwise formula of arrays of one shape, which the results have too."""
    shape = arrays[0].shape
    results = by_rows(formula, *(array.reshape(-1) for array in arrays))
    if isinstance(results, tuple):
        return tuple(result.reshape(shape) for result in results)
    return results.reshape(shape)


def updated(formula: Callable[..., Any], old: tuple[Array, ...], *others: Array) -> tuple[Array, ...]:
    """formula(*old, *others), elementwise: a new array for each old one, all of one shape.

    Plain arrays are evaluated by blocks, and the formula is given memory for its results as `out`.
    """
    arrays = (*old, *others)
    if not is_plain(*arrays):
        return tuple(formula(*arrays))
    new = tuple(np.empty_like(array) for array in old)
    flat, flat_new = ([array.reshape(-1) for array in group] for group in (arrays, new))

    def fill(start: int) -> None:
        block = slice(start, start + BLOCK)
        formula(*(array[block] for array in flat), out=tuple(array[block] for array in flat_new))

    each(fill, range(0, old[0].size, BLOCK), old[0].size > BLOCK)
    return new


def product(A: Array, B: Array) -> Array:
    """A @ B of two matrices, a share of the rows for each thread."""
    (rows, inner), cols = A.shape, B.shape[1]
    if not is_plain(A, B) or rows * inner * cols < SHARED_PRODUCT:
        return A @ B
    C = np.empty((rows, cols), np.result_type(A, B))
    step = -(-rows // threads())
    pieces = [slice(start, start + step) for start in range(0, rows, step)]
    products([(A[piece], B, C[piece]) for piece in pieces])
    return C


def products(triples: Sequence[tuple[Array, Array, Array]]) -> None:
    """C = A @ B for every (A, B, C) of plain matrices, shared out where the work is worth waking a thread for."""
    work = sum(A.size * B.shape[1] for A, B, _ in triples)
    each(lambda triple: np.matmul(triple[0], triple[1], out=triple[2]), triples, work >= SHARED_PRODUCT)


def each(task: Callable[[Any], Any], items: Iterable[Any], worthwhile: bool = True) -> list[Any]:
    """[task(item) for item in items], the items shared out: each thread takes the next one as it becomes free."""
    items = list(items)
    helpers = threads() - 1
    if not worthwhile or not helpers or _sharing.get():
        return [task(item) for item in items]
    results = [None] * len(items)
    remaining = iter(range(len(items)))  # one step of it is one step for every thread

    def work() -> None:
        for place in remaining:
            results[place] = task(items[place])

    token = _sharing.set(True)
    try:  # a copy of the context carries NumPy's error state (ieee) along, and that this is going on
        futures = [_pool().submit(contextvars.copy_context().run, work) for _ in range(helpers)]
        work()
    finally:
        _sharing.reset(token)
    for future in futures:
        if not future.cancel():  # one that never came to start has nothing left to do
            future.result()
    return results


# Whether this is a share already: within one, work is not shared out once more.
_sharing = contextvars.ContextVar("_sharing", default=False)


def threads() -> int:
    """How many threads compute: OMP_NUM_THREADS where it is set, else one per core.

    BLAS has threads of its own; with OPENBLAS_NUM_THREADS=1 they do not get in the way of these, which is quickest.
    """
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(asked)) if asked.isdecimal() else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads() - 1, thread_name_prefix="reference")


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
