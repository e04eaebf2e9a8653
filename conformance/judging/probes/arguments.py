"""Calls of any operation with simple contents: every size 1 but one, every array full of ones, or of zeros."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from bindings.header.records import Parameter
from conformance import operations
from conformance.catalogue.families import facts_of

Array = NDArray[Any]
# Scalars that leave numbers as they are, by the names that the header gives them; every size is 1.
_SCALARS = {
    **{"alpha": 1.0, "beta": 0.0, "scale": 1.0, "eps": 0.0, "offset": 0, "position": 0, "clip_norm": 2.0**40},
    **{"lr": 0.5, "beta1": 0.5, "beta2": 0.5, "weight_decay": 0.0, "step": 1, "temperature": 1.0, "top_p": 1.0, "k": 1},
    **{"momentum": 0.5, "nesterov": 0},
    **{"cols": 1, "n_experts": 1, "batch_seq": 1, "base": 2.0, "max_seq_len": 1, "size": 1, "seed": 0},
}


def axes(parameter: Parameter) -> list[str]:
    """Return the names of an array's axes, "" where one is an expression; of a list, that of its arrays' length."""
    if parameter.each:
        return [parameter.each[1]]
    return [axis.size.text if axis.size.is_name else "" for axis in parameter.shape]


def floats(operation: str) -> list[Parameter]:
    """Return the floating-point arrays that a call is given, those on the host apart."""
    given = operations.read_arrays(operations.OPERATIONS[operation])
    return [p for p in given if p.type.dtype == np.float32 and not p.host]


def build(
    operation: str, axis: str, length: int, rest: float, contents: Mapping[str, Array], wide: Mapping[str, int] = {}
) -> dict[str, Any]:
    """Return arguments as they reach C: the axis has this length, arrays without contents hold `rest`.

    contents: by name, the numbers along the axis, or one for the whole array.  wide: sizes that are not 1.  Memory that
    is only added to is zero.
    """
    function = operations.OPERATIONS[operation]
    names = {name for p in function.parameters for one in p.shape for name in one.size.names}
    sizes: dict[str, Any] = dict.fromkeys(names, 1)
    sizes |= {name: _SCALARS[name] for name in operations.scalars(function) if name in _SCALARS}
    sizes |= facts_of(operation).neutral
    sizes |= wide
    if axis:
        sizes[axis] = length
    sizes |= {"sizes": [length if axis == "sizes" else 1], "count": 1}
    if "kv_capacity" in sizes:
        sizes["kv_len"] = sizes["kv_capacity"]
    made: dict[str, Any] = {name: np.array(sizes[name]) for name in operations.layout_arrays(function)}
    for parameter in operations.read_arrays(function):
        if parameter.name in made:
            continue

        def fill(shape: tuple[int, ...], parameter: Parameter = parameter) -> Array:
            return _filled(parameter, shape, axis, sizes, rest, contents)

        made[parameter.name] = operations.fill(parameter, sizes, fill)
    made |= {name: _scalar(operation, name, sizes) for name in operations.scalars(function)}
    return operations.typed(function, made)


def _scalar(operation: str, name: str, sizes: Mapping[str, Any]) -> Any:
    if name not in sizes:
        raise LookupError(f"{operation}: expected {name} among the neutral arguments of its facts, got none")
    return sizes[name]


def _filled(
    parameter: Parameter, shape: tuple[int, ...], axis: str, sizes: Mapping[str, Any], rest: float,
    contents: Mapping[str, Array],
) -> Array:  # fmt: skip
    if parameter.name == "offsets":
        return np.array([0, sizes["rows"]])
    if parameter.name == "position":
        return np.arange(np.prod(shape)).reshape(shape)
    if parameter.type.is_integer:
        return np.zeros(shape)
    if parameter.name in contents:
        held = np.asarray(contents[parameter.name])
        places = [place for place, name in enumerate(axes(parameter)) if name == axis]
        if held.size > 1 and places:
            held = held.reshape([-1 if place == places[-1] else 1 for place in range(len(shape))])
        return np.broadcast_to(held, shape).copy()
    return np.full(shape, 0.0 if parameter.direction == "updated" else rest)


def evaluated(operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the reference makes of the arguments in float64, by flat name."""
    function = operations.OPERATIONS[operation]
    widened = [_widened(v) for v in operations.ordered(function, arguments)]
    with np.errstate(all="ignore"):
        return operations.flat(operations.by_name(function, getattr(reference, operation)(*widened)))


def _widened(value: Any) -> Any:
    if isinstance(value, list):
        return [_widened(v) for v in value]
    return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype == np.float32 else value
