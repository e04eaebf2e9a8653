"""A graph of operations: records that read values and parameters and write values, checked, run and trained.

Above the reference and the bindings: a graph runs on either, on any namespace of operations.
"""

from __future__ import annotations

from .capture import CapturedStep
from .checked import Checked, check, parameter_shapes
from .errors import GraphError
from .fuse import fuse
from .optimizers import SGD, Adam, AdamW, Momentum, Optimizer, State
from .plan import Plan, plan
from .reading import Graph, make, read, record
from .records import Record
from .run import Backward, Forward, Run
from .step import Stepped, train_step

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "Backward",
    "CapturedStep",
    "Checked",
    "Forward",
    "Graph",
    "GraphError",
    "Momentum",
    "Optimizer",
    "Plan",
    "Record",
    "Run",
    "State",
    "Stepped",
    "check",
    "fuse",
    "make",
    "parameter_shapes",
    "plan",
    "read",
    "record",
    "train_step",
]
