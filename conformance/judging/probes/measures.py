"""What one property is found to be: by putting numbers through channels and seeing which come out apart."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conformance.limits.expectation import expect
from conformance.limits.measure import limits
from conformance.limits.noise import FLOAT32, FORMATS, Noisy

from .channels import Channel

Call = Callable[[str, dict[str, Any]], dict[str, Any]]  # operation, arguments: outputs by flat name
Numbers = Callable[[int], tuple[float, ...]]  # what tells whether so many digits come through
MOST = FLOAT32.bits
ONES = 5000  # at most; in float16 they add up to 2048, in bfloat16 to 256: there 1 more changes nothing
TINY = 2.0**-130  # subnormal, and short enough for every format with the exponents of float32


def one_more(b: int) -> tuple[float, ...]:
    """What tells whether b digits are kept: a number with one at the end."""
    return (1 + 2.0**-b,)


def one_and(b: int) -> tuple[float, ...]:
    """The same as a sum."""
    return (1.0, 2.0**-b)


def _plain(numbers: Numbers) -> tuple[float, ...]:
    """The same without its last digit."""
    return tuple(1.0 if place == 0 else 0.0 for place in range(len(numbers(1))))


def kept_bits(channel: Channel, numbers: Numbers, call: Call) -> int:
    """Return how many digits behind the first come through: 1 + 2^-b other than 1 and than 1 + 2^-(b-1)."""

    def out(numbers: Sequence[float]) -> float:
        return float(channel.read(call(channel.operation, channel.arguments(*numbers))))

    base = out(_plain(numbers))
    for b in range(MOST, 0, -1):
        if len({base, out(numbers(b)), out(numbers(b - 1))}) == 3:
            return b
    return 0


def due_bits(channel: Channel, numbers: Numbers, declared: int) -> int:
    """Return how many of the declared digits come through for certain, by the limits of the arithmetic in use.

    Two numbers come out apart for certain where the ranges of what may come do not meet.
    """
    base = _range(channel, _plain(numbers))
    for b in range(declared, 0, -1):
        ranges = sorted([base, _range(channel, numbers(b)), _range(channel, numbers(b - 1))])
        if all(lower[1] < upper[0] for lower, upper in itertools.pairwise(ranges)):
            return b
    return 0


def _range(channel: Channel, numbers: Sequence[float]) -> tuple[float, float]:
    wanted = channel.read(expect(channel.operation, channel.arguments(*numbers)))
    if not isinstance(wanted, Noisy):
        return float(wanted), float(wanted)
    limit, _ = limits(wanted)
    return float(wanted.v - limit), float(wanted.v + limit)


def ones(channel: Channel, count: int, call: Call) -> int:
    """Return what so many ones add up to."""
    out = float(channel.read(call(channel.operation, channel.arguments(*[1.0] * count))))
    return round(channel.total(out, count)) if np.isfinite(out) else -1


def least_of_ones(channel: Channel, count: int) -> float:
    """Return what so many ones add up to at least, by the limits of the arithmetic in use: of what is stored in a few
    digits behind a logarithm, much less."""
    ends = [channel.total(end, count) for end in _range(channel, [1.0] * count)]
    return min((end for end in ends if np.isfinite(end)), default=float(count))


def rounds_up(channel: Channel, call: Call) -> bool:
    """Whether 1 + 2^-24 + 2^-26 is nearer to what comes above 1 than to 1."""
    outs = [channel.read(call(channel.operation, channel.arguments(1.0, more))) for more in (0.0, 2.0**-24 + 2.0**-26)]
    return bool(outs[0] != outs[1])


def flushes(channel: Channel, call: Call) -> bool:
    """Whether a subnormal number comes out as zero although it need not."""
    if float(channel.read(call(channel.operation, channel.arguments(TINY)))) != 0:
        return False
    low, high = _range(channel, (TINY,))
    return not low <= 0 <= high


def differs(operation: str, arguments: dict[str, Any], calls: Sequence[Call]) -> str:
    """Return the name of an output that repeated calls do not give alike, or nothing."""
    first, *others = [call(operation, arguments) for call in calls]
    for name, array in first.items():
        if any(array.tobytes() != other[name].tobytes() for other in others):
            return name
    return ""


def format_of(bits: int) -> str:
    """Say digits in words: 10 bits (tf32)."""
    names = {FORMATS[name].bits: name for name in ("bfloat16", "tf32", "float32")}
    return f"{bits} bits ({names[bits]})" if bits in names else f"{bits} bits"
