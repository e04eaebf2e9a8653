"""Calls on tensors that lie as those of a call before: what does not change is checked once, the rest by a function
written for the operation, as quick.py has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from bindings.arrays import Memory
from bindings.header.records import Parameter
from bindings.header.signature import Signature
from bindings.shared_object.foreign import from_buffer

from .checks import READABLE
from .strides import span

Prepared = Callable[..., Any]
_WORDS: dict[str, Any] = {
    "_ndarray": np.ndarray, "_empty": np.empty, "_from_buffer": from_buffer, "_type": type, "_NoMemory": MemoryError,
}  # fmt: skip


def has_preparation(signature: Signature) -> bool:
    """Whether all arrays are tensors' storages, of which one is written, and what says how they lie."""
    arrays = [p for p in signature.function.parameters if p.is_array or p.is_list]
    written = [p for p in arrays if p.written]
    plain = all((p.strided or p.host) and not (p.is_list or p.limit or p.is_optional) for p in arrays)
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
        known |= {f"_{p.element}": p.type.dtype for p in self._tensors}
        exec(compile("\n".join(self._lines(function)), f"<{function.operation} prepared>", "exec"), known)
        self._make: Callable[..., Prepared] = known["_make"]

    def __call__(self, values: Mapping[str, Any], sizes: Mapping[str, Any]) -> Prepared | None:
        """Return the function for the layouts of a call that was checked; None where its output has other places."""
        output = next(p for p in self._tensors if p.written)
        if _elements(output, values) != values[output.name].size:
            return None
        settled = {name: from_buffer(values[name].copy()) for name in self._settled}
        numbers = {name: sizes[name] for name in self._numbers}
        least = {f"_least_{p.name}": _least(p, values, sizes) for p in self._tensors if not p.written}
        return self._make(**settled, **numbers, **least)

    def _lines(self, function: Any) -> Iterator[str]:
        """The text: a function of what is settled, which returns one of the inputs."""
        inputs = [p.name for p in self._tensors if not p.written]
        (output,) = (p for p in self._tensors if p.written)
        size_of = {p.name: p.shape[0].size.text for p in self._tensors}
        yield f"def _make(*, {', '.join([*self._settled, *self._numbers, *(f'_least_{name}' for name in inputs)])}):"
        yield f"  def _prepared({', '.join(inputs)}):"
        yield "    if _memory.capture is not None: return None"
        for parameter in self._tensors:
            if not parameter.written:
                yield f"    {parameter.name}_places = {parameter.name}.size"
                yield f"    if {' or '.join(_unusual(parameter))}: return None"
        yield f"    try: {output.name} = _empty({size_of[output.name]}, _{output.element})"
        yield "    except _NoMemory: return None"
        passed = {size_of[name]: f"{name}_places" for name in inputs} | {"stream": "_memory.stream_pointer"}
        passed |= {p.name: f"_from_buffer({p.name})" for p in self._tensors}
        yield f"    _code = _entry({', '.join(passed.get(p.name, p.name) for p in function.parameters)})"
        yield "    if _code: raise _error(_code)"
        yield f"    _called({function.operation!r})"
        yield f"    return {output.name}"
        yield "  return _prepared"


def _unusual(parameter: Parameter) -> Iterator[str]:
    """What an input must not be."""
    name = parameter.name
    yield f"_type({name}) is not _ndarray"
    yield f"{name}.dtype is not _{parameter.element}"
    yield f"{name}.flags.num & {READABLE} != {READABLE}"
    yield f"{name}.ndim != {len(parameter.shape)}"
    yield f"{name}_places < _least_{name}"


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
