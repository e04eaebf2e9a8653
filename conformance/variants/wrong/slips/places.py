"""Slips of arrays by place: other elements are read than are due, or only some."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bindings.header.records import Parameter
from conformance.operations import axis_names

from .slip import CUTS, Change, Slip

_FLAT = (2**15, 2**16)


def of_places(operation: str, parameter: Parameter, shape: Sequence[int], cuts: Sequence[int] = ()) -> Iterator[Slip]:
    """An array of which other places are read, or only some; cuts: where else than at powers of two that may begin."""
    slip = functools.partial(Slip, names=(parameter.name,))
    name, nouns = parameter.name, axis_names(operation, parameter.name)
    for axis, (noun, count) in enumerate(zip(nouns, shape, strict=True)):
        if count > 1:
            yield slip(f"the first {noun} of {name} read for all", change=_taken(axis, lambda at: at * 0))
            yield slip(f"of {name} the {noun} before read", change=_taken(axis, lambda at: np.maximum(at - 1, 0)))
            yield slip(f"the last {noun} of {name} taken as 0", change=functools.partial(_cleared, axis, count - 1))
            words = f"{name} with the two {_several(noun)} of each pair exchanged"
            yield slip(words, change=functools.partial(_pairs_exchanged, axis))
        for cut in sorted({cut for cut in (*CUTS, *cuts) if cut < count}):
            wraps = functools.partial(lambda cut, at: at % cut, cut)
            yield slip(f"{name} read modulo {cut} along its {_several(noun)}", change=_taken(axis, wraps))
            yield slip(f"{name} taken as 0 from {noun} {cut} on", change=functools.partial(_cleared, axis, cut))
    for axis in range(len(shape) - 1):
        words = f"{name} read with {nouns[axis]} and {nouns[axis + 1]} exchanged"
        yield slip(words, change=functools.partial(_exchanged, axis))
    if len(shape) > 1:
        for cut in (cut for cut in _FLAT if cut < math.prod(shape)):
            yield slip(f"{name} read modulo {cut}", change=functools.partial(_wrapped, cut))


def _several(noun: str) -> str:
    return f"{noun}s" if noun in ("element", "row", "column") else noun


def of_ends(name: str, columns: int) -> Iterator[Slip]:
    """An array whose last columns are passed over in a search for the largest."""
    ends = {f"from column {cut} on": cut for cut in CUTS if cut < columns}
    ends |= {f"past the last multiple of {cut}": columns // cut * cut for cut in (2, 4, *CUTS) if cut < columns}
    for words, end in ends.items():
        yield Slip(f"{name} not looked at {words}", (name,), functools.partial(_lowered, end))


def _lowered(end: int, x: Any) -> Any:
    return np.where(np.arange(x.shape[-1]) < end, x, -np.inf)


def _taken(axis: int, source: Callable[[Any], Any]) -> Change:
    """Each index along an axis read at another one."""
    return lambda x: np.take(x, source(np.arange(x.shape[axis])), axis=axis)


def _cleared(axis: int, cut: int, x: Any) -> Any:
    shape = [-1 if other == axis else 1 for other in range(len(x.shape))]
    return np.where(np.arange(x.shape[axis]).reshape(shape) < cut, x, x.dtype.type(0))


def _pairs_exchanged(axis: int, x: Any) -> Any:
    """Each two neighbours exchanged, as in a word that holds both; the last of an odd number stays."""
    count = x.shape[axis]
    return np.take(x, np.minimum(np.arange(count) ^ 1, count - 1), axis=axis)


def _exchanged(axis: int, x: Any) -> Any:
    """The same memory, two of its axes in the other order."""
    shape = list(x.shape)
    shape[axis], shape[axis + 1] = shape[axis + 1], shape[axis]
    order = list(range(len(shape)))
    order[axis], order[axis + 1] = axis + 1, axis
    return x.reshape(shape).transpose(*order)


def _wrapped(cut: int, x: Any) -> Any:
    return np.take(x.reshape(-1), np.arange(x.size) % cut).reshape(x.shape)
