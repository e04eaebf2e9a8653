"""Slips of scalar arguments: another number, another sign, fewer digits or bits."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from conformance import operations
from reference.readings.reading import bfloat16

from .slip import CUTS, Change, Slip

NUMBERS = (0.0, 1.0, 0.5, 2.0, 0.1, 0.125, 0.01, 0.001, 0.9, 0.95, 0.99, 0.999, 1e-4, 1e-5, 1e-6, 1e-8, 1e4)
BOUNDS = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)

_OF_FLOATS: tuple[tuple[str, Change], ...] = (
    ("negated", lambda x: -x),
    ("taken without its sign", abs),
    ("squared", lambda x: x * x),
    ("inverted", lambda x: 1 / x if x else x),
    ("taken as 0 where negative", lambda x: max(x, 0.0)),
    ("rounded to bfloat16", lambda x: float(bfloat16(np.array([x]))[0])),
    *((f"taken as {number:g}", functools.partial(lambda number, _: number, number)) for number in NUMBERS),
    *((f"taken as {bound:g} where below", functools.partial(max, bound)) for bound in BOUNDS),
    *(
        (f"taken as 0 where below {bound:g}", functools.partial(lambda bound, x: x if abs(x) >= bound else 0.0, bound))
        for bound in BOUNDS[3:]
    ),
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


def of_scalars(operation: str, arguments: Mapping[str, Any]) -> Iterator[Slip]:
    function = operations.OPERATIONS[operation]
    floats = operations.float_scalars(function)
    if any(value is None for value in arguments.values()):
        return  # an array that is not read by what a scalar says: with another number it would have to be there
    for name in operations.scalars(function):
        for words, change in _OF_FLOATS if name in floats else _OF_INTEGERS:
            yield Slip(f"{name} {words}", (name,), change)
