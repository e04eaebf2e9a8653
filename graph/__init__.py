"""A graph of operations: records that read values and parameters and write values, checked, run and trained.

Above the reference and the bindings: a graph runs on either, on any namespace of operations.
"""

from __future__ import annotations

from .checked import Checked, check, parameter_shapes
from .errors import GraphError
from .reading import Graph, make, read, record
from .records import Record
from .run import Backward, Forward, Run

__all__ = [
    "Backward",
    "Checked",
    "Forward",
    "Graph",
    "GraphError",
    "Record",
    "Run",
    "check",
    "make",
    "parameter_shapes",
    "read",
    "record",
]
