"""A graph of operations: records that read values and parameters and write values, checked, run and trained.

Above the reference and the bindings: a graph runs on either, on any namespace of operations.
"""

from __future__ import annotations

from .checked import Checked, check, parameter_shapes
from .errors import GraphError
from .fuse import fuse
from .optimizers import SGD, Adam, AdamW, Momentum, Optimizer, State
from .reading import Graph, make, read, record
from .records import Record
from .run import Backward, Forward, Run
from .step import Stepped, train_step

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "Backward",
    "Checked",
    "Forward",
    "Graph",
    "GraphError",
    "Momentum",
    "Optimizer",
    "Record",
    "Run",
    "State",
    "Stepped",
    "check",
    "fuse",
    "make",
    "parameter_shapes",
    "read",
    "record",
    "train_step",
]
