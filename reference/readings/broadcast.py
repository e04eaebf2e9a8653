"""Wrong readings of a row or a column added to a matrix, and of the sums that are their gradients."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, accumulate
from reference.ops import broadcast as ops

from .reading import Given, Reading, as_stored, fed, giving, without_tail


def _sum_readings(operation: str, old: str, axis: int) -> tuple[Reading, ...]:
    function = getattr(ops, operation)
    count = "rows" if axis == 0 else "columns"

    def averaged(r: Array, g: Given) -> Array:
        d = g["d_output"]
        return accumulate(np.sum(d, axis=axis) / d.dtype.type(d.shape[axis]), g[old], g["beta"])

    def other_way(r: Array, g: Given) -> Array:
        d = g["d_output"]
        return accumulate(np.resize(np.sum(d, axis=1 - axis), d.shape[1 - axis]), g[old], g["beta"])

    def as_transposed(r: Array, g: Given) -> Array:
        d = g["d_output"]
        return accumulate(np.sum(as_stored(d, *d.shape[::-1]), axis=1 - axis), g[old], g["beta"])

    def last(r: Array, g: Given) -> Array:
        return accumulate(np.take(g["d_output"], -1, axis=axis), g[old], g["beta"])

    def first_left_out(r: Array, g: Given) -> Array:
        left = np.delete(g["d_output"], 0, axis=axis)
        return accumulate(np.sum(left, axis=axis), g[old], g["beta"])

    return (
        Reading(
            operation, "mean in place of the sum", f"Divided by the number of {count}.", giving(function, averaged)
        ),
        Reading(operation, "summed along the other axis", "Rows and columns exchanged.", giving(function, other_way)),
        Reading(
            operation,
            "rows as long as there are columns",
            "The matrix is stored the other way round.",
            giving(function, as_transposed),
        ),
        Reading(
            operation,
            "assigned, not added up",
            f"Each of the {count} is stored over the one before it.",
            giving(function, last),
        ),
        Reading(operation, f"first of the {count} left out", "The loop begins at 1.", giving(function, first_left_out)),
        Reading(operation, "assigned", "beta is ignored: nothing is accumulated.", fed(function, beta=lambda g: 0.0)),
        Reading(
            operation,
            "beta taken as 1",
            "What is there is always added.",
            fed(function, beta=lambda g: 1.0 if g["beta"] else 0.0),
        ),
        Reading(
            operation, "tail left out", "Nothing past the last whole vector of four.", giving(function, without_tail)
        ),
    )


def _added_readings(operation: str, name: str, axis: int) -> tuple[Reading, ...]:
    function = getattr(ops, operation)
    other = ops.add_column if operation == "add_row" else ops.add_row
    what = "row" if operation == "add_row" else "column"

    def other_way(r: Array, g: Given) -> Array:
        return other(g["input"], np.resize(g[name], g["input"].shape[1 - axis]))

    def flat(r: Array, g: Given) -> Array:
        x = g["input"].reshape(-1)
        return np.where(np.arange(x.size) < g[name].size, x + np.resize(g[name], x.shape), x).reshape(r.shape)

    return (
        Reading(operation, f"one number to each {what}", "Rows and columns exchanged.", giving(function, other_way)),
        Reading(
            operation,
            "first number to all",
            "The vector is taken for a scalar.",
            fed(function, **{name: lambda g: np.full_like(g[name], g[name][0])}),
        ),
        Reading(
            operation,
            "added once",
            "Only what lies beside the vector's numbers in memory gets them.",
            giving(function, flat),
        ),
        Reading(operation, "subtracted", "A sign is lost.", fed(function, **{name: lambda g: -g[name]})),
        Reading(operation, "nothing added", "The input is handed on.", giving(function, lambda r, g: g["input"] + 0)),
        Reading(
            operation, "tail left out", "Nothing past the last whole vector of four.", giving(function, without_tail)
        ),
    )


READINGS = (
    *_added_readings("add_row", "row", 1),
    *_added_readings("add_column", "column", 0),
    *_sum_readings("add_row_backward", "d_row", 0),
    *_sum_readings("add_column_backward", "d_column", 1),
)
