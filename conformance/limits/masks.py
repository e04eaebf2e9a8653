"""What lies beyond a mask: a kernel may pass it over, or give it the weight 0.

The two differ only where NaN or infinity lies there, since 0 times either is NaN.  The header leaves that open: results
that it decides are unknown, and no library is judged by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from conformance import operations

from .noise import Noisy, given_up

MASKED = ("flash_attention", "attention_forward", "attention_backward")
Array = NDArray[Any]


class _PassedOver(np.ndarray[Any, np.dtype[np.float64]]):
    """Numbers of which, once they are exponentials, what is 0 is multiplied by nothing."""

    are_weights = False

    def __array_finalize__(self, source: Any) -> None:
        self.are_weights = getattr(source, "are_weights", False)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [i.view(np.ndarray) if isinstance(i, _PassedOver) else i for i in inputs]
        first = inputs[0]
        weighs = method == "__call__" and getattr(first, "are_weights", False)
        if weighs and ufunc is np.matmul:
            return _of(_weighted_sums(*plain))
        result = getattr(ufunc, method)(*plain, **options)
        if weighs and ufunc is np.multiply:
            result = np.where(plain[0] == 0, 0.0, result)
        if ufunc is np.subtract:  # a score that is masked stays so, whatever its row's log-sum-exp
            result = np.where(np.isneginf(plain[0]), -np.inf, result)
        return _of(result, ufunc is np.exp or (weighs and ufunc in (np.multiply, np.true_divide)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = super().__array_function__(function, types, args, kwargs)
        return _of(result) if function is np.where else result


def _of(values: Any, are_weights: bool = False) -> Any:
    array = np.asarray(values, np.float64).view(_PassedOver)
    array.are_weights = are_weights
    return array


def _weighted_sums(weights: Array, values: Array) -> Array:
    """weights @ values, without the values whose weight is 0."""
    without = ~np.isfinite(values)
    met = (weights != 0).astype(np.float64) @ without.astype(np.float64) > 0
    return np.asarray(np.where(met, weights @ values, weights @ np.where(without, 0.0, values)))


def leave_open(operation: str, arguments: Mapping[str, Any], expected: dict[str, Any]) -> None:
    """Give up what is expected where it is decided by NaN or infinity beyond the mask."""
    arrays = [v for v in arguments.values() if isinstance(v, np.ndarray) and v.dtype.kind not in "iu"]
    if operations.base_of(operation) not in MASKED or all(np.isfinite(array).all() for array in arrays):
        return
    function = operations.OPERATIONS[operation]
    given = [_of(v) if isinstance(v, np.ndarray) else v for v in operations.ordered(function, arguments)]
    with np.errstate(all="ignore"):
        results = getattr(reference, operations.base_of(operation))(*given)
    others = operations.flat(operations.by_name(function, results))
    for name, value in expected.items():
        if isinstance(value, Noisy):
            other = np.asarray(others[name])
            same = (
                (np.isfinite(value.v) & np.isfinite(other)) | (value.v == other) | np.isnan(value.v) & np.isnan(other)
            )
            expected[name] = given_up(value, ~same)
