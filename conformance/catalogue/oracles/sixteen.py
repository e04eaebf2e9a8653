"""What is stored in 16 bits, once more: the float32 operation's numbers, those without an error rounded one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

import numpy as np

from conformance import operations
from conformance.limits.expectation import expect
from conformance.limits.noise import Noisy, exact

from .numbers import precise

# Bits of fraction, least exponent of a normal number, greatest exponent.
FORMATS = {"float16": (10, -14, 15), "bfloat16": (7, -126, 127)}
CASTS = ("cast_to", "cast_from")


def wide(base: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What the float32 operation of that name must give; a cast gives what it is given."""
    if base in CASTS:
        return {"output": exact(arguments["input"])}
    found = expect(base, arguments)
    # What an update moves is stored once more.
    return found | {name.replace("params", "copies"): value for name, value in found.items() if "params" in name}


def is_stored(operation: str, wide: Mapping[str, Any], expected: Mapping[str, Any], seed: int) -> bool:
    """Whether an expectation is the float32 operation's, exact numbers rounded to their format; seed: of the draws."""
    function = operations.OPERATIONS[operation]
    return all(
        _agree(
            wide[name],
            value,
            FORMATS.get(operations.declared(function, name).element),
            seed,
            operations.place_in_list(name),
        )
        for name, value in expected.items()
    )


def _agree(wide: Any, expected: Any, format: tuple[int, int, int] | None, seed: int, place: int) -> bool:
    if not isinstance(wide, Noisy):
        return np.array_equal(wide, expected)
    due = np.array(wide.v)
    if format:
        flat, sure = due.reshape(-1), ((wide.variance == 0) & np.isfinite(due)).reshape(-1)
        own = word(seed, place)
        with precise():
            for i in np.flatnonzero(sure).tolist():
                flat[i] = stored(float(flat[i]), *format, word(own, i) >> 48 if seed else None)
    return np.array_equal(due, expected.v, equal_nan=True)


def stored(x: float, bits: int, least: int, greatest: int, draw: int | None = None) -> float:
    """The number of a format nearest to x, of two the even one; by a draw one of its neighbours."""
    exponent = max(math.frexp(x)[1] - 1, least)
    step = Decimal(2) ** (exponent - bits)
    steps = abs(Decimal(x)) / step
    whole = steps.to_integral_value(ROUND_HALF_EVEN if draw is None else ROUND_FLOOR)
    if draw is not None:
        whole += int((steps - whole) * 65536) + draw >= 65536
    found = whole * step
    return math.copysign(math.inf if found >= Decimal(2) ** (greatest + 1) else float(found), x)


def word(seed: int, n: int) -> int:
    """Word n of a seed, as assayer.h has it."""
    z = (seed + (n + 1) * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31
