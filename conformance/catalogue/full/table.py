"""All calls at full size: those of the files, and the same of the 16-bit forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from conformance.operations import OPERATIONS

from . import (
    attention,
    broadcast,
    convolution,
    heads,
    lists,
    losses,
    many,
    planes,
    products,
    recurrent,
    routing,
    rows,
    strided,
)
from .call import FullCall

_FILES = (
    rows,
    many,
    losses,
    products,
    broadcast,
    heads,
    attention,
    routing,
    lists,
    convolution,
    recurrent,
    planes,
    strided,
)
SUFFIXES = ("bf16", "fp16")


def calls() -> Mapping[str, FullCall]:
    """Return every call by id, in the header's order of operations.  Two with one id are an error."""
    stated = [call for file in _FILES for call in file.CALLS]
    made = [*stated, *_sixteen(stated)]
    found: dict[str, FullCall] = {}
    for operation in OPERATIONS:
        for call in (one for one in made if one.operation == operation):
            if call.id in found:
                raise ValueError(f"two calls at full size are called {call.id}")
            found[call.id] = call
    return found


def _sixteen(stated: list[FullCall]) -> Iterator[FullCall]:
    """The same calls of the operations that take in 16 bits what they take in float32."""
    for suffix in SUFFIXES:
        for call in stated:
            name = f"{call.operation}_{suffix}"
            if name in OPERATIONS and OPERATIONS[name].by_name.keys() == OPERATIONS[call.operation].by_name.keys():
                yield replace(call, operation=name)
