"""Shared libraries as Python functions: types, shapes, checks and calls, all derived from the header."""

from .arrays import DeviceArray
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
from .examine import examine
from .facts import Facts
from .graph import Graph
from .header import header_path, read_header
from .library import Library
from .parser import parse_header
from .records import Constant, Function, Header, Parameter
from .signature import Signature, shape_of
from .streams import Event, Stream
from .symbols import exported_symbols

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
