"""In the worker's process: a whole training step that is one function, called, and what it returned read.

def step(parameters, tokens, targets, settings):
    return {"loss": ..., "gradients": {...}, "parameters": {...}, ...}
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Take
from .raised import Raised, raised
from .returned import array_of, kind_of, refuse_unknown
from .settings import Settings

NUMBERS = ("loss", "cross_entropy", "aux_loss", "norm")
# And what the names of their members begin with.
GROUPS = {"gradients": "gradient.", "parameters": "parameter.", "m": "m.", "v": "v."}
Arrays = Mapping[str, NDArray[Any]]
Results = dict[str, NDArray[Any] | None]


def call_step(module: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Call the step of an open module; return its results by flat name, and the names of inputs that it has changed.

    given: parameters, m and v by name, tokens and targets, and `settings`, the rest of Settings.  A result of a group
    that holds others is None.  Raises Raised.
    """
    opened = module.opened
    held = {name: np.array(array) for name, array in _inputs(given)}
    arguments = _arguments(given, held, opened.take)
    try:
        returned = opened.step(*arguments)
    except Exception as error:
        raise raised(error, opened.root) from None
    changed = [name for name, array in _inputs(given) if held[name].tobytes() != array.tobytes()]
    try:
        return {"results": _read(returned, [*given["parameters"]]), "changed": changed}
    except Raised:
        raise
    except Exception as error:  # what a framework says of its own arrays
        raise raised(error, opened.root) from None


def _inputs(given: Mapping[str, Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Every array that the step is given, by a name that says which."""
    yield "tokens", given["tokens"]
    yield "targets", given["targets"]
    for group in ("parameters", "m", "v"):
        yield from ((f"{GROUPS[group]}{name}", array) for name, array in given[group].items())


def _arguments(given: Mapping[str, Any], held: Arrays, take: Take) -> tuple[Any, ...]:
    """What the function is called with: the arrays that are held, as the framework's."""
    parameters, m, v = (
        {name: take(held[f"{GROUPS[group]}{name}"]) for name in given[group]} for group in ("parameters", "m", "v")
    )
    settings = Settings(**given["settings"], m=m, v=v)
    return parameters, take(held["tokens"]), take(held["targets"]), settings


def _read(returned: Any, names: Collection[str]) -> Results:
    """What was returned, by flat name: loss, gradient.lm_head."""
    known = (*NUMBERS, *GROUPS)
    if not isinstance(returned, Mapping):
        raise Raised(f"returned {kind_of(returned)}, expected a dict of some of {', '.join(known)}")
    refuse_unknown("", returned, known)
    found: Results = {}
    for key in NUMBERS:
        if returned.get(key) is not None:
            found[key] = _number(key, returned[key])
    for key, prefix in GROUPS.items():
        if returned.get(key) is not None:
            found |= _group(key, prefix, returned[key], names)
    if not found:
        raise Raised(f"returned an empty dict, expected some of {', '.join(known)}")
    return found


def _number(name: str, value: Any) -> NDArray[Any]:
    """A loss or norm, which may be a number of Python's or an array of one element; as float32 of shape [1]."""
    array = np.asarray(value) if isinstance(value, int | float) else array_of(name, value)
    if array.size != 1 or array.dtype.kind not in "fiV":
        raise Raised(f"returned {name} as {array.dtype} of shape {array.shape}, expected one number")
    return array.reshape(1).astype(np.float32)


def _group(key: str, prefix: str, value: Any, names: Collection[str]) -> Results:
    if not isinstance(value, Mapping):
        raise Raised(f"returned {key} as {kind_of(value)}, expected a dict by the names of the parameters")
    refuse_unknown(f"{key}: ", value, names)
    return {
        f"{prefix}{name}": None if value.get(name) is None else array_of(f"{key}[{name!r}]", value[name])
        for name in names
    }
