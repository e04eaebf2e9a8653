"""Shared libraries as Python functions: types, shapes, checks and calls, all derived from the header."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .errors import (
    ArgumentError,
    ArgumentTypeError,
    BindingError,
    CallError,
    CaptureError,
    HeaderError,
    LibraryError,
    MissingSymbol,
    NoDevice,
)
from .header.parser import parse_header
from .header.read import header_path, read_header
from .header.records import Constant, Function, Header, Parameter
from .header.signature import Signature, shape_of
from .shared_object.facts import Facts
from .shared_object.symbols import exported_symbols

if TYPE_CHECKING:
    from .arrays import DeviceArray
    from .calls.graph import Graph
    from .declarations.examine import examine
    from .library import Library
    from .shared_object.streams import Event, Stream

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BindingError",
    "CallError",
    "CaptureError",
    "Constant",
    "DeviceArray",
    "Event",
    "Facts",
    "Function",
    "Graph",
    "Header",
    "HeaderError",
    "Library",
    "LibraryError",
    "MissingSymbol",
    "NoDevice",
    "Parameter",
    "Signature",
    "Stream",
    "examine",
    "exported_symbols",
    "header_path",
    "parse_header",
    "read_header",
    "shape_of",
]


# Loaded when it is asked for: calls need NumPy, and what reads other languages' declarations is long.  The judge starts
# a process for every library, which has no need of either.
_LATE = {
    "DeviceArray": "arrays",
    "Event": "shared_object.streams",
    "Graph": "calls.graph",
    "Library": "library",
    "Stream": "shared_object.streams",
    "examine": "declarations.examine",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    found = globals()[name] = getattr(importlib.import_module(f".{_LATE[name]}", __name__), name)
    return found
