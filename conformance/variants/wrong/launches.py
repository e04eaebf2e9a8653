"""What kernels leave undone or store too short, made mechanically of every operation's outputs.

An element that is not written holds what stood there: the poison, or in an array that is updated its old value.  An
index that wraps at 2^32 shows only in arrays of that size, which no case here has: `real` runs at full size are for it.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from conformance import operations
from conformance.catalogue.facts import LONGEST_AXES
from conformance.catalogue.families import facts_of
from reference.readings import Reading
from reference.readings.reading import bfloat16, rounded_to

from .arithmetic import mapped, shows

Array = NDArray[Any]
Mask = NDArray[np.bool_]
BLOCK = 256  # threads of a block, each of which writes one element


def _rows(array: Array) -> Array:
    """For every element, its row: all axes but the last counted through."""
    rows = np.arange(array.size // max(1, array.shape[-1])) if array.ndim else np.zeros(1, int)
    return np.broadcast_to(rows.reshape(*array.shape[:-1], 1), array.shape)


def _columns(array: Array) -> Array:
    return np.broadcast_to(np.arange(array.shape[-1]), array.shape)


def _elements(array: Array) -> Array:
    return np.arange(array.size).reshape(array.shape)


def _past_tile(place: Callable[[Array], Array], tile: int) -> Callable[[Array], Mask]:
    """Past the last whole tile, where there is one."""

    def function(array: Array) -> Mask:
        places = place(array)
        count = int(places.max(initial=-1)) + 1
        return np.asarray(places >= max(tile, count // tile * tile))

    return function


def _past(place: Callable[[Array], Array], count: int) -> Callable[[Array], Mask]:
    return lambda array: np.asarray(place(array) >= count)


def _last_block(array: Array) -> Mask:
    """What the last block of more than one would have written."""
    blocks = -(-array.size // BLOCK)
    return np.asarray(_elements(array) >= (blocks - 1) * BLOCK) & (blocks > 1)


UNWRITTEN: tuple[tuple[str, str, Callable[[Array], Mask]], ...] = (
    *(
        (f"last tile of {tile} {what} not written", "The grid holds whole tiles only.", _past_tile(place, tile))
        for tile in (32, 128)
        for what, place in (("rows", _rows), ("columns", _columns))
    ),
    *(
        (
            f"columns past {count} not written",
            "A thread for each column, and no loop.",
            _past(_columns, count),
        )
        for count in (32, 256, 1024)
    ),
    ("grid one block short", "The number of blocks is rounded down.", _last_block),
    ("first element not written", "The loop begins at 1.", lambda array: _elements(array) == 0),
    ("last element not written", "The loop ends one too early.", lambda array: _elements(array) == array.size - 1),
)
_ROUNDED, _CUT = "(stored through|rounded or cut off to)", "(cut off, not rounded, to|rounded or cut off to)"


def _half(array: Array) -> Array:
    return array.astype(np.float16)


STORED: tuple[tuple[str, str, Callable[[Array], Array], str], ...] = (
    ("stored through bfloat16", "The result is kept in half the bytes.", bfloat16, f"{_ROUNDED} bfloat16"),
    ("stored through float16", "The result is kept in a half.", _half, f"{_ROUNDED} (TF32 or )?float16"),
    ("cut off to bfloat16", "The low half of the bits is dropped.", rounded_to(7, np.trunc), f"{_CUT} bfloat16"),
    ("cut off to TF32", "The low bits are dropped.", rounded_to(10, np.trunc), f"{_CUT} TF32"),
)


def launches(operation: str) -> Iterator[Reading]:
    """Yield what a launch of this operation can leave undone, or store too short."""
    outputs = operations.written_arrays(operations.OPERATIONS[operation])
    facts = facts_of(operation)
    finest = operations.read_arrays(operations.OPERATIONS[operation]) if facts.widens else outputs
    longest = max(LONGEST_AXES.get(p.shape[-1].size.text, math.inf) if p.shape else math.inf for p in outputs)
    for name, why, left in UNWRITTEN:
        if _can_show(name, longest, any(len(p.shape) > 1 for p in outputs)):
            yield Reading(operation, name, why, _leaving(operation, left), says="never written|tail left out")
    for name, why, store, says in STORED:
        if not facts.only_zeros and shows(finest, store):
            yield Reading(operation, name, why, _storing(operation, store), says=says)


def _can_show(name: str, longest: float, has_rows: bool) -> bool:
    """Whether an output has rows, or columns enough, for that to make a difference."""
    if "rows" in name:
        return has_rows
    if "block" in name:
        return longest > 1
    counts = [int(word) for word in name.split() if word.isdigit()]
    return all(count < longest for count in counts)


def _leaving(operation: str, left: Callable[[Array], Mask]) -> Callable[..., Any]:
    function = getattr(reference, operation)
    names = [parameter.name for parameter in operations.written_arrays(operations.OPERATIONS[operation])]

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        results = function(**given)
        outputs = results if isinstance(results, tuple) else (results,)
        kept = tuple(_kept(new, given.get(name), left) for name, new in zip(names, outputs, strict=True))
        return kept if isinstance(results, tuple) else kept[0]

    return called


def _kept(new: Any, old: Any, left: Callable[[Array], Mask]) -> Any:
    """The new values, and where they are not written the old ones."""
    if isinstance(new, list):
        return [_kept(n, o, left) for n, o in zip(new, old or [None] * len(new), strict=True)]
    stored = operations.widened(new.astype(np.float32) if new.dtype.kind == "f" else new)
    poison = np.frombuffer(b"\xff" * stored.dtype.itemsize, stored.dtype)
    return np.where(left(stored), poison if old is None else old, stored)


def _storing(operation: str, store: Callable[[Array], Array]) -> Callable[..., Any]:
    function = getattr(reference, operation)

    def stored(result: Array) -> Array:
        wide = operations.widened(result)
        return store(wide.astype(np.float32)).astype(np.float32) if wide.dtype.kind == "f" else result

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return mapped(stored, function(*args, **kwargs))

    return called
