"""Numbers that break a condition of the header's, one step outside and as far as types go; and bytes past int64."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    """The nearest whole numbers above and below that break the condition alone, and the ends of the type if they do.

    Besides, 0 where it breaks the condition and others divide by it: what looks at those first ends there.
    """
    low, high = function.by_name[name].type.range
    tried, holds = dict(sizes), condition.evaluate

    def breaks(value: int) -> bool:
        tried[name] = value
        try:
            if holds(tried):  # looked at first: most of the numbers, which are hundreds of thousands, break nothing
                return False
        except ZeroDivisionError:
            pass
        return low <= value <= high and _breaks_only(function, condition, tried)

    for direction in (1, -1):
        values = (sizes[name] + direction * step for step in range(1, _STEPS))
        yield from (value for value in [next(filter(breaks, values), None)] if value is not None)
    yield from filter(breaks, (high, low))
    tried[name] = 0
    if low <= 0 and _are_sizes(function, tried) and _is_broken(condition, tried):
        told = [_is_broken(each, tried) for each in function.requires]
        yield from (0,) if None in told and told.count(True) == 1 else ()


def _breaks_only(function: Function, condition: Expression, values: Sizes) -> bool:
    told = ((other is condition, _is_broken(other, values)) for other in function.requires)
    return _are_sizes(function, values) and all(is_it == (broken is not False) for is_it, broken in told)


def _are_sizes(function: Function, values: Sizes) -> bool:
    """True where every argument that stands alone as a size may be one."""
    counts, from_zero = size_names(function), names_from_zero(function)
    return all(values[name] >= 1 for name in counts) and all(values[name] >= 0 for name in from_zero)


def _is_broken(condition: Expression, values: Sizes) -> bool | None:
    """None where the condition divides by zero."""
    try:
        return not condition(values)
    except ZeroDivisionError:
        return None


def too_many_bytes(function: Function, sizes: Sizes) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield for each array sizes that make more bytes of it than int64_t counts, and break no condition; once each.

    Besides, by the array's name and "_past_64_bits", sizes whose bytes come to none in 64 bits, without a sign or with.
    """
    seen: list[dict[str, int]] = []
    for parameter in function.parameters:
        names = {name for axis in parameter.shape for name in axis.size.names}
        if not names or not names <= {*size_names(function), *names_from_zero(function)}:
            continue
        wraps = f"{parameter.name}_past_64_bits"
        for name, find in ((f"{parameter.name}_past_int64", _large), (wraps, _wrapping)):
            found = find(function, parameter, sizes)
            if found and found not in seen:
                seen.append(found)
                yield name, found


def _large(function: Function, parameter: Parameter, sizes: Sizes) -> dict[str, int] | None:
    """Sizes of an array, one after the other as large as their type allows, until its bytes are too many."""
    item = parameter.type.dtype.itemsize

    def tried(top: int, bytes_so_far: int) -> tuple[int, ...]:
        largest = min(top, _BYTES // item)
        return largest, largest - 1  # either may be no multiple of what it has to be one of

    return _grown(function, parameter, sizes, tried, _BYTES)


def _wrapping(function: Function, parameter: Parameter, sizes: Sizes) -> dict[str, int] | None:
    """Powers of two as sizes of an array, whose bytes are 2^64: what counts them in 64 bits sees none."""

    def tried(top: int, bytes_so_far: int) -> tuple[int, ...]:
        left = -(-2 * _BYTES // max(bytes_so_far, 1))  # it has none where another size is 0
        return (1 << min(top, left).bit_length() - 1,)

    found = _grown(function, parameter, sizes, tried, 2 * _BYTES)
    return found if found and _bytes(parameter, {**sizes, **found}) % (2 * _BYTES) == 0 else None


def _grown(
    function: Function, parameter: Parameter, sizes: Sizes, tried: Callable[[int, int], Sequence[int]], enough: int
) -> dict[str, int] | None:
    """Sizes of an array, one after the other the first that breaks no condition, until its bytes are enough.

    tried: what to try for a size, of the largest number of its type and the array's bytes if it were 1.
    """
    values, changed = dict(sizes), dict[str, int]()
    for name in dict.fromkeys(name for axis in parameter.shape for name in axis.size.names):
        for size in tried(function.by_name[name].type.range[1], _bytes(parameter, {**values, name: 1})):
            if not any(_is_broken(condition, {**values, name: size}) for condition in function.requires):
                values[name] = changed[name] = size
                break
        if _bytes(parameter, values) >= enough:
            return changed
    return None


def _bytes(parameter: Parameter, values: Sizes) -> int:
    sizes: list[int] = [axis.size(values) for axis in parameter.shape]
    return math.prod(sizes) * parameter.type.dtype.itemsize
