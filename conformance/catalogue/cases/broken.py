"""Numbers that break a condition of the header's, one step outside and as far as types go; and bytes past int64."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bindings.header.expressions import Expression
from bindings.header.records import Function, Parameter
from conformance import operations

Sizes = Mapping[str, Any]
_STEPS = 1 << 7  # how far from a good call's number the border of a condition is looked for
_LEAST = float(np.finfo(np.float32).tiny)  # the step to either side of 0: what lies closer may be flushed to it
_BYTES = 1 << 63  # of one array: too many


def size_names(function: Function) -> list[str]:
    """Return the arguments that stand alone as a size somewhere: each is at least 1."""
    return [parameter.name for parameter in operations.signature(function).size_parameters]


def names_from_zero(function: Function) -> list[str]:
    """Return the arguments that stand alone as a size only where OR_ZERO says that it may be 0."""
    return [parameter.name for parameter in operations.signature(function).counts_from_zero]


def broken(function: Function, sizes: Sizes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield for each condition and each number in it what breaks that condition alone: by name, and the number.

    sizes: of a good call.
    """
    floats = operations.float_scalars(function)
    for condition, name in ((each, name) for each in function.requires for name in each.names):
        found = _floats if name in floats else _integers
        for bad in dict.fromkeys(found(function, condition, name, sizes)):
            written = f"{bad:.3g}" if name in floats else str(bad)
            yield f"{name}={written}_breaks_{condition.text.replace(' ', '')}", {name: bad}
    spoken_of = {name for condition in function.requires for name in condition.names}
    for name in sorted(spoken_of & floats):
        yield f"{name}=nan", {name: math.nan}


def _floats(function: Function, condition: Expression, name: str, sizes: Sizes) -> Iterator[float]:
    """The number that a condition compares with or the next one outside, and one farther away."""
    for border in _constants(condition):
        for outside in (-1.0, 1.0):
            tried = (border, _next(border, outside), border + outside)
            found = [value for value in tried if _breaks_only(function, condition, {**sizes, name: value})]
            yield from (*found[:1], *found[-1:]) if border + outside in found else ()


def _constants(condition: Expression) -> list[float]:
    values = (node.value for node in ast.walk(condition.tree) if isinstance(node, ast.Constant))
    return [float(value) for value in values if isinstance(value, int | float)]


def _next(number: float, side: float) -> float:
    """The float32 beside a number, below or above; beside 0 the first that is not flushed to it."""
    if number == 0:
        return math.copysign(_LEAST, side)
    return float(np.nextafter(np.float32(number), np.float32(math.copysign(math.inf, side))))


def _integers(function: Function, condition: Expression, name: str, sizes: Sizes) -> Iterator[int]:
    """The nearest whole numbers above and below that break the condition alone, and the ends of the type if they do."""
    low, high = function.by_name[name].type.range

    def breaks(value: int) -> bool:
        return low <= value <= high and _breaks_only(function, condition, {**sizes, name: value})

    for direction in (1, -1):
        values = (sizes[name] + direction * step for step in range(1, _STEPS))
        yield from (value for value in [next(filter(breaks, values), None)] if value is not None)
    yield from filter(breaks, (high, low))


def _breaks_only(function: Function, condition: Expression, values: Sizes) -> bool:
    if not _is_broken(condition, values):  # first: most numbers break nothing
        return False
    if any(values[name] < 1 for name in size_names(function)):
        return False
    if any(values[name] < 0 for name in names_from_zero(function)):
        return False
    return all((other is condition) == _is_broken(other, values) for other in function.requires)


def _is_broken(condition: Expression, values: Sizes) -> bool:
    try:
        return not condition(values)
    except ZeroDivisionError:
        return True


def too_many_bytes(function: Function, sizes: Sizes) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield for each array sizes that make more bytes of it than int64_t counts, and break no condition; once each."""
    seen: list[dict[str, int]] = []
    for parameter in function.parameters:
        names = {name for axis in parameter.shape for name in axis.size.names}
        all_sizes = {*size_names(function), *names_from_zero(function)}
        found = _large(function, parameter, sizes) if names and names <= all_sizes else None
        if found and found not in seen:
            seen.append(found)
            yield parameter.name, found


def _large(function: Function, parameter: Parameter, sizes: Sizes) -> dict[str, int] | None:
    """Sizes of an array, one after the other as large as their type allows, until its bytes are too many."""
    values, item = dict(sizes), parameter.type.dtype.itemsize
    changed: dict[str, int] = {}
    for name in dict.fromkeys(name for axis in parameter.shape for name in axis.size.names):
        top = min(function.by_name[name].type.range[1], _BYTES // item)
        for size in (top, top - 1):  # either may be no multiple of what it has to be one of
            if not any(_is_broken(condition, {**values, name: size}) for condition in function.requires):
                values[name] = changed[name] = size
                break
        if math.prod(axis.size(values) for axis in parameter.shape) * item >= _BYTES:
            return changed
    return None
