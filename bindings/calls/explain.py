"""Puts a refused argument into words: operation, argument, what was expected, what was got."""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import index as whole_number
from typing import Any

import numpy as np

from bindings.arrays import DeviceArray
from bindings.errors import ArgumentError, ArgumentTypeError
from bindings.header.expressions import Expression
from bindings.header.records import Parameter
from bindings.header.signature import Signature, shape_of

LARGEST: dict[str, float] = {name: float(np.finfo(name).max) for name in ("float16", "float32", "float64")}
LARGEST["bfloat16"] = (2 - 2.0**-7) * 2.0**127


def number(operation: str, parameter: Parameter, value: Any) -> int | float:
    """Return the value as the number the header asks for, or raise."""
    name, element = parameter.name, parameter.element
    if parameter.type.is_integer:
        expected = f"a whole number ({parameter.ctype})"
        if isinstance(value, bool | np.ndarray) or not hasattr(value, "__index__"):
            raise ArgumentTypeError(operation, name, expected, describe(value))
        low, high = parameter.type.range
        if not low <= whole_number(value) <= high:
            raise ArgumentError(operation, name, f"{expected} from {low} to {high}", str(value))
        return whole_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentTypeError(operation, name, f"a number ({parameter.ctype})", describe(value))
    magnitude: Any = abs(value)
    if LARGEST[element] < magnitude < math.inf:
        raise ArgumentError(operation, name, f"a number that {element} can hold", repr(value))
    return float(value)


def describe(value: Any) -> str:
    """Say what a value is: its type, and type and shape of an array."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} array of shape {value.shape}"
    if isinstance(value, DeviceArray):
        return f"{value.dtype} DeviceArray of shape {value.shape}"
    if isinstance(value, bool | int | float | str) or value is None:
        return repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def _entry(parameter: Parameter, index: int | None) -> str:
    return parameter.name if index is None else f"{parameter.name}[{index}]"


def array(operation: str, parameter: Parameter, value: Any, index: int | None = None) -> ArgumentError:
    """Say what is wrong with an array, whatever its sizes should be."""
    name, dtype = _entry(parameter, index), parameter.type.dtype
    shape = f" of shape {parameter.shape_text}" if parameter.is_array else ""
    expected = f"a {dtype} array{shape}"
    if parameter.host:
        expected += " on the host"
    if not isinstance(value, np.ndarray if parameter.host else np.ndarray | DeviceArray):
        return ArgumentTypeError(operation, name, expected, describe(value))
    if isinstance(value, np.ma.MaskedArray | np.matrix):
        return ArgumentTypeError(operation, name, expected, describe(value) + f" ({type(value).__name__})")
    if value.dtype != dtype or (parameter.is_array and value.ndim != len(parameter.shape)):
        return ArgumentError(operation, name, expected, describe(value))
    if not value.flags.c_contiguous:
        got = f"strides {value.strides} for shape {value.shape}"
        return ArgumentError(operation, name, f"{expected}, dense and row-major", got)
    if not value.flags.aligned:
        at = value.address if isinstance(value, DeviceArray) else value.ctypes.data
        got = f"address {at:#x}"
        return ArgumentError(operation, name, f"{expected}, aligned to {value.itemsize} bytes", got)
    if parameter.written and not value.flags.writeable:
        return ArgumentError(operation, name, f"{expected} that can be written", "a read-only one")
    return ArgumentTypeError(operation, name, expected, f"{describe(value)} ({type(value).__name__})")


def array_list(operation: str, parameter: Parameter, value: Any) -> ArgumentError:
    expected = f"a list of {parameter.type.dtype} arrays"
    return ArgumentTypeError(operation, parameter.name, expected, describe(value))


def empty(operation: str, parameter: Parameter, value: Any, index: int) -> ArgumentError:
    return ArgumentError(operation, _entry(parameter, index), "at least one element", f"shape {value.shape}")


def unlike(operation: str, parameter: Parameter, arrays: Any, first: str, others: Any) -> ArgumentError:
    """Say where a list of arrays differs from the first list of the call."""
    if len(arrays) != len(others):
        expected = f"{len(others)} arrays, as many as {first}"
        return ArgumentError(operation, parameter.name, expected, str(len(arrays)))
    pairs = enumerate(zip(arrays, others, strict=True))
    at, got, other = next((i, a.shape, b.shape) for i, (a, b) in pairs if a.shape != b.shape)
    return ArgumentError(operation, _entry(parameter, at), f"shape {other}, that of {first}[{at}]", f"shape {got}")


def size(signature: Signature, parameter: Parameter, sizes: Mapping[str, Any], least: int) -> ArgumentError:
    """A size below the least, or more than the header's type holds; the argument named is the array that shows it."""
    source, largest = signature.source_of(parameter.name), parameter.type.range[1]
    expected = f"{parameter.name} from {least} to {largest} ({parameter.ctype})"
    got = f"{parameter.name} = {sizes[parameter.name]}"
    return ArgumentError(signature.function.operation, source or parameter.name, expected, got)


def _known(signature: Signature, parameter: Parameter, sizes: Mapping[str, Any]) -> str:
    """Say where the sizes in a shape come from."""
    names = dict.fromkeys(name for axis in parameter.shape for name in axis.size.names)
    sources = ((name, signature.source_of(name)) for name in names)
    told = [f"{n} = {sizes[n]}{f' from {s}' if s and s != parameter.name else ''}" for n, s in sources]
    return ", ".join(told)


def shape(signature: Signature, parameter: Parameter, value: Any, sizes: Mapping[str, Any]) -> ArgumentError:
    expected = f"shape {parameter.shape_text} = {shape_of(parameter, sizes)}"
    known = _known(signature, parameter, sizes)
    return ArgumentError(
        signature.function.operation,
        parameter.name,
        f"{expected} where {known}" if known else expected,
        f"shape {value.shape}",
    )


def condition(signature: Signature, sizes: Mapping[str, Any]) -> ArgumentError:
    """The first REQUIRES that does not hold; the argument named is the first in it that the caller passed."""
    broken = next(condition for condition in signature.function.requires if not _holds(condition, sizes))
    names = broken.names
    as_argument = next((name for name in names if name in signature.names), None)
    argument = as_argument or signature.source_of(names[0]) or names[0]
    got = ", ".join(f"{name} = {sizes[name]}" for name in names)
    return ArgumentError(signature.function.operation, argument, broken.text, got)


def _holds(condition: Expression, sizes: Mapping[str, Any]) -> bool:
    try:
        return bool(condition(sizes))
    except ZeroDivisionError:
        return False


def output(operation: str, parameter: Parameter, shape: tuple[int, ...]) -> ArgumentError:
    """An output that cannot exist: a size below 1, or more bytes than int64_t counts."""
    expected = f"sizes {parameter.shape_text} of at least 1, in bytes below 2^63"
    return ArgumentError(operation, parameter.name, expected, f"shape {shape}")


def index(operation: str, parameter: Parameter, value: Any, limit: Expression, bound: int) -> ArgumentError:
    """An index array with a value outside its range; the first one is shown."""
    within = parameter.limit is not None and parameter.limit[0] == "WITHIN"
    wrong = (value >= bound) | (value < 0) if within else value >= bound
    at = tuple(map(int, np.argwhere(wrong)[0]))
    text = f"{limit.text} = {bound}" if limit.text != str(bound) else limit.text
    expected = f"values v with 0 <= v < {text}" if within else f"values below {text}"
    return ArgumentError(operation, parameter.name, expected, f"{value[at]} at {list(at)}")


def apart(operation: str, argument: str, beside: str) -> ArgumentTypeError:
    """A host array in a call whose other arrays lie on the device."""
    expected = f"a DeviceArray, as {beside} is one (library.array copies there, to_host() back)"
    return ArgumentTypeError(operation, argument, expected, "a host array")


def elsewhere(operation: str, argument: str, value: DeviceArray, here: str) -> ArgumentError:
    """A DeviceArray that lies where this library does not compute."""
    return ArgumentError(operation, argument, f"an array on {here}", f"one on {value.memory.space.name}")


def needed(operation: str, parameter: Parameter, sizes: Mapping[str, Any]) -> ArgumentError:
    """An array was left out in a call that reads it."""
    held = parameter.read_if
    numbers = ", ".join(f"{name} = {sizes[name]}" for name in (held.names if held else ()))
    expected = f"an array, as {held.text if held else 'it'} holds ({numbers})"
    return ArgumentTypeError(operation, parameter.name, expected, "None")
