"""The bounds between which the values of an input lie where results are wrong, in few digits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

from .measured import Kind, Values

_DIGITS = 5  # of a bound, at most
_SHORT = 4  # of one that no right value helps to round


def reach(found: Sequence[Values]) -> tuple[float, float]:
    """Return the lowest and the highest of all the wrong values."""
    return min(one.low for one in found), max(one.high for one in found)


def said(found: Sequence[Values]) -> str:
    """Return the kind with its bounds; one that only a wrong value itself tells is said to be among what is wrong."""
    low, high = reach(found)
    under = max((one.under for one in found if not math.isnan(one.under)), default=low)
    over = min((one.over for one in found if not math.isnan(one.over)), default=high)
    kind = _OPEN.get((found[0].kind, math.isinf(low), math.isinf(high)), found[0].kind)
    is_closed = kind not in _CLOSED  # an interval holds its bounds
    least, most = _parting(low, min(low, under), is_closed), _parting(high, max(high, over), is_closed)
    words = str(kind) if is_closed or (least if kind.has_low else most) else _CLOSED[kind]
    return words.format(
        found[0].input, low=least or _outwards(low, ROUND_FLOOR), high=most or _outwards(high, ROUND_CEILING)
    )


# An interval that ends at infinity has one bound.
_OPEN = {
    (Kind.BETWEEN, True, False): Kind.BELOW,
    (Kind.BETWEEN, False, True): Kind.ABOVE,
    (Kind.OF_SIZE, False, True): Kind.LARGE,
}
# What has one bound, where that is of what is wrong.
_CLOSED: Mapping[Kind, str] = {
    Kind.ABOVE: "{} is {low} or more",
    Kind.BELOW: "{} is {high} or less",
    Kind.LARGE: "|{}| is {low} or more",
    Kind.SMALL: "|{}| is {high} or less",
}


def _parting(wrong: float, right: float, is_closed: bool) -> str:
    """The roundest number between a wrong value and a right one beside it; nothing where there is none of few digits.

    It may be the right value, or where it is_closed the wrong one, but not the other.
    """
    low, high = sorted((wrong, right))
    not_it = right if is_closed else wrong
    tried = (f"{(low + high) / 2:.{digits}g}" for digits in range(1, _DIGITS + 1))
    fit = (text for text in tried if low <= float(text) <= high and float(text) != not_it)
    return next((text for text in fit if math.isfinite(float(text))), "")


def _outwards(bound: float, way: str) -> str:
    """A wrong value in few digits, none of which takes it out of what is said."""
    return f"{float(Context(prec=_SHORT, rounding=way).create_decimal(bound)) + 0.0:.{_SHORT}g}"
