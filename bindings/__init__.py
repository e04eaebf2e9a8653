"""Shared libraries as Python functions: types, shapes, checks and calls, all derived from the header."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .arrays import DeviceArray
from .calls.graph import Graph
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
from .library import Library
from .shared_object.facts import Facts
from .shared_object.streams import Event, Stream
from .shared_object.symbols import exported_symbols

if TYPE_CHECKING:
    from .declarations.examine import examine

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


def __getattr__(name: str) -> Any:
    """Load what reads other languages' declarations when it is asked for: it takes as long as all the rest."""
    if name != "examine":
        raise AttributeError(f"module {__name__} has no attribute {name}")
    from .declarations.examine import examine

    return examine
