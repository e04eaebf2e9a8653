"""A call as most are made, by a function written for its operation: the checks of checks.py without their tables.

It serves host arrays of exactly the header's types, those that are updated apart from all others; to anything else,
right or wrong, it answers UNUSUAL, having done nothing.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bindings.arrays import Memory
from bindings.header.records import Parameter
from bindings.header.signature import Signature
from bindings.shared_object.foreign import NULL, address, from_buffer

from .checks import READABLE, WRITABLE, plain_numbers

UNUSUAL = object()
Quick = Callable[..., Any]
_WORDS: dict[str, Any] = {
    "_UNUSUAL": UNUSUAL, "_NULL": NULL, "_ndarray": np.ndarray, "_empty": np.empty, "_from_buffer": from_buffer,
    "_address": address, "_type": type, "_float": float, "_int": int, "_NotWhole": ZeroDivisionError,
    "_TooLarge": (MemoryError, ValueError),
}  # fmt: skip


def has_quick(signature: Signature) -> bool:
    """Whether there is such a function: not for lists, for what has a workspace, and for tensors of any layout."""
    parameters = signature.function.parameters
    return not (
        any(p.is_list or p.direction == "workspace" for p in parameters)
        or any(p.limit and p.is_optional for p in parameters)
        or any(p.strided for p in parameters)
        or any(axis.at_least or axis.or_zero for p in parameters for axis in p.shape)
        or any(keyword.iskeyword(p.name) or p.name.startswith("_") for p in parameters)
    )


def compile_quick(
    signature: Signature, entry: Callable[..., int], memory: Memory, error: Callable[[int], Any]
) -> Quick:
    """Return the function, of the arguments in the order of the Python signature; `error` makes what a code raises."""
    function = signature.function
    known = _WORDS | {"_entry": entry, "_memory": memory, "_error": error}
    known |= {f"_{p.element}": p.type.dtype for p in function.parameters if p.is_array}
    exec(compile("\n".join(_lines(signature)), f"<{function.operation}>", "exec"), known)
    quick: Quick = known["_quick"]
    return quick


def _lines(signature: Signature) -> Iterator[str]:
    """The function's text."""
    function, returned = signature.function, [p.name for p in signature.returned]
    made = [p for p in function.parameters if p.direction == "out"]
    yield f"def _quick({', '.join(signature.names)}):"
    yield "  if _memory.capture is not None: return _UNUSUAL"
    for parameter in signature.given:
        yield from array_lines(parameter)
    for size, array, index, added in signature.solvers:
        yield f"  {size} = {array}.shape[{index}]" + (f" - {added}" if added else "")
    yield "  try:"
    yield from (f"    if {condition}: return _UNUSUAL" for condition in _unusual(signature))
    for parameter in signature.given:
        if parameter.direction == "updated":
            yield from _updated_lines(signature, parameter)
    yield from (f"    {p.name} = _empty({_shape(p)}, _{p.element})" for p in made)
    yield "  except _NotWhole: return _UNUSUAL"
    yield "  except _TooLarge: return _UNUSUAL"
    yield f"  _code = _entry({', '.join(map(_passed, function.parameters))})"
    yield "  if _code: raise _error(_code)"
    yield f"  _memory.called.append({function.operation!r})"
    yield f"  return {', '.join(returned)}"


def array_lines(parameter: Parameter) -> Iterator[str]:
    """Lines that look at an array by itself, before any size is known."""
    name, flags = parameter.name, WRITABLE if parameter.written else READABLE
    wrong = f"_type({name}) is not _ndarray or {name}.dtype is not _{parameter.element}"
    wrong += f" or {name}.flags.num & {flags} != {flags} or {name}.ndim != {len(parameter.shape)}"
    yield f"  if {_if_given(parameter, wrong)}: return _UNUSUAL"


def _if_given(parameter: Parameter, condition: str) -> str:
    """The condition, false where the array may be left out and is."""
    return f"{parameter.name} is not None and ({condition})" if parameter.read_if else condition


def _updated_lines(signature: Signature, parameter: Parameter) -> Iterator[str]:
    """Lines that see that an array which is updated lies apart from all others, or make it where it is left out."""
    name = parameter.name
    apart = [f"_start = _address(_from_buffer({name}))", f"_end = _start + {name}.nbytes"]
    for other in signature.given:
        if other is not parameter:
            meets = f"_start < (_begin := _address(_from_buffer({other.name}))) + {other.name}.nbytes and _begin < _end"
            apart.append(f"if {_if_given(other, meets)}: return _UNUSUAL")
    if not parameter.read_if:
        yield from (f"    {line}" for line in apart)
        return
    yield f"    if {name} is None: {name} = _empty({_shape(parameter)}, _{parameter.element})"
    yield "    else:"
    yield from (f"      {line}" for line in apart)


def _unusual(signature: Signature) -> Iterator[str]:
    """Conditions of which none holds in a usual call, once the sizes are known."""
    for parameter in signature.scalars:
        kind, low, high = plain_numbers(parameter)
        yield f"_type({parameter.name}) is not _{kind.__name__} or not {low!r} <= {parameter.name} <= {high!r}"
    yield from (f"not 0 < {p.name} <= {p.type.range[1]}" for p in signature.size_parameters)
    solved = {(array, index) for _, array, index, added in signature.solvers if not added}
    for parameter in signature.given:
        if parameter.read_if:
            needed = _text(parameter.read_if.text)
            yield f"{parameter.name} is None and ({needed})"
        if any((parameter.name, i) not in solved for i in range(len(parameter.shape))):
            yield _if_given(parameter, f"{parameter.name}.shape != {_shape(parameter)}")
    yield from (f"not ({_text(condition.text)})" for condition in signature.function.requires)
    for parameter in signature.given:
        if parameter.limit:
            word, bound = parameter.limit
            yield f"{_value_at(parameter, 'argmax')} >= {_text(bound.text)}"
            if word == "WITHIN":
                yield f"{_value_at(parameter, 'argmin')} < 0"
    for parameter in signature.outputs:
        yield from (f"{_text(axis.size.text)} < 1" for axis in parameter.shape if not axis.size.is_name)


def _value_at(parameter: Parameter, place: str) -> str:
    """The largest or the smallest of an array, found by its place: NumPy takes a fourth of the time of max() for it."""
    return f"{parameter.name}.item({parameter.name}.{place}())"


def _text(expression: str) -> str:
    """An expression of the header in Python: division is whole."""
    return expression.replace("/", "//")


def _shape(parameter: Parameter) -> str:
    return f"({''.join(f'{_text(axis.size.text)}, ' for axis in parameter.shape)})"


def _passed(parameter: Parameter) -> str:
    """An argument as the entry takes it."""
    if not parameter.is_array:
        return "_memory.stream_pointer" if parameter.name == "stream" else parameter.name
    taken = f"_from_buffer({parameter.name})"
    return f"_NULL if {parameter.name} is None else {taken}" if parameter.is_optional else taken
