"""What a worker's process replies: data alone.  A candidate shares that process, and may have written any of it.

A reply is JSON, a status and what comes with it, of a type that the request determines.  Of a Python function called
there the value follows in a message of its own (conformance.catalogue.prepared.codec).
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bindings import Facts

from .rounds import Held

if TYPE_CHECKING:
    from conformance.catalogue.prepared.codec import Codec

LARGEST = 1 << 24  # bytes of a reply
LARGEST_VALUE = 1 << 31  # bytes of a function's value: a training step's results are a hundred megabytes
_DONE = {"done", "ready", "restricted"}
_MORE = {"missing": None, "raised": str, "mishap": str, "refused": tuple[str, str]}  # what comes with another status
_REPEATED = tuple[tuple[int, int, bool, list[Held], int, bool, bool], list[str]]
_VALUES: dict[str, Any] = {
    "restrict": list[str],
    "open": tuple[int, Facts],
    "place": list[int],
    "forget": None,
    "run": tuple[list[int], tuple[str, str]],
    "run_without_memory": tuple[list[int], tuple[str, str]],
    "repeat": _REPEATED,
    "go_on": _REPEATED,
    "together": tuple[list[int], tuple[int, int, int, bool] | None],
    "reached": tuple[list[int], list[tuple[float, float, float]]] | None,
    "call": None,
}


class GarbledError(ValueError):
    """A reply that no worker sends."""


def pack(status: str, value: Any = None) -> bytes:
    """Return a reply in bytes."""
    return json.dumps([status, value], default=vars).encode()


def unpack(request: str, reply: bytes) -> tuple[str, Any]:
    """Return the status of a reply to a request, and what comes with it.  Raises GarbledError."""
    import msgspec  # here, as nothing else needs it in a process that only asks what a library is

    try:
        status, value = json.loads(reply)
        kind = _VALUES[request] if status in _DONE else _MORE[status]
        return status, msgspec.convert(value, kind)
    except (ValueError, TypeError, KeyError, RecursionError) as error:  # msgspec.ValidationError is a ValueError
        raise GarbledError(f"a reply to {request}: {error}") from None


def pack_value(value: Any) -> bytes:
    """Return the value of a function as a document.  Raises TypeError for what is none of the types known."""
    # A record's type was imported where there is one of it; to import all of them takes half a second.
    known = [getattr(sys.modules[module], name) for name, module in _records() if module in sys.modules]
    return _codec(known).dumps(value)


def unpack_value(document: bytes) -> Any:
    """Return the value of a document.  Raises GarbledError."""
    records = [getattr(importlib.import_module(module), name) for name, module in _records()]
    try:
        return _codec(records).loads(document)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        raise GarbledError(f"a value: {error}") from None


def _records() -> list[tuple[str, str]]:
    """What training steps return beside plain values: each record's name, and what its module is imported by here."""
    from bindings.places import module  # here, as few replies have values

    return [
        ("State", module("reference.step")),
        ("Scaler", module("training.precision.scaling")),
        ("Report", module("training.step")),
        ("Standing", module("training.step")),
    ]


def _codec(records: Sequence[type]) -> Codec:
    from conformance.catalogue.prepared.codec import Codec  # here: a process that makes calls only has no need of it

    return Codec(*records)
