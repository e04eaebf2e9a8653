"""What stands in the wrong places, whatever should: no number, zero, the poison, a copy of something else.

Each function looks at some places of a wrong output and returns what it found there, or None.
"""

from __future__ import annotations

import numpy as np

from conformance.judging.diagnoses import Kind, Symptom
from conformance.limits.noise import Noisy

from .failed import Array
from .parts import Part
from .specials import specials


def unwritten(part: Part) -> Symptom | None:
    if _still_poison(part).all():
        return Symptom(Kind.UNWRITTEN, "never written, still the poison")
    old = part.wrong.call.inputs.get(part.wrong.output)
    same = old is not None and old.shape == part.wrong.got.shape and _same_bits(part.got, old[part.at])
    if same and part.is_telling:
        return Symptom(Kind.UNWRITTEN, "never written, still what it held before")
    return None


def read_before(part: Part) -> Symptom | None:
    """A sum with what the output held before, or a product: right, or off by that, where it was a number.

    A large value swallows what is added to it: then both may be.
    """
    if part.wrong.again is None or not _is_poisoned(part):
        return None
    again = part.wrong.again[part.at]
    added = part.holds(part.wrong.with_poison(part.right, 2), again)
    if part.holds(part.right, again):
        words = "NaN where the output held NaN before, right where it held numbers: it is read"
        return Symptom(Kind.READ, words, also=(Kind.ADDED,) if added else ())
    return Symptom(Kind.ADDED, Kind.ADDED) if added else None


def _is_poisoned(part: Part) -> bool:
    """Whether what came of the first poison is what a sum with it gives: NaN, or one less."""
    if part.got.dtype.kind == "f":
        return bool(np.isnan(part.got).all()) and not np.isnan(part.values).all()
    return part.holds(part.wrong.with_poison(part.right, 1))


def no_number(part: Part) -> Symptom | None:
    if part.got.dtype.kind != "f":
        return None
    for words, test in (("NaN", np.isnan), ("infinity", np.isposinf), ("minus infinity", np.isneginf)):
        if test(part.got).all():
            words = words if part.values.any() else f"{words} where 0 is due"
            return Symptom(Kind.NO_NUMBER, words, general=words)
        if test(part.values).all() and np.isfinite(part.got).all():
            return specials(part)
    return None


def flushed(part: Part) -> Symptom | None:
    """Zero where a number is due that is subnormal as it is stored."""
    subnormal = (part.values != 0) & (np.abs(part.values) < part.wrong.smallest)
    all_zero = part.is_noisy and part.got.size and not part.got.any()
    return Symptom(Kind.FLUSHED, Kind.FLUSHED) if all_zero and subnormal.all() else None


def zeros(part: Part) -> Symptom | None:
    return Symptom(Kind.ZERO, Kind.ZERO) if part.is_telling and not part.got.any() else None


def last_output(part: Part) -> Symptom | None:
    """What the call before returned, as far as it reaches."""
    last = part.wrong.call.last.get(part.wrong.output)
    if last is None or not last.size or last.dtype != part.got.dtype or not part.is_telling:
        return None
    if part.got.size > 1 and (part.got == part.got[0]).all():  # as of any two calls whose results are cut off
        return None
    same = _same_bits(part.got, np.resize(last, part.wrong.got.shape)[part.at])
    return Symptom(Kind.LAST_OUTPUT, Kind.LAST_OUTPUT) if same else None


def constant(part: Part) -> Symptom | None:
    """One number, where different ones are due: else it is the right one, changed.

    Nor where a short format has no other number for them: then all are rounded to it.
    """
    if (part.values == part.values.flat[0]).all() if part.values.size else True:
        return None
    same = part.is_telling and part.got.size > 1 and (part.got == part.got[0]).all()
    if not same or part.rounds_to(part.got[0]):
        return None
    return Symptom(Kind.CONSTANT, f"the same number everywhere, {part.got[0]:.6g}")


def copied(part: Part) -> Symptom | None:
    for name, array in part.wrong.inputs.items():
        values = part.shaped(array)
        if values is not None and values.dtype == part.got.dtype and _same_values(part.got, values):
            return Symptom(Kind.COPY, f"a copy of {name}")
    return None


def exchanged(part: Part) -> Symptom | None:
    """What belongs into another output, unless that is a coarser copy, in whose limits the right values lie too."""
    for name, other in part.wrong.call.expected.items():
        alike = other.size == part.wrong.got.size and isinstance(other, Noisy) == part.is_noisy
        if not alike or name == part.wrong.output:
            continue
        belongs = other.reshape(part.wrong.got.shape)[part.at]
        if part.holds(belongs) and not part.holds(belongs, part.values.astype(part.got.dtype)):
            return Symptom(Kind.EXCHANGED, f"what belongs into {name}")
    return None


def other_rows(part: Part) -> Symptom | None:
    """Whole rows of an input, but not the ones that belong there."""
    got = part.wrong.got
    if got.ndim < 2 or got.shape[-1] < 2:
        return None
    rows = {row.tobytes() for row in got.reshape(-1, got.shape[-1])[_rows_of(part.at)]}
    for name, array in part.wrong.inputs.items():
        if array.dtype == got.dtype and array.ndim and array.shape[-1] == got.shape[-1]:
            known = {row.tobytes() for row in np.ascontiguousarray(array).reshape(-1, array.shape[-1])}
            if rows <= known:
                return Symptom(Kind.OTHER_ROWS, f"rows of {name}, but other ones than belong there")
    return None


def kinds(part: Part) -> Symptom | None:
    """What the wrong elements are, where they are not all numbers."""
    if part.got.dtype.kind != "f" or np.isfinite(part.got).all():
        return None
    left = _still_poison(part)
    places: dict[str, Array] = {
        Kind.UNWRITTEN.value: left,
        "NaN": np.isnan(part.got) & ~left,
        "infinity": np.isposinf(part.got),
        "minus infinity": np.isneginf(part.got),
        "zero": part.got == 0,
    }
    counts = {name: count for name, at in places.items() if (count := int(at.sum()))}
    words = ", ".join(f"{name} in {count} of {part.got.size}" for name, count in counts.items())
    return Symptom(Kind.NO_NUMBER, words, general=", ".join(counts))


def short_integers(part: Part) -> Symptom | None:
    """Whole numbers of which only the lowest bits are there, with or without a sign."""
    if part.got.dtype.kind != "i" or not part.got.size:
        return None
    for bits in (16, 8):  # what 16 bits leave of a number, of which 8 leave the same, they have made wrong
        short = {
            words: np.asarray(part.right).astype(f"{kind}{bits // 8}").astype(part.got.dtype)
            for kind, words in (("i", "a signed"), ("u", "an unsigned"))
        }
        ways = [words for words, numbers in short.items() if np.array_equal(numbers, part.got)]
        if ways:
            return Symptom(Kind.SHORT, f"cut off to {ways[0] if len(ways) == 1 else 'a'} number of {bits} bits")
    return None


CONTENTS = (
    unwritten,
    read_before,
    no_number,
    zeros,
    last_output,
    copied,
    short_integers,
    constant,
    exchanged,
    other_rows,
)


def _rows_of(at: Array) -> Array:
    """Which rows have a place that is looked at."""
    return np.asarray(at.reshape(-1, at.shape[-1]).any(axis=1))


def _still_poison(part: Part) -> Array:
    """Where an output holds what it did before the call, each time that the call was made."""
    again = None if part.wrong.again is None else part.wrong.again[part.at]
    left = _equal_bits(part.got, part.wrong.poison(1))
    return left if again is None else left & _equal_bits(again, part.wrong.poison(2))


def _same_bits(got: Array, other: Array) -> bool:
    return bool(_equal_bits(got, other).all())


def _equal_bits(got: Array, other: Array) -> Array:
    if got.dtype != other.dtype:  # what is not of the declared type is nothing that stood there
        return np.zeros(got.shape, bool)
    bits = f"u{got.dtype.itemsize}"
    return np.asarray(got.view(bits) == np.broadcast_to(other.view(bits), got.shape))


def _same_values(got: Array, other: Array) -> bool:
    return bool(np.array_equal(got, other, equal_nan=got.dtype.kind == "f"))
