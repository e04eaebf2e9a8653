"""Slips of arrays by value: what is no number, fewer digits, another sign, indices cut off."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from bindings.header.records import Parameter
from conformance import operations
from reference.readings.reading import bfloat16, tf32

from .places import of_ends, of_places
from .slip import CUTS, Change, Slip

_SMALLEST = 2.0**-126
_SMALLEST_FP16, _STEP_FP16 = 2.0**-14, 2.0**-24  # the smallest normal number of float16, and the smallest of all
_SIXTEEN_BITS = (np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16))
_IN_A_LAUNCH = (
    110,
    48,
    36,
    30,
    24,
)  # lists whose pointers and sizes fit into the 4 KB that a launch's arguments may have
_OF_NO_NUMBERS: tuple[tuple[str, Change], ...] = (
    ("subnormal numbers of {} taken as 0", lambda x: np.where(np.abs(x) < _SMALLEST, 0.0, x)),
    ("NaN in {} taken as 0", lambda x: np.where(np.isnan(x), 0.0, x)),
    ("NaN in {} taken as minus infinity", lambda x: np.where(np.isnan(x), -np.inf, x)),
    ("infinity in {} taken as 0", lambda x: np.where(np.isinf(x), 0.0, x)),
    ("plus infinity in {} taken as 0", lambda x: np.where(x == np.inf, 0.0, x)),
    ("minus infinity in {} taken as 0", lambda x: np.where(x == -np.inf, 0.0, x)),
    ("{} with the sign bit taken as 0", lambda x: np.where(np.signbit(x), 0.0, x)),
)
_UNSIGNED: tuple[str, Change] = ("{} taken without signs", np.abs)
_OF_VALUES: tuple[tuple[str, Change], ...] = (
    *_OF_NO_NUMBERS,
    ("{} rounded to bfloat16", bfloat16),
    ("{} rounded to TF32", tf32),
    ("{} taken as 0", lambda x: np.zeros(x.shape, x.dtype)),
    ("{} taken as 1", lambda x: np.ones(x.shape, x.dtype)),
    ("{} negated", lambda x: -x),
    _UNSIGNED,
    ("negative {} taken as 0", lambda x: np.where(x < 0, 0.0, x)),
)
_OF_INDICES: tuple[tuple[str, Change], ...] = (
    ("{} one too small", lambda x: x - 1),
    ("{} one too large", lambda x: x + 1),
    ("negative {} taken as 0", lambda x: np.maximum(x, 0)),
    ("{} cut off to int16", lambda x: x.astype(np.int16).astype(x.dtype)),
    *(("{} modulo " + str(cut), functools.partial(lambda cut, x: np.where(x < 0, x, x % cut), cut)) for cut in CUTS),
)


def of_arrays(operation: str, arguments: Mapping[str, Any], cuts: Sequence[int] = ()) -> Iterator[Slip]:
    given = operations.read_arrays(operations.OPERATIONS[operation])
    for name in (p.name for p in given if p.each):
        yield from _of_lists(name, len(arguments[name]))
    read = [p for p in given if not p.each and arguments[p.name] is not None]
    floats = [p.name for p in read if arguments[p.name].dtype.kind == "f"]
    if len(floats) > 1:
        yield from (Slip(words.format("inputs"), floats, change) for words, change in (*_OF_NO_NUMBERS, _UNSIGNED))
    yield from _of_formats([p for p in read if p.type.is_half])
    for parameter in read:
        array = arguments[parameter.name]
        table = _OF_VALUES if array.dtype.kind == "f" else _OF_INDICES if array.dtype.kind == "i" else ()
        yield from (Slip(words.format(parameter.name), (parameter.name,), change) for words, change in table)
        yield from of_places(operation, parameter, array.shape, cuts)
        if array.dtype.kind == "f" and array.ndim:
            yield from of_ends(parameter.name, array.shape[-1])


def _of_formats(halves: Sequence[Parameter]) -> Iterator[Slip]:
    """Arrays of 16 bits whose numbers are taken for those of the other such format, or go through it.

    Those of float16 besides by who reads its subnormal numbers as a float's: bfloat16's are float32's.
    """
    several = [tuple(p.name for p in halves)] if len(halves) > 1 else []
    own = halves[0].type.dtype if halves else None
    for names in (*several, *((p.name,) for p in halves)):
        said = names[0] if len(names) == 1 else "inputs"
        for other in (other for other in _SIXTEEN_BITS if other != own):
            yield Slip(f"numbers of {said} read as {other.name}", names, functools.partial(_read_as, own, other))
            yield Slip(f"{said} rounded to {other.name}", names, functools.partial(_through, other))
        if own == np.float16:
            yield Slip(f"numbers of {said} that are subnormal in float16 taken as 0", names, _without_subnormal)
            yield Slip(f"numbers of {said} that are subnormal in float16 read as normal", names, _as_if_normal)


def _read_as(own: Any, other: Any, x: Any) -> Any:
    return x.astype(own).view(other).astype(np.float32)


def _without_subnormal(x: Any) -> Any:
    return np.where(np.abs(x) < _SMALLEST_FP16, 0.0, x)


def _as_if_normal(x: Any) -> Any:
    """With a digit before the others, and the exponent below that of the smallest normal number."""
    with_digit = np.copysign(_SMALLEST_FP16 / 2 * (1 + np.abs(x) / _STEP_FP16 / 1024), x)
    return np.where((x != 0) & (np.abs(x) < _SMALLEST_FP16), with_digit, x).astype(np.float32)


def _through(other: Any, x: Any) -> Any:
    with np.errstate(over="ignore"):
        return x.astype(other).astype(np.float32)


def _of_lists(name: str, count: int) -> Iterator[Slip]:
    """A list of arrays of which each is misread, or some are left out."""
    for words, change in _OF_VALUES:
        each = functools.partial(lambda change, arrays: [change(array) for array in arrays], change)
        yield Slip(words.format(name), (name,), each)
    left = {"the last of": range(count - 1, count), "the first of": range(1)}
    left |= {f"from {cut} on those of": range(cut, count) for cut in (*CUTS, *_IN_A_LAUNCH) if cut < count}
    for words, places in left.items() if count > 1 else ():
        yield Slip(f"{words} {name} taken as 0", (name,), functools.partial(_without, places))


def _without(places: range, arrays: Sequence[Any]) -> list[Any]:
    return [np.zeros_like(array) if place in places else array for place, array in enumerate(arrays)]
