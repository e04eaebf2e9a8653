"""Calls on tensors that lie as those of a call before: what does not change is checked once, the rest by a function
written for the operation, as quick.py has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from bindings.arrays import Memory
from bindings.header.records import Function, Parameter
from bindings.header.signature import Signature
from bindings.shared_object.foreign import FLOATS, allocate, from_buffer, whole

from .checks import READABLE
from .strides import span

Prepared = Callable[..., Any]
_FLOAT32 = np.dtype(np.float32)
SMALL = 1024  # numbers of an output that NumPy does not allocate: it knows better where much memory comes from
_WORDS: dict[str, Any] = {
    "_allocate": allocate, "_allocate_large": lambda kind, size: from_buffer(kind, np.empty(size, _FLOAT32)),
    "_FLOATS": FLOATS, "_len": len, "_NoMemory": MemoryError, "_SMALL": SMALL,
}  # fmt: skip


def held(array: Any) -> Any:
    """Return an array's memory as prepared calls take it; None where they take none of its kind.

    They take NumPy arrays of float32 of one axis, one element behind the other, aligned.
    """
    is_plain = type(array) is np.ndarray and array.dtype == _FLOAT32 and array.flags.num & READABLE == READABLE
    return from_buffer(FLOATS, array) if is_plain and array.ndim == 1 else None


def array_of(memory: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the array that is held so, or that a prepared call has made."""
    return np.frombuffer(whole(memory), _FLOAT32)


def has_preparation(signature: Signature) -> bool:
    """Whether all arrays are tensors' storages, of which one is written, and what says how they lie."""
    arrays = [p for p in signature.function.parameters if p.is_array or p.is_list]
    written = [p for p in arrays if p.written]
    plain = all((p.strided or p.host) and not (p.is_list or p.limit or p.is_optional) for p in arrays)
    plain = plain and all(p.element == "float32" for p in arrays if p.strided)
    return plain and len(written) == 1 and written[0].strided is not None


class Preparation:
    """Of one operation, whose arrays on tensors are STRIDED: inputs, and one output."""

    def __init__(
        self, signature: Signature, entry: Callable[..., int], memory: Memory, error: Callable[[int], Any]
    ) -> None:
        function = signature.function
        self._tensors = [p for p in function.parameters if p.strided]
        self._settled = [p.name for p in function.parameters if p.is_array and not p.strided]
        self._numbers = [p.name for p in function.parameters if not p.is_array and p.name != "stream"]
        known = _WORDS | {"_entry": entry, "_memory": memory, "_error": error, "_called": memory.called.append}
        exec(compile("\n".join(self._lines(function)), f"<{function.operation} prepared>", "exec"), known)
        self._make: Callable[..., Prepared] = known["_make"]
        self._make_into: Callable[..., Prepared] = known["_make_into"]

    def __call__(self, values: Mapping[str, Any], sizes: Mapping[str, Any]) -> Prepared | None:
        """Return the function for the layouts of a call that was checked; None where its output has other places."""
        output = next(p for p in self._tensors if p.written)
        if _elements(output, values) != values[output.name].size:
            return None
        return self._make(**self._told(values, sizes))

    def into(self, values: Mapping[str, Any], sizes: Mapping[str, Any]) -> Prepared:
        """Return the function that writes into the storage it is given: the output's, behind those of the inputs."""
        return self._make_into(**self._told(values, sizes))

    def _told(self, values: Mapping[str, Any], sizes: Mapping[str, Any]) -> dict[str, Any]:
        settled = {name: from_buffer(values[name].copy()) for name in self._settled}
        numbers = {name: sizes[name] for name in self._numbers}
        return settled | numbers | {f"_least_{p.name}": _least(p, values, sizes) for p in self._tensors}

    def _lines(self, function: Function) -> Iterator[str]:
        """The text: functions of what is settled, which return the one of the storages."""
        inputs = [p.name for p in self._tensors if not p.written]
        (output,) = (p.name for p in self._tensors if p.written)
        size_of = {p.name: p.shape[0].size.text for p in self._tensors}
        told = ", ".join([*self._settled, *self._numbers, *(f"_least_{p.name}" for p in self._tensors)])
        yield f"def _make(*, {told}):"
        yield f"  _new = _allocate if {size_of[output]} <= _SMALL else _allocate_large"
        yield from self._head(inputs)
        yield f"    try: {output} = _new(_FLOATS, {size_of[output]})"
        yield "    except _NoMemory: return None"
        yield from self._call(function, {size_of[name]: f"_len_{name}" for name in inputs})
        yield f"    return {output}"
        yield "  return _prepared"
        yield f"def _make_into(*, {told}):"
        yield from self._head([*inputs, output])
        yield from self._call(function, {size_of[name]: f"_len_{name}" for name in (*inputs, output)})
        yield "    return True"
        yield "  return _prepared"

    def _head(self, storages: list[str]) -> Iterator[str]:
        yield f"  def _prepared({', '.join(storages)}):"
        yield "    if _memory.capture is not None: return None"
        for name in storages:
            yield f"    if {name} is None or (_len_{name} := _len({name})) < _least_{name}: return None"

    def _call(self, function: Function, passed: dict[str, str]) -> Iterator[str]:
        """passed: what stands for a parameter, where that is not its own name."""
        words = passed | {"stream": "_memory.stream_pointer"}
        yield f"    _code = _entry({', '.join(words.get(p.name, p.name) for p in function.parameters)})"
        yield "    if _code: raise _error(_code)"
        yield f"    _called({function.operation!r})"


def _lies(parameter: Parameter, values: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    strided = parameter.strided
    assert strided
    strides = values[strided.strides].tolist()
    return values[strided.shape].tolist()[: len(strides)], strides


def _elements(parameter: Parameter, values: Mapping[str, Any]) -> int:
    return int(np.prod(_lies(parameter, values)[0], dtype=object))


def _least(parameter: Parameter, values: Mapping[str, Any], sizes: Mapping[str, Any]) -> int:
    """How many places the storage must have."""
    shape, strides = _lies(parameter, values)
    assert parameter.strided
    return span(shape, strides, sizes[parameter.strided.offset])[1] + 1 if all(shape) else 0
