"""What the judge reads off the header: which arrays a call takes and gives, their shapes, its scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bindings.header import read_header
from bindings.records import Function, Parameter
from bindings.signature import Signature

OPERATIONS: Mapping[str, Function] = read_header().operations
# Those that multiply matrices; a test holds this to what the reference does.
PRODUCTS = frozenset(
    name
    for name, function in OPERATIONS.items()
    if (function.family in ("gemm", "attention") and "cache" not in name) or "combine" in name
)
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
    """Return the arguments as they reach C: contiguous arrays of the declared types, floats rounded to float32."""
    result: dict[str, Any] = {}
    for name, value in arguments.items():
        parameter = function.by_name[name]
        dtype = parameter.type.dtype
        if parameter.is_scalar:
            result[name] = int(value) if parameter.type.is_integer else float(np.float32(value))
        elif parameter.each:
            result[name] = [np.array(v, dtype, order="C") for v in value]
        else:
            result[name] = np.array(value, dtype, order="C")
    return result


def ordered(function: Function, arguments: Mapping[str, Any]) -> list[Any]:
    """Return the arguments in the order of the Python signature."""
    return [arguments[name] for name in signature(function).names]


def named(function: Function, results: Any) -> dict[str, Any]:
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
