"""Wrong readings of where the elements of strided tensors lie, and of their products."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from reference.arrays import Array

from .reading import Given, Reading
from .strided_places import OPERANDS, Change, changed, computed, lengths_of, of_arguments


def _dense(lengths: tuple[int, ...]) -> Array:
    steps = [math.prod(lengths[axis + 1 :]) for axis in range(len(lengths))]
    return np.array(steps, np.int64)


def _dense_strides(operand: str) -> Change:
    return lambda g: {f"{operand}_strides": _dense(lengths_of(g)[: len(g[f"{operand}_strides"])])}


def _no_offset(operand: str) -> Change:
    return lambda g: {f"{operand}_offset": 0}


def _upward(operand: str) -> Change:
    """Negative strides taken for positive ones."""
    return lambda g: {f"{operand}_strides": np.abs(g[f"{operand}_strides"])}


def _read_on(operand: str) -> Change:
    """What is repeated is read on as if it were dense."""

    def change(g: Given) -> Given:
        strides = g[f"{operand}_strides"]
        return {f"{operand}_strides": np.where(strides == 0, _dense(lengths_of(g)[: len(strides)]), strides)}

    return change


def _backwards(operand: str) -> Change:
    return lambda g: {f"{operand}_strides": g[f"{operand}_strides"][::-1]}


def _cleared(operation: str) -> Callable[..., Array]:
    """What no element names is 0."""
    return of_arguments(operation, lambda g: computed(operation, g | {"output": np.zeros_like(g["output"])}))


def _layout_readings(operation: str) -> tuple[Reading, ...]:
    *inputs, _ = OPERANDS[operation]
    found = [Reading(operation, "what lies between elements cleared", "The storage is made anew.", _cleared(operation))]
    for operand in OPERANDS[operation]:
        found += [
            Reading(operation, f"strides of {operand} ignored", "Every tensor is taken for a dense one.",
                    changed(operation, _dense_strides(operand))),
            Reading(operation, f"offset of {operand} ignored", "The storage's beginning is taken for the tensor's.",
                    changed(operation, _no_offset(operand))),
            Reading(operation, f"strides of {operand} taken as positive", "Their type has no sign.",
                    changed(operation, _upward(operand))),
            Reading(operation, f"strides of {operand} in the other order", "The first is that of the innermost axis.",
                    changed(operation, _backwards(operand))),
        ]  # fmt: skip
    for operand in inputs:
        found.append(
            Reading(operation, f"{operand} not repeated", "A stride of 0 is taken for a missing one.",
                    changed(operation, _read_on(operand)))
        )  # fmt: skip
    return tuple(found)


def _factor_turned(operand: str, one: int) -> Change:
    """The strides of rows and columns of a factor exchanged."""

    def change(g: Given) -> Given:
        strides = np.array(g[f"{operand}_strides"])
        strides[[one, -1]] = strides[[-1, one]]
        return {f"{operand}_strides": strides}

    return change


def _first_of_batch(operand: str) -> Change:
    def change(g: Given) -> Given:
        strides = np.array(g[f"{operand}_strides"])
        strides[:-3] = 0
        return {f"{operand}_strides": strides}

    return change


def _without_step(operand: str, axis: int) -> Change:
    """A factor that moves along the axis that a matrix of its kind does not have is taken for one that does not."""

    def change(g: Given) -> Given:
        strides = np.array(g[f"{operand}_strides"])
        strides[axis] = 0
        return {f"{operand}_strides": strides}

    return change


_PRODUCTS = (
    *((f"{operand} transposed", "Rows and columns are exchanged.", _factor_turned(operand, one))
      for operand, one in (("a", -3), ("b", -2))),
    *((f"{operand} of the first product for all", "A batch has its own results alone.", _first_of_batch(operand))
      for operand in ("a", "b")),
    *((f"stride of {operand} along {axis} ignored", "A factor of a matrix product does not move along it.",
       _without_step(operand, place)) for operand, axis, place in (("a", "n", -2), ("b", "m", -3))),
)  # fmt: skip

READINGS = (
    *(reading for operation in OPERANDS for reading in _layout_readings(operation)),
    *(Reading("matmul_strided", name, why, changed("matmul_strided", change)) for name, why, change in _PRODUCTS),
)
