"""One call as the stack of 32-bit x86 holds it: words in the order of the declaration, arrays behind them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bindings import shape_of
from bindings.header.records import Function, Parameter
from conformance import operations
from conformance.candidates.poison import POISON

BASE, WORDS = 0x20000000, 64  # as in caller.c
_WORD, _LINE = 4, 64
_MOST = 1 << 28  # bytes of a call: what lies free behind BASE in a process of 32 bits

Array = NDArray[Any]


class TooLargeError(ValueError):
    """A call does not fit between the places that a 32-bit process has taken."""


@dataclass(frozen=True)
class Stack:
    """A call: `words` by argument, in the header's order, and by `&` and its name the address of what it holds;
    `memory`: what lies at BASE, the words not yet in it; `outputs`: where each result lies, by its flat name."""

    words: Mapping[str, bytes]
    memory: bytes
    outputs: Mapping[str, tuple[int, np.dtype[Any], tuple[int, ...]]]

    def filled(self, order: Sequence[str]) -> bytes:
        """The file of the call with the words of the arguments in this order."""
        head = b"".join(self.words[name] for name in order)
        return head.ljust(WORDS * _WORD, b"\0") + self.memory[WORDS * _WORD :]

    def results(self, memory: bytes) -> dict[str, Array]:
        """What a call left in its memory, by flat name; numbers of 16 bits as float32."""
        found = {}
        for name, (start, dtype, shape) in self.outputs.items():
            size = int(np.prod(shape)) * dtype.itemsize
            found[name] = operations.widened(np.frombuffer(memory[start : start + size], dtype).reshape(shape))
        return found


class _Arena:
    """Bytes from BASE on, into which arrays are laid one behind the other."""

    def __init__(self) -> None:
        self.held = bytearray(WORDS * _WORD)

    def add(self, content: bytes) -> int:
        """Lay bytes down; return how far behind BASE they lie."""
        self.held += bytes(-len(self.held) % _LINE)
        start = len(self.held)
        self.held += content
        return start


def lay_out(operation: str, arguments: Mapping[str, Any]) -> Stack:
    """Lay out a call with these arguments, its outputs filled with poison.  Raises TooLargeError."""
    function = operations.OPERATIONS[operation]
    signature = operations.signature(function)
    given = operations.as_declared(operation, arguments)
    sizes = signature.sizes(arguments)
    arena = _Arena()
    words: dict[str, bytes] = {}
    outputs: dict[str, tuple[int, np.dtype[Any], tuple[int, ...]]] = {}
    for parameter in function.parameters:
        if parameter.is_scalar:
            words[parameter.name] = _number(parameter, sizes[parameter.name])
        elif parameter.name == "stream":
            words[parameter.name] = _address(None)
        elif parameter.is_list:
            starts = []
            for index, member in enumerate(_members(function, parameter, given)):
                starts.append(_lay(arena, parameter, f"{parameter.name}[{index}]", member, member.shape, outputs))
            words[parameter.name] = _address(arena.add(b"".join(map(_address, starts))))
        else:
            array = _lengths(function, parameter, given)
            if array is None and parameter.is_optional:
                words[parameter.name] = _address(None)
                continue
            shape = shape_of(parameter, sizes) if array is None else array.shape
            words[parameter.name] = _address(_lay(arena, parameter, parameter.name, array, shape, outputs))
    words |= {f"&{name}": _address(arena.add(word)) for name, word in words.items()}
    if len(arena.held) > _MOST:
        raise TooLargeError(f"{operation}: a call of {len(arena.held)} bytes, at most {_MOST} fit")
    return Stack(words, bytes(arena.held), outputs)


def _lay(
    arena: _Arena,
    parameter: Parameter,
    name: str,
    array: Array | None,
    shape: tuple[int, ...],
    outputs: dict[str, tuple[int, np.dtype[Any], tuple[int, ...]]],
) -> int:
    dtype = parameter.type.dtype
    size = int(np.prod(shape)) * dtype.itemsize
    content = POISON[1] * size if array is None else np.ascontiguousarray(array, dtype).tobytes()
    start = arena.add(content)
    if parameter.direction in {"out", "updated"}:
        outputs[name] = (start, dtype, tuple(shape))
    return start


def _members(function: Function, parameter: Parameter, given: Mapping[str, Any]) -> Sequence[Array]:
    """The arrays of a list; those of a list that is filled are as long as those of the list that is given."""
    if parameter.name in given:
        members: Sequence[Array] = given[parameter.name]
        return members
    assert parameter.each
    source = operations.signature(function).lengths[parameter.each[1]]
    poison = POISON[1] * parameter.type.dtype.itemsize
    return [np.frombuffer(poison * array.size, parameter.type.dtype) for array in given[source]]


def _lengths(function: Function, parameter: Parameter, given: Mapping[str, Any]) -> Array | None:
    """An array that is given, or that of the lengths of a list's arrays."""
    described = operations.signature(function).lengths.get(parameter.name)
    return given.get(parameter.name) if described is None else np.array([a.size for a in given[described]], np.int64)


def _number(parameter: Parameter, value: Any) -> bytes:
    return np.array(value, parameter.type.dtype).tobytes().ljust(_WORD, b"\0")


def _address(start: int | None) -> bytes:
    return struct.pack("<I", 0 if start is None else BASE + start)
