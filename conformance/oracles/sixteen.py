"""What is stored in 16 bits, once more: the float32 operation's numbers, those without an error rounded one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import numpy as np

from conformance import contract
from conformance.expectation import expect
from conformance.noise import Noisy, exact

from .numbers import precise

# Bits of fraction, least exponent of a normal number, greatest exponent.
FORMATS = {"float16": (10, -14, 15), "bfloat16": (7, -126, 127)}
CASTS = ("cast_to", "cast_from")


def wide(base: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What the float32 operation of that name must give; a cast gives what it is given."""
    return {"output": exact(arguments["input"])} if base in CASTS else expect(base, arguments)


def is_stored(operation: str, wide: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Whether an expectation is the float32 operation's, exact numbers rounded to the nearest of their format."""
    elements = {p.name: p.element for p in contract.written_arrays(contract.OPERATIONS[operation])}
    return all(_agree(wide[name], expected[name], FORMATS.get(elements[name])) for name in expected)


def _agree(wide: Any, expected: Any, format: tuple[int, int, int] | None) -> bool:
    if not isinstance(wide, Noisy):
        return np.array_equal(wide, expected)
    due = wide.v
    if format:
        rounded = (wide.variance == 0) & np.isfinite(due)
        due = np.array(due)
        with precise():
            due[rounded] = [nearest(x, *format) for x in due[rounded].tolist()]
    return np.array_equal(due, expected.v, equal_nan=True)


def nearest(x: float, bits: int, least: int, greatest: int) -> float:
    """The number of a format nearest to x, of two the even one; infinity from half a step past the largest on."""
    exponent = max(math.frexp(x)[1] - 1, least)
    step = Decimal(2) ** (exponent - bits)
    found = (Decimal(x) / step).to_integral_value(ROUND_HALF_EVEN) * step
    return math.copysign(math.inf, x) if abs(found) >= Decimal(2) ** (greatest + 1) else math.copysign(float(found), x)
