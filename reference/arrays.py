"""What the operations share: IEEE results, checks, accumulation, stable order."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = Any  # an ndarray, or any array class that takes part in NumPy's functions (the judge's noise type)

# NaN and infinity are results of an operation (they propagate as in its formula), not mistakes to warn about.
ieee = np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore")


def check(condition: object, operation: str, argument: str, expected: str, got: object) -> None:
    """Raise a ValueError that names operation, argument, what was expected and what was given."""
    if not condition:
        raise ValueError(f"{operation}: {argument}: expected {expected}, got {got}")


def check_same_shape(operation: str, **arrays: Array) -> None:
    """Raise where the named arrays differ in shape (NumPy would broadcast them without a word)."""
    (first, shape), *others = ((name, np.shape(array)) for name, array in arrays.items())
    for name, other in others:
        check(other == shape, operation, name, f"the shape of {first}, {shape}", other)


def check_indices(operation: str, argument: str, indices: Array, upper: int, negative: bool = False) -> None:
    """Raise where an index is not below upper, or is negative and negative ones have no meaning."""
    wrong = indices >= upper if negative else (indices < 0) | (indices >= upper)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        expected = f"values below {upper}" if negative else f"0 <= value < {upper}"
        check(False, operation, f"{argument}{list(place)}", expected, indices[place])


def in_dtype_of(array: Array, model: Array) -> Array:
    """Array in the precision of model, the operation's main input: tables such as angles never widen the result."""
    return array if array.dtype == model.dtype else array.astype(model.dtype)


def accumulate(update: Array, old: Array, beta: float) -> Array:
    """update + beta * old; old is not read where beta is 0, so it may be None or hold NaN."""
    return update if beta == 0 else update + beta * old


def descending(values: Array) -> Array:
    """Columns of each row by descending value, equal ones by lower column, NaN before everything: plain integers."""
    order = np.argsort(-values, axis=-1, kind="stable")  # leaves NaN at the end, by column
    missing = np.isnan(values)
    if not missing.any():
        return order
    columns = values.shape[-1]
    rotated = np.arange(columns) - missing.sum(axis=-1, keepdims=True)
    return np.take_along_axis(order, rotated % columns, axis=-1)


def inverse_permutation(operation: str, argument: str, position: Array) -> Array:
    """The flat index of each value of position, which has to hold 0, 1, ..., size - 1 once each."""
    flat = position.reshape(-1)
    check_indices(operation, argument, position, flat.size)
    inverse = np.full(flat.size, -1)
    inverse[flat] = np.arange(flat.size)
    check((inverse >= 0).all(), operation, argument, "a permutation", "repeated values")
    return inverse
