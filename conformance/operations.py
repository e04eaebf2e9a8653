"""What the judge reads off the header: which arrays a call takes and gives, their shapes, its scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bindings.header.elements import ELEMENTS
from bindings.header.expressions import Expression
from bindings.header.read import read_header
from bindings.header.records import Function, Parameter
from bindings.header.signature import Signature

OPERATIONS: Mapping[str, Function] = read_header().operations
SIXTEEN_BIT = "16-bit"
_HALVES = tuple(element.dtype for element in ELEMENTS.values() if element.is_half)
_SIGNATURES = {function.symbol: Signature(function) for function in OPERATIONS.values()}


def family(operation: str) -> str:
    """Return the part of the header that declares an operation; what is none, such as a training step, is its own."""
    return OPERATIONS[operation].family if operation in OPERATIONS else operation.replace("_", " ")


def signature(function: Function) -> Signature:
    """Return the Python side of a declaration."""
    return _SIGNATURES[function.symbol]


def read_arrays(function: Function) -> Sequence[Parameter]:
    """Return the arrays a caller gives: inputs, and those that are updated."""
    return signature(function).given


def layout_arrays(function: Function) -> set[str]:
    """Return the arrays that say how tensors lie in their storages: shapes and strides."""
    strided = [parameter.strided for parameter in function.parameters if parameter.strided]
    return {name for each in strided for name in (each.shape, each.strides)}


def written_arrays(function: Function) -> Sequence[Parameter]:
    """Return the arrays that hold a result after the call."""
    return signature(function).returned


def scalars(function: Function) -> list[str]:
    """Return the scalars of the Python signature: those that no given array's shape tells."""
    return [p.name for p in signature(function).scalars]


def float_scalars(function: Function) -> set[str]:
    """Return the scalars that travel as floating-point numbers."""
    return {p.name for p in function.parameters if p.is_scalar and not p.type.is_integer}


def fill(
    parameter: Parameter, sizes: Mapping[str, Any], make: Callable[[tuple[int, ...]], NDArray[Any]]
) -> NDArray[Any] | list[NDArray[Any]]:
    """Make one array of the parameter's shape, or a list of them (EACH); they differ as the source's shape does."""
    if parameter.each:
        lengths = sizes[parameter.each[1]]
        pieces = make((sum(lengths),))
        return list(np.split(pieces, np.cumsum(lengths)[:-1]))
    return make(tuple(axis.size(sizes) for axis in parameter.shape))


def typed(function: Function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as they reach C: contiguous arrays of the declared types, floats rounded to float32.

    Numbers of a 16-bit format are rounded to it and stay float32, in which the judge holds them.
    """
    result: dict[str, Any] = {}
    for name, value in arguments.items():
        parameter = function.by_name[name]
        dtype = parameter.type.dtype
        if parameter.is_scalar:
            result[name] = int(value) if parameter.type.is_integer else float(np.float32(value))
        elif parameter.each:
            result[name] = [_dense(v, dtype) for v in value]
        else:
            result[name] = _dense(value, dtype)
    return result


def _dense(value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore", invalid="ignore"):  # what a format cannot hold is infinite, or a quiet NaN
        return widened(np.array(value, dtype, order="C"))


def widened(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of a 16-bit format as float32, any other as it is; what is all ones in bits stays so."""
    if array.dtype not in _HALVES:
        return array
    poison = array.view(np.uint16) == 0xFFFF
    return np.where(poison, np.uint32(0xFFFFFFFF).view(np.float32), array.astype(np.float32))


def declared(function: Function, name: str) -> Parameter:
    """Return the parameter that a flat name belongs to: params for params[3]."""
    return function.by_name[name.partition("[")[0]]


def as_declared(operation: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return flat arguments or results, arrays that are declared in a 16-bit format rounded to it."""

    def stored(name: str, value: Any) -> Any:
        parameter = declared(OPERATIONS[operation], name)
        if not parameter.type.is_half or value is None:
            return value
        kept = [v.astype(parameter.type.dtype) for v in (value if isinstance(value, list) else [value])]
        return kept if isinstance(value, list) else kept[0]

    with np.errstate(over="ignore", invalid="ignore"):
        return {name: stored(name, value) for name, value in values.items()}


def narrowed(operation: str, outputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return flat outputs as they come out of C: those of a 16-bit format rounded to it, and float32 again."""
    stored = {name: widened(array) for name, array in as_declared(operation, outputs).items()}
    # A NaN keeps its bits: they tell what was never written.
    return {n: np.where(np.isnan(a), outputs[n], a) if a.dtype == np.float32 else a for n, a in stored.items()}


def is_sixteen_bit(operation: str) -> bool:
    """Whether the header declares it among those that store 16 bits."""
    return OPERATIONS[operation].family == SIXTEEN_BIT


def base_of(operation: str) -> str:
    """Return the float32 operation that a 16-bit one is named after; its own name for any other."""
    return operation.rpartition("_")[0] if is_sixteen_bit(operation) else operation


def size_names(operation: str) -> tuple[str, ...]:
    """Return the names of an operation's sizes: whole numbers that every call of it has."""
    return signature(OPERATIONS[operation]).whole_sizes


def sizes(operation: str, arguments: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes of a call, by name."""
    known = signature(OPERATIONS[operation]).sizes(arguments)
    return {name: int(known[name]) for name in size_names(operation)}


def ordered(function: Function, arguments: Mapping[str, Any]) -> list[Any]:
    """Return the arguments in the order of the Python signature."""
    return [arguments[name] for name in signature(function).names]


def place_in_list(name: str) -> int:
    """The place in its list that a flat name says; 0 of an array of its own."""
    return int(name.partition("[")[2].removesuffix("]") or 0)


def by_name(function: Function, results: Any) -> dict[str, Any]:
    """Return an operation's result, one array or a tuple, by the header's names."""
    names = [p.name for p in written_arrays(function)]
    return dict(zip(names, results if isinstance(results, tuple) else (results,), strict=True))


def flat(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return outputs with the members of a list apart: params[3]."""
    result: dict[str, Any] = {}
    for name, value in outputs.items():
        if isinstance(value, Sequence):
            result |= {f"{name}[{i}]": v for i, v in enumerate(value)}
        else:
            result[name] = value
    return result


def gathered(function: Function, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return flat outputs as the operation gives them: members of a list together again, all of the declared type."""
    result: dict[str, Any] = {}
    for parameter in written_arrays(function):
        name, dtype = parameter.name, parameter.type.dtype
        if parameter.each:
            members = sum(other.startswith(f"{name}[") for other in outputs)
            result[name] = [np.asarray(outputs[f"{name}[{i}]"], dtype) for i in range(members)]
        else:
            result[name] = np.asarray(outputs[name], dtype)
    return result


def axis_names(operation: str, output: str) -> tuple[str, ...]:
    """Return what an index along each axis of an output is called; a whole step's are elements."""
    if operation not in OPERATIONS:
        return ("element",)
    parameter = declared(OPERATIONS[operation], output)
    if parameter.each or len(parameter.shape) < 2:
        return ("element",)
    if len(parameter.shape) == 2:
        return "row", "column"
    sizes = (axis.size for axis in parameter.shape)
    return tuple(_noun(size.text) if size.is_name else _along(size, place) for place, size in enumerate(sizes))


def _along(size: Expression, place: int) -> str:
    """Windows are counted along the height that they are cut from: by the first name of how many there are."""
    names = [name for name in size.names if name in size.text]
    return f"place along {min(names, key=size.text.index)}" if names else f"axis {place}"


def _noun(size: str) -> str:
    """n_heads is how many heads there are; one of them is a head."""
    return size.removeprefix("n_").removesuffix("s") if size.startswith("n_") else size
