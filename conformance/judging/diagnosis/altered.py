"""The right values, changed: with a factor, an offset, a term too many or too few, cut off.

An explanation counts where the explained values pass the verdict that the right ones failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance.judging.diagnoses import Kind, Symptom
from conformance.limits.noise import FLOAT32, Noisy, exact

from .failed import Array
from .lines import lines
from .numbers import Number, recognise
from .parts import Part

_SEVERAL = 3  # numbers that are one
_NEAR = 1e-3  # factors that differ from 1 by less than this are told by the difference
_LAST_DIGITS = 64 * FLOAT32.unit  # no factor that somebody forgot is as near to 1


def sign(part: Part) -> Symptom | None:
    if part.is_noisy and part.holds(-part.right):
        return Symptom(Kind.SIGN, "the sign is reversed")
    return None


def magnitude(part: Part) -> Symptom | None:
    if part.is_noisy and part.holds(np.abs(part.right)):
        return Symptom(Kind.SIGN, "the sign is lost")
    return None


def factor(part: Part) -> Symptom | None:
    """One factor for all; a single element must have a factor with a name.  An index has none."""
    if not part.is_noisy:
        return None
    excess, variance = (float(x[0]) for x in part.fit(part.values))
    found = recognise(1 + excess, variance**0.5, part.wrong.call.numbers)
    if found and found.value != 0 and part.holds(part.right * found.value):
        return Symptom(Kind.FACTOR, f"the right values times {found}", found.names, "the right values times {}")
    if np.unique(part.values[part.usable]).size > 1 and part.holds(_times(part.right, 1 + excess, variance)):
        words = f"the right values times {_near_one(excess)}"
        return _leaning(excess, words) if abs(excess) < _LAST_DIGITS else Symptom(Kind.FACTOR, words)
    return None


def _leaning(excess: float, words: str) -> Symptom:
    """What one factor in the last digits of float32 comes from: sums, or results, that all are rounded to one side."""
    said = f"rounded {'toward' if excess < 0 else 'away from'} zero where the nearest number is due"
    return Symptom(Kind.LEANS, f"{said}: {words}", general=said)


def offset(part: Part) -> Symptom | None:
    """One number added everywhere."""
    added, variance = (float(x[0]) for x in part.fit(np.ones(part.got.size)))
    found = recognise(added, variance**0.5, part.wrong.call.numbers)
    if found and found.value != 0 and part.holds(part.right + _number(part, found.value)):
        words = f"the right values {'plus' if found.value > 0 else 'minus'} {found.words.removeprefix('-')}"
        return Symptom(Kind.OFFSET, words, found.names, "the right values plus {}")
    if part.got.size > 2 and part.is_noisy and part.holds(_plus(part.right, np.ones(part.got.size), added, variance)):
        return Symptom(Kind.OFFSET, f"the right values {added:+.6g}")
    return None


def term(part: Part) -> Symptom | None:
    """A multiple of an input, or of its square, missing or added once too often."""
    for name, values in _float_inputs(part):
        for power, words in ((1, name), (2, f"{name}^2")):
            direction = values**power
            multiple, variance = (float(x[0]) for x in part.fit(direction))
            found = recognise(multiple, variance**0.5, part.wrong.call.numbers)
            if found and found.value != 0 and part.holds(_plus(part.right, direction, found.value, 0.0)):
                return Symptom(Kind.TERM, _term_said(words, found), found.names, general=_some_of(words))
            several = np.unique(direction[part.usable]).size > 2
            if several and part.holds(_plus(part.right, direction, multiple, variance)):
                return Symptom(Kind.TERM, f"the right values {multiple:+.6g} times {words}", general=_some_of(words))
    return None


def _some_of(name: str) -> str:
    return f"the right values plus or minus some multiple of {name}"


def _term_said(name: str, multiple: Number) -> str:
    if multiple.value == -1:
        return f"{name} is missing: not added"
    if multiple.value == 1:
        return f"{name} is added once too often"
    if multiple.names and multiple.names[0].startswith("-"):
        return f"{multiple.names[0].removeprefix('-')} * {name} is missing: not added"
    return (
        f"the right values {'plus' if multiple.value > 0 else 'minus'} {multiple.words.removeprefix('-')} times {name}"
    )


def missing_factor(part: Part) -> Symptom | None:
    """An input that is multiplied with once too often, or not at all."""
    if not part.is_noisy:
        return None
    for name, values in _float_inputs(part):
        if part.holds(part.right * values):
            return Symptom(Kind.TERM, f"multiplied by {name} once too often")
        if (values != 0).all() and part.holds(part.right / values):
            return Symptom(Kind.TERM, f"not multiplied by {name}")
    return None


def clamped(part: Part) -> Symptom | None:
    """The right values, cut off at a number that stands more than once."""
    numbers = part.got[~np.isnan(part.got)]
    if not part.is_noisy or not numbers.size:
        return None
    for words, limit, cut in (("above", numbers.max(), np.minimum), ("below", numbers.min(), np.maximum)):
        several = np.count_nonzero(part.got == limit) > 1 and not part.rounds_to(limit)
        if several and part.holds(cut(part.right, exact(limit))):
            return Symptom(Kind.CLAMPED, _cut_off(words, float(limit)))
    return None


def at_a_limit(part: Part) -> tuple[str, ...]:
    """Where one number came for several, all larger or all smaller: so a limit looks that cuts all of them off."""
    if not part.is_noisy or part.got.size < _SEVERAL or not part.usable.all() or np.ptp(part.got):
        return ()
    sides = {"above": (part.values > part.got).all(), "below": (part.values < part.got).all()}
    return tuple(_cut_off(side, float(part.got[0])) for side, is_so in sides.items() if is_so)


def _cut_off(side: str, limit: float) -> str:
    return f"cut off {side} {limit:.6g}"


def own_factors(part: Part) -> Symptom | None:
    """Every row, or column, with a factor of its own."""
    for name, groups in lines(part):
        excess, variance = part.fit(part.values, groups)
        if part.holds(_times(part.right, 1 + excess[groups], variance[groups])):
            return _own(f"every {name} times a factor of its own", _reach(1 + excess))
    return None


def own_offsets(part: Part) -> Symptom | None:
    """Every row, or column, with a number of its own added."""
    for name, groups in lines(part):
        added, variance = part.fit(np.ones(part.got.size), groups)
        if part.holds(_plus(part.right, np.ones(part.got.size), added[groups], variance[groups])):
            return _own(f"every {name} plus a number of its own", _reach(added))
    return None


def own_terms(part: Part) -> Symptom | None:
    """Every row with a multiple of its own of an input's row: a sum over the row is wrong."""
    for name, groups in lines(part):
        for input_name, values in _float_inputs(part):
            multiple, variance = part.fit(values, groups)
            if part.holds(_plus(part.right, values, multiple[groups], variance[groups])):
                words = f"every {name} plus a multiple of its own of {input_name}"
                return _own(words, f"{_reach(multiple)}: a sum is wrong")
    return None


def _own(words: str, numbers: str) -> Symptom:
    return Symptom(Kind.LINES, f"{words}, {numbers}", general=words)


ALTERED = (sign, magnitude, factor, offset, term, missing_factor, clamped)
BY_LINES = (own_factors, own_offsets, own_terms)


def _float_inputs(part: Part) -> Iterator[tuple[str, Array]]:
    for name, array in part.wrong.inputs.items():
        values = part.shaped(array) if array.dtype.kind == "f" else None
        if values is not None and np.isfinite(values).all() and values.any():
            yield name, values.astype(np.float64)


def _number(part: Part, value: float) -> Any:
    return exact(value) if part.is_noisy else round(value)


def _times(right: Any, factors: Any, variance: Any) -> Any:
    """The right values times factors that are known up to a variance."""
    if not isinstance(right, Noisy):
        return right * factors
    spread = Noisy(right.v, right.variance + variance * right.v**2, right.shared, None)
    return spread * np.broadcast_to(factors, right.shape)


def _plus(right: Any, direction: Array, multiple: Any, variance: Any) -> Any:
    if not isinstance(right, Noisy):
        return right + multiple * direction
    spread = Noisy(right.v, right.variance + variance * direction**2, right.shared, None)
    return spread + exact(direction) * np.broadcast_to(multiple, right.shape)


def _reach(values: Array) -> str:
    return f"{values.min():.4g} to {values.max():.4g}"


def _near_one(excess: float) -> str:
    """A factor in digits; one that is nearly 1 by its distance from it."""
    return f"1 {'+' if excess > 0 else '-'} {abs(excess):.2g}" if abs(excess) < _NEAR else f"{1 + excess:.6g}"
