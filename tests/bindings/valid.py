"""Valid arguments for any declared operation, made from its declaration."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from bindings import Function, Parameter, Signature, shape_of


def sizes_of(function: Function, rng: random.Random) -> dict[str, Any]:
    """Return random numbers and sizes, different ones where REQUIRES lets them be."""
    signature = Signature(function)
    free = {name for p in signature.given for axis in p.shape for name in axis.size.names}
    names = free | {p.name for p in function.parameters if p.is_scalar and p.type.is_integer}
    floats = [p.name for p in function.parameters if p.is_scalar and not p.type.is_integer]
    for _ in range(100_000):
        numbers: dict[str, Any] = {name: rng.randint(1, 8) for name in sorted(names)}
        numbers |= {name: rng.choice([0.25, 0.5, 0.75]) for name in floats}
        if all(condition(numbers) for condition in function.requires):
            return numbers
    raise AssertionError(f"no sizes found for {function.operation}")


def array_of(parameter: Parameter, shape: tuple[int, ...]) -> Any:
    return np.full(shape, 0 if parameter.type.is_integer else 0.5, parameter.type.dtype)


def arguments_of(function: Function, rng: random.Random) -> dict[str, Any]:
    """Return the arguments of the Python function by name."""
    signature, numbers = Signature(function), sizes_of(function, rng)
    values: dict[str, Any] = {}
    for parameter in signature.given:
        if parameter.each:
            shapes = [(index + 1, 3) for index in range(numbers[parameter.each[0]])]
            values[parameter.name] = [array_of(parameter, shape) for shape in shapes]
        else:
            values[parameter.name] = array_of(parameter, shape_of(parameter, numbers))
    return values | {p.name: numbers[p.name] for p in signature.scalars}
