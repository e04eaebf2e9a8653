"""Precision as a symptom: results stored in a shorter format, or errors as large as a shorter format makes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conformance.judging.diagnoses import AS_SHORT, RIGHT_TO, Kind, Symptom
from conformance.limits.measure import BIAS_ELEMENTS, SIGMAS
from conformance.limits.noise import FLOAT32, Noisy

from .failed import Array, Wrong
from .numbers import CHANCE
from .parts import Part


@dataclass(frozen=True)
class Format:
    """A short floating-point format: the unit roundoff of its mantissa, and which numbers it holds."""

    name: str
    unit: float
    holds: Callable[[Array], Array]
    least: float = FLOAT32.smallest  # its smallest normal number
    most: float = math.inf  # what is larger than this becomes infinite


def _low_bits_clear(bits: int) -> Callable[[Array], Array]:
    return lambda array: (array.view(np.uint32) & np.uint32((1 << bits) - 1)) == 0


def _half(array: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(array.astype(np.float16).astype(np.float32) == array)


BFLOAT16 = Format("bfloat16", 2.0**-8, _low_bits_clear(16))
FLOAT16 = Format("float16", 2.0**-11, _half, 2.0**-14, 65520.0)
TF32 = Format("TF32", 2.0**-11, _low_bits_clear(13))


_THROUGH, _CUT_OFF = "stored through", "cut off, not rounded, to"


def stored_short(part: Part) -> Symptom | None:
    """Every value that came fits a short format, and is the right one rounded, or cut, to it."""
    if not part.is_noisy or not np.any(part.values):
        return None
    came = np.ascontiguousarray(part.got[~np.isnan(part.got)])
    for format in (BFLOAT16, TF32, FLOAT16):
        if came.size and format.holds(came).all() and part.holds(_rounded(part.right, format)):
            both = format is TF32 and FLOAT16.holds(came).all()
            names = ("TF32", "float16") if both else (format.name,)
            ways = _rounding_modes(part)
            if _is_stored_in(part, format) and (ways == (_THROUGH,) or (_is_drawn(part) and _THROUGH in ways)):
                continue  # as all of it is
            words = f"{ways[0] if len(ways) == 1 else 'rounded or cut off to'} {' or '.join(names)}"
            either = tuple(f"{way} {name}" for way in ways for name in names)
            return Symptom(Kind.SHORT, words, also=either if len(either) > 1 else ())
    return None


def _is_stored_in(part: Part, format: Format) -> bool:
    """Whether the output is declared in this format, or in one that holds no more digits."""
    own = part.wrong.format
    return own is not None and own.unit >= format.unit


def _is_drawn(part: Part) -> bool:
    """Whether a draw decides which way numbers are rounded."""
    return "seed" in part.wrong.call.arguments


def neighbours(part: Part) -> Symptom | None:
    """Every wrong number is next to the right one in the 16-bit format that a draw rounds it to, up or down."""
    own = part.wrong.format
    if own is None or not _is_drawn(part):
        return None
    if not part.usable.all() or not part.values.all():
        return None
    spacing = 2 * own.unit * 2.0 ** np.floor(np.log2(np.maximum(np.abs(part.values), own.smallest)))
    if (np.abs(part.error) > 1.5 * spacing).any():  # a right one that is no number of the format lies between two
        return None
    return Symptom(Kind.NEIGHBOUR, Kind.NEIGHBOUR)


def _rounded(right: Noisy, format: Format) -> Noisy:
    """What is left of the right values in a format: each may be off by two of its unit roundoffs, if it is cut off."""
    reach = 2 * format.unit * np.maximum(np.abs(right.v), format.least)
    v = np.where(np.abs(right.v) < format.most, right.v, np.copysign(np.inf, right.v))
    v = np.where(np.isnan(right.v), right.v, v)
    worst = None if right.worst is None else right.worst * (1 + reach) + reach
    kept = np.where(np.isfinite(v), right.variance + reach**2, 0.0)
    return Noisy(v, kept, np.minimum(right.shared, kept), worst)


def _rounding_modes(part: Part) -> tuple[str, ...]:
    """Rounding errs to both sides; cutting off leaves no value further from zero than it should be."""
    further = np.where(part.values > 0, 1, -1) * part.error
    clear = part.usable & (part.error**2 * part.weight > SIGMAS**2)
    if (further[clear] > 0).any():
        return (_THROUGH,)
    return (_CUT_OFF,) if 0.5 ** np.count_nonzero(clear) < CHANCE else (_THROUGH, _CUT_OFF)


_COMPUTED = ((2.0**-11, "TF32 or float16 (11 bits)"), (2.0**-8, "bfloat16 (8 bits)"))


def computed_short(wrong: Wrong) -> Symptom | None:
    """The errors are no larger than computing in a shorter format makes, and there are enough to show no bias."""
    if wrong.got.size < BIAS_ELEMENTS:
        return None
    for unit, _ in _COMPUTED:
        expected = wrong.call.computed_with(unit).get(wrong.output)
        if isinstance(expected, Noisy) and wrong.holds(expected):
            cut = averages(wrong)
            pattern = cut.words if cut else "no simple pattern"
            precision, *coarser = (_no_larger(words) for least, words in _COMPUTED if least >= unit)
            return Symptom(Kind.PRECISION, f"{pattern}; {precision}", general=precision, also=(precision, *coarser))
    return None


def _no_larger(words: str) -> str:
    """A case of few roundings fits a finer format than others of the same library."""
    return f"{AS_SHORT} {words}"


_DIGITS = range(6, 2, -1)


def digits(part: Part) -> Symptom | None:
    """The first digits are right: an approximation, or a constant, that ends early."""
    if not part.is_noisy or not part.usable.all() or not part.values.all():
        return None
    reach = float(np.max(np.abs(part.error / part.values), initial=0.0))
    words = [f"{RIGHT_TO} {count} digits" for count in _DIGITS if reach <= 10.0**-count]
    return Symptom(Kind.DIGITS, words[0], also=tuple(words[1:])) if words else None


def averages(wrong: Wrong) -> Symptom | None:
    """No element is beyond its limit, yet all of them together are."""
    if not isinstance(wrong.right, Noisy):
        return None
    part = Part(wrong, np.ones(wrong.got.shape, bool))
    toward_zero = np.where(part.values > 0, -1, 1) * part.error * np.sqrt(part.weight)
    share = float(np.mean(toward_zero[part.usable] > 0)) if part.usable.any() else 0.0
    if share <= 0.5:
        return None
    words = f"{share:.0%} of the results lie nearer to zero than they should: roundings are cut off"
    return Symptom(Kind.AVERAGE, words)
