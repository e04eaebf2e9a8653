"""Evaluating one formula by cache-sized blocks of rows: the same numbers, sooner.

NumPy evaluates a formula operation by operation, so temporaries of large arrays travel to memory and back; those of a
block stay in a core's second-level cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.ops._arrays import Array

BLOCK = 1 << 16  # elements of one temporary: 256 kB in float32


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
    outputs: tuple[Array, ...] = ()
    for start in range(0, rows, step):
        result = formula(*(array[start : start + step] for array in arrays))
        pieces = result if isinstance(result, tuple) else (result,)
        outputs = outputs or tuple(np.empty((rows, *piece.shape[1:]), piece.dtype) for piece in pieces)
        for output, piece in zip(outputs, pieces, strict=True):
            output[start : start + step] = piece
    return outputs if isinstance(result, tuple) else outputs[0]


def by_elements(formula: Callable[..., Any], *arrays: Array) -> Any:
    """by_rows for an elementwise formula of arrays of one shape, which the results have too."""
    shape = arrays[0].shape
    results = by_rows(formula, *(array.reshape(-1) for array in arrays))
    if isinstance(results, tuple):
        return tuple(result.reshape(shape) for result in results)
    return results.reshape(shape)
