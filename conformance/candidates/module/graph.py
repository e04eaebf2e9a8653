"""In the worker's process: an engine that is one function of Python, called, and what it returned read.

def graph_step(graph, arrays, settings):
    return {"value.h": ..., "loss.l": ..., "gradient.w": ..., "parameter.w": ...}
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .raised import Raised, raised
from .returned import array_of, kind_of

FUNCTION = "graph_step"


def call_graph(module: Any, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Call the engine of an open module; return its results by name, and the names of arrays that it has changed.

    document: the graph as graph.json has it; arrays: input.NAME and parameter.NAME.  Raises Raised.
    """
    opened = module.opened
    held = {name: np.array(array) for name, array in arrays.items()}
    given = {name: opened.take(array) for name, array in held.items()}
    try:
        returned = opened.step(copy.deepcopy(dict(document)), given, dict(document["settings"]))
    except Exception as error:
        raise raised(error, opened.root) from None
    changed = [name for name, array in arrays.items() if held[name].tobytes() != array.tobytes()]
    try:
        return {"results": _read(returned, document), "changed": changed}
    except Raised:
        raise
    except Exception as error:  # what a framework says of its own arrays
        raise raised(error, opened.root) from None


def _read(returned: Any, document: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    if not isinstance(returned, Mapping):
        raise Raised(f"returned {kind_of(returned)}, expected a dict of value.NAME, loss.NAME, gradient.NAME ...")
    known = {*document["wanted"], *document["optional"]}
    for name in returned:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise Raised(f"returned {name}, expected some of the {len(known)} results of this graph{hint}")
    return {name: _result(name, value) for name, value in returned.items() if value is not None}


def _result(name: str, value: Any) -> NDArray[Any]:
    """A result; a loss may be one number of Python's, or an array of one."""
    array = np.asarray(value, np.float32) if isinstance(value, int | float) else array_of(name, value)
    return array.reshape(1) if name.startswith("loss.") and array.size == 1 else array
