"""The graphs that are shipped: small, and between them with a record of nearly every kind and all that can go wrong.

Each file is one task: its records, the shapes of its inputs, and how it is trained.
"""

from __future__ import annotations

import functools
from types import ModuleType

from conformance.graphs.data import drawn
from conformance.graphs.task import Task, TaskError
from graph import make

from . import documents, images, layers, sequences

_MODULES: dict[str, ModuleType] = {"layers": layers, "documents": documents, "images": images, "sequences": sequences}
TASKS = tuple(_MODULES)


@functools.cache
def shipped(name: str, seed: int = 0) -> Task:
    """Return a shipped task; seed: another draw of its arrays.  Raises TaskError for a name that is none."""
    if name not in _MODULES:
        raise TaskError(f"task: expected one of {', '.join(TASKS)}, got {name}")
    module = _MODULES[name]
    return drawn(make(module.RECORDS), module.SHAPES, module.SETTINGS, name, seed)
