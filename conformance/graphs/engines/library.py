"""In the worker's process: a library's assayer_graph_step, called on poisoned results between margins."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bindings.shared_object.foreign import pointer
from conformance.candidates.poison import POISON

SYMBOL = "assayer_graph_step"
_TYPES = ("char*", "void*", "int32_t", "void*", "int32_t")
_ARRAY = np.dtype(
    [("name", "u8"), ("data", "u8"), ("shape", "u8"), ("rank", "i4"), ("type", "i4")]
)  # the header's record
_NUMBERS = {"float32": 0, "int32": 1}
_MARGIN, _FILL = 256, 0xA5  # bytes before and behind every array, and what they hold


class _Held:
    """An array between two margins."""

    def __init__(self, name: str, shape: tuple[int, ...], dtype: str) -> None:
        self.size = math.prod(shape) * np.dtype(dtype).itemsize
        self.memory = np.full(self.size + 2 * _MARGIN, _FILL, np.uint8)
        self.array = self.memory[_MARGIN : _MARGIN + self.size].view(dtype).reshape(shape)
        self.name, self.shape = np.frombuffer(name.encode() + b"\0", np.uint8), np.array(shape or (0,), np.int64)

    @property
    def record(self) -> tuple[int, ...]:
        addresses = (self.name.ctypes.data, self.array.ctypes.data, self.shape.ctypes.data)
        return (*addresses, self.array.ndim, _NUMBERS[self.array.dtype.name])

    def stray(self) -> str:
        """Say where beside the array something was written; nothing where that is not so."""
        before, behind = self.memory[:_MARGIN] != _FILL, self.memory[_MARGIN + self.size :] != _FILL
        if behind.any():
            return f"{int(np.argmax(behind))} bytes behind its end"
        return f"{_MARGIN - int(np.argmax(before))} bytes before its start" if before.any() else ""


def call_library(
    library: Any, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], run: int
) -> dict[str, Any]:
    """Call the function once; return its code, results by name, changed arrays, and what was written beside arrays.

    run: which poison the results hold before it (candidates/poison.py).
    """
    given, wanted = {}, {}
    for name, array in arrays.items():
        given[name] = _Held(name, array.shape, array.dtype.name)
        given[name].array[...] = array
    for name, shape in (*document["wanted"].items(), *document["optional"].items()):
        wanted[name] = _Held(name, tuple(shape), "float32")
        wanted[name].array.view(np.uint32)[...] = np.frombuffer(POISON[run] * 4, np.uint32)
    tables = [np.array([one.record for one in held.values()], _ARRAY) for held in (given, wanted)]
    text = np.frombuffer(json.dumps(document).encode() + b"\0", np.uint8)
    entry = library.entry(SYMBOL, _TYPES)
    held = [argument for table in tables for argument in (pointer(table.ctypes.data), len(table))]
    code = entry(_text(text), *held)
    strays = {name: one.stray() for name, one in {**given, **wanted}.items()}
    return {
        "code": int(code),
        "results": {name: np.array(one.array) for name, one in wanted.items()},
        "changed": [name for name, one in given.items() if one.array.tobytes() != arrays[name].tobytes()],
        "beside": [f"wrote beside {name}: {where}" for name, where in strays.items() if where],
    }


def _text(bytes: NDArray[np.uint8]) -> Any:
    return pointer(bytes.ctypes.data)
