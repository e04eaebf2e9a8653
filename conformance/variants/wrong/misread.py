"""Readings made for one call, of its own arguments: one of them is read as something else that a slip would make of it.

Nobody has stated them, and no case has to tell them: they are what a failure is compared with where none of the
stated ones gives what came.  No size is changed, as another one gives outputs of another shape.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import reference
from bindings.header.records import Parameter
from conformance import operations
from conformance.operations import axis_names
from reference.readings import Reading
from reference.readings.reading import bfloat16, tf32

NUMBERS = (0.0, 1.0, 0.5, 2.0, 0.1, 0.125, 0.01, 0.001, 0.9, 0.95, 0.99, 0.999, 1e-4, 1e-5, 1e-6, 1e-8, 1e4)
BOUNDS = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
CUTS = tuple(2**n for n in range(3, 18))  # where a loop, a table or a short index may end
_WORK = 2**18  # the product of a call's sizes: hundreds of readings of a larger one take too long
_FLAT = (2**15, 2**16)
_WHY = "One of the arguments is read as something else."
_SMALLEST = 2.0**-126
Change = Callable[[Any], Any]


class _Slip(NamedTuple):
    """What becomes of some arguments, and how that is said."""

    words: str
    names: Sequence[str]
    change: Change


_OF_FLOATS: tuple[tuple[str, Change], ...] = (
    ("negated", lambda x: -x),
    ("taken without its sign", abs),
    ("squared", lambda x: x * x),
    ("inverted", lambda x: 1 / x if x else x),
    ("taken as 0 where negative", lambda x: max(x, 0.0)),
    ("rounded to bfloat16", lambda x: float(bfloat16(np.array([x]))[0])),
    *((f"taken as {number:g}", functools.partial(lambda number, _: number, number)) for number in NUMBERS),
    *((f"taken as {bound:g} where below", functools.partial(max, bound)) for bound in BOUNDS),
    *((f"taken as {bound:g} where above", functools.partial(min, bound)) for bound in BOUNDS[:2]),
)
_OF_INTEGERS: tuple[tuple[str, Change], ...] = (
    ("one too small", lambda x: x - 1),
    ("one too large", lambda x: x + 1),
    ("taken as 0", lambda _: 0),
    ("taken as 1", lambda _: 1),
    *(
        (f"cut off to {bits} bits", functools.partial(lambda mask, x: x & mask, (1 << bits) - 1))
        for bits in (8, 16, 32)
    ),
    *((f"at most {cut}", functools.partial(min, cut)) for cut in CUTS),
)
_OF_NO_NUMBERS: tuple[tuple[str, Change], ...] = (
    ("subnormal numbers of {} taken as 0", lambda x: np.where(np.abs(x) < _SMALLEST, 0.0, x)),
    ("NaN in {} taken as 0", lambda x: np.where(np.isnan(x), 0.0, x)),
    ("NaN in {} taken as minus infinity", lambda x: np.where(np.isnan(x), -np.inf, x)),
    ("infinity in {} taken as 0", lambda x: np.where(np.isinf(x), 0.0, x)),
    ("plus infinity in {} taken as 0", lambda x: np.where(x == np.inf, 0.0, x)),
    ("minus infinity in {} taken as 0", lambda x: np.where(x == -np.inf, 0.0, x)),
)
_OF_VALUES: tuple[tuple[str, Change], ...] = (
    *_OF_NO_NUMBERS,
    ("{} rounded to bfloat16", bfloat16),
    ("{} rounded to TF32", tf32),
    ("{} taken as 0", lambda x: np.zeros(x.shape, np.float32)),
    ("{} taken as 1", lambda x: np.ones(x.shape, np.float32)),
    ("{} negated", lambda x: -x),
    ("{} taken without signs", np.abs),
    ("negative {} taken as 0", lambda x: np.where(x < 0, 0.0, x)),
)
_OF_INDICES: tuple[tuple[str, Change], ...] = (
    ("{} one too small", lambda x: x - 1),
    ("{} one too large", lambda x: x + 1),
    ("negative {} taken as 0", lambda x: np.maximum(x, 0)),
    ("{} cut off to int16", lambda x: x.astype(np.int16).astype(x.dtype)),
    *(("{} modulo " + str(cut), functools.partial(lambda cut, x: np.where(x < 0, x, x % cut), cut)) for cut in CUTS),
)


def misreadings(operation: str, arguments: Mapping[str, Any]) -> Iterator[Reading]:
    """Yield what a float32 operation gives with an argument read as something else, where that makes a difference."""
    for slip in itertools.chain(_of_scalars(operation, arguments), _of_arrays(operation, arguments)):
        if any(_differs(slip.change(arguments[name]), arguments[name]) for name in slip.names):
            yield Reading(operation, slip.words, _WHY, _called(operation, slip))


def are_affordable(operation: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether there are such readings of a call, and few enough elements to try them all."""
    if operations.is_sixteen_bit(operation):
        return False
    sizes, read = operations.sizes(operation, arguments), operations.read_arrays(operations.OPERATIONS[operation])
    axes = {axis.size.text for parameter in read for axis in parameter.shape}
    return math.prod(max(1, size) for name, size in sizes.items() if name in axes) <= _WORK


def _called(operation: str, slip: _Slip) -> Callable[..., Any]:
    function = getattr(reference, operation)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        return function(**{**given, **{name: slip.change(given[name]) for name in slip.names}})

    return called


def _differs(changed: Any, given: Any) -> bool:
    if isinstance(given, list):
        return any(map(_differs, changed, given))
    return not np.array_equal(changed, given, equal_nan=np.asarray(given).dtype.kind == "f")


def _of_scalars(operation: str, arguments: Mapping[str, Any]) -> Iterator[_Slip]:
    function = operations.OPERATIONS[operation]
    floats = operations.float_scalars(function)
    if any(value is None for value in arguments.values()):
        return  # an array that is not read by what a scalar says: with another number it would have to be there
    for name in operations.scalars(function):
        for words, change in _OF_FLOATS if name in floats else _OF_INTEGERS:
            yield _Slip(f"{name} {words}", (name,), change)


def _of_arrays(operation: str, arguments: Mapping[str, Any]) -> Iterator[_Slip]:
    given = operations.read_arrays(operations.OPERATIONS[operation])
    for name in (p.name for p in given if p.each):
        yield from _of_lists(name, len(arguments[name]))
    read = [p for p in given if not p.each and arguments[p.name] is not None]
    floats = [p.name for p in read if arguments[p.name].dtype.kind == "f"]
    if len(floats) > 1:
        yield from (_Slip(words.format("inputs"), floats, change) for words, change in _OF_NO_NUMBERS)
    for parameter in read:
        array = arguments[parameter.name]
        table = _OF_VALUES if array.dtype.kind == "f" else _OF_INDICES if array.dtype.kind == "i" else ()
        yield from (_Slip(words.format(parameter.name), (parameter.name,), change) for words, change in table)
        yield from _of_places(operation, parameter, array.shape)
        if array.dtype.kind == "f" and array.ndim:
            yield from _of_ends(parameter.name, array.shape[-1])


def _of_lists(name: str, count: int) -> Iterator[_Slip]:
    """A list of arrays of which each is misread, or some are left out."""
    for words, change in _OF_VALUES:
        each = functools.partial(lambda change, arrays: [change(array) for array in arrays], change)
        yield _Slip(words.format(name), (name,), each)
    left = {"the last of": range(count - 1, count), "the first of": range(1)}
    left |= {f"from {cut} on those of": range(cut, count) for cut in CUTS if cut < count}
    for words, places in left.items() if count > 1 else ():
        yield _Slip(f"{words} {name} taken as 0", (name,), functools.partial(_without, places))


def _without(places: range, arrays: Sequence[Any]) -> list[Any]:
    return [np.zeros_like(array) if place in places else array for place, array in enumerate(arrays)]


def _of_places(operation: str, parameter: Parameter, shape: Sequence[int]) -> Iterator[_Slip]:
    """An array of which other places are read, or only some."""
    slip = functools.partial(_Slip, names=(parameter.name,))
    name, nouns = parameter.name, axis_names(operation, parameter.name)
    for axis, (noun, count) in enumerate(zip(nouns, shape, strict=True)):
        if count > 1:
            yield slip(f"the first {noun} of {name} read for all", change=_taken(axis, lambda at: at * 0))
            yield slip(f"of {name} the {noun} before read", change=_taken(axis, lambda at: np.maximum(at - 1, 0)))
        for cut in (cut for cut in CUTS if cut < count):
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


def _of_ends(name: str, columns: int) -> Iterator[_Slip]:
    """An array whose last columns are passed over in a search for the largest."""
    ends = {f"from column {cut} on": cut for cut in CUTS if cut < columns}
    ends |= {f"past the last multiple of {cut}": columns // cut * cut for cut in (2, 4, *CUTS) if cut < columns}
    for words, end in ends.items():
        yield _Slip(f"{name} not looked at {words}", (name,), functools.partial(_lowered, end))


def _lowered(end: int, x: Any) -> Any:
    return np.where(np.arange(x.shape[-1]) < end, x, -np.inf)


def _taken(axis: int, source: Callable[[Any], Any]) -> Change:
    """Each index along an axis read at another one."""
    return lambda x: np.take(x, source(np.arange(x.shape[axis])), axis=axis)


def _cleared(axis: int, cut: int, x: Any) -> Any:
    shape = [-1 if other == axis else 1 for other in range(len(x.shape))]
    return np.where(np.arange(x.shape[axis]).reshape(shape) < cut, x, x.dtype.type(0))


def _exchanged(axis: int, x: Any) -> Any:
    """The same memory, two of its axes in the other order."""
    shape = list(x.shape)
    shape[axis], shape[axis + 1] = shape[axis + 1], shape[axis]
    order = list(range(len(shape)))
    order[axis], order[axis + 1] = axis + 1, axis
    return x.reshape(shape).transpose(*order)


def _wrapped(cut: int, x: Any) -> Any:
    return np.take(x.reshape(-1), np.arange(x.size) % cut).reshape(x.shape)
