"""Readings made for one call: of what a result is summed up of some entries of an axis are left out.

A row that a loop does not come to, a tile that is not whole, one thread's share: an output that has the axis itself is
right, the others are those of the call without these entries.  Of a mean they may have been counted all the same.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import reference
from conformance import operations
from reference.readings import Reading

_TILES = tuple(2**n for n in range(1, 11))
_WHY = "A loop, a grid or a share of the work ends too early."

Kept = Callable[[Any], Any]  # of the entries' numbers: which are kept


def shortened(operation: str, arguments: Mapping[str, Any]) -> Iterator[Reading]:
    """Yield what an operation gives where entries of an axis that some result has not are left out of it."""
    function = operations.OPERATIONS[operation]
    read = [p for p in operations.read_arrays(function) if arguments[p.name] is not None]
    if operations.layout_arrays(function) or any(p.each for p in read):
        return
    for axis, (name, noun, count) in _summed(operation, arguments).items():
        for words, kept in _ways(name, noun, count):
            places = np.flatnonzero(kept(np.arange(count)))
            if 0 < places.size < count:
                yield Reading(operation, words, _WHY, _without(operation, axis, places, 1.0))
                share = places.size / count
                yield Reading(operation, f"{words}, but counted", _WHY, _without(operation, axis, places, share))


def _summed(operation: str, arguments: Mapping[str, Any]) -> dict[str, tuple[str, str, int]]:
    """Axes of what is read that an output has not: of which array, what an entry is called, and how many there are."""
    function = operations.OPERATIONS[operation]
    written = [{axis.size.text for axis in p.shape} for p in operations.written_arrays(function)]
    found: dict[str, tuple[str, str, int]] = {}
    for parameter in operations.read_arrays(function):
        array, nouns = arguments[parameter.name], operations.axis_names(operation, parameter.name)
        if array is None or np.ndim(array) != len(nouns):
            continue
        for axis, noun, count in zip(parameter.shape, nouns, array.shape, strict=True):
            if axis.size.is_name and any(axis.size.text not in names for names in written):
                found.setdefault(axis.size.text, (parameter.name, noun, count))
    return found


def _ways(name: str, noun: str, count: int) -> Iterator[tuple[str, Kept]]:
    many = f"{noun}s" if noun in ("element", "row", "column") else noun
    yield f"the last {noun} of {name} left out", lambda at: at < count - 1
    yield f"the first {noun} of {name} left out", lambda at: at > 0
    for tile in (tile for tile in _TILES if tile < count):
        yield f"{many} of {name} past the last whole {tile} left out", functools.partial(_below, count // tile * tile)
        yield f"{many} of {name} from {tile} on left out", functools.partial(_below, tile)
        yield f"of each {tile} {many} of {name} the last left out", functools.partial(_not_last_of, tile)


def _below(end: int, at: Any) -> Any:
    return at < end


def _not_last_of(tile: int, at: Any) -> Any:
    return at % tile != tile - 1


def _without(operation: str, axis: str, places: Any, share: float) -> Callable[..., Any]:
    """The operation without these entries; what has no such axis is multiplied by their share, 1 of a sum."""
    called, function = getattr(reference, operation), operations.OPERATIONS[operation]
    axes = {p.name: [one.size.text for one in p.shape] for p in function.parameters if p.shape}
    outputs = [p.name for p in operations.written_arrays(function)]

    @functools.wraps(called)
    def without(*args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(called).bind(*args, **kwargs).arguments
        cut = {name: _taken(value, axes.get(name, []), axis, places) for name, value in given.items()}
        whole, left = called(**given), called(**cut)
        if not isinstance(whole, tuple):
            return _shared(left, share)
        joined = zip(outputs, whole, left, strict=True)
        return tuple(all_of if axis in axes[name] else _shared(some, share) for name, all_of, some in joined)

    return without


def _taken(value: Any, own: list[str], axis: str, places: Any) -> Any:
    for place in (place for place, name in enumerate(own) if name == axis):
        value = np.take(value, places, axis=place)
    return value


def _shared(result: Any, share: float) -> Any:
    return result * result.dtype.type(share) if share != 1.0 and result.dtype.kind == "f" else result
