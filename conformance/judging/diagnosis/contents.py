"""What stands in the wrong places, whatever should: no number, zero, the poison, a copy of something else.

Each function looks at some places of a wrong output and returns what it found in words, or "".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conformance.limits.noise import FLOAT32, Noisy

from .failed import Array
from .parts import Part


def unwritten(part: Part) -> str:
    poison = np.frombuffer(b"\xff" * part.got.dtype.itemsize, part.got.dtype)
    if _same_bits(part.got, poison):
        return "never written, still the poison"
    old = part.wrong.call.inputs.get(part.wrong.output)
    same = old is not None and old.shape == part.wrong.got.shape and _same_bits(part.got, old[part.at])
    return "never written, still what it held before" if same and part.is_telling else ""


def no_number(part: Part) -> str:
    if part.got.dtype.kind != "f":
        return ""
    for words, test in (("NaN", np.isnan), ("infinity", np.isposinf), ("minus infinity", np.isneginf)):
        if test(part.got).all():
            return words
        if test(part.values).all() and np.isfinite(part.got).all():
            return f"numbers where {words} is due"
    return ""


def flushed(part: Part) -> str:
    """Zero where a subnormal number is due."""
    subnormal = (part.values != 0) & (np.abs(part.values) < FLOAT32.smallest)
    all_zero = part.is_noisy and part.got.size and not part.got.any()
    return "subnormal numbers flushed to zero" if all_zero and subnormal.all() else ""


def zeros(part: Part) -> str:
    return "zero" if part.is_telling and not part.got.any() else ""


def last_output(part: Part) -> str:
    """What the call before returned, as far as it reaches."""
    last = part.wrong.call.last.get(part.wrong.output)
    if last is None or not last.size or last.dtype != part.got.dtype or not part.is_telling:
        return ""
    same = _same_bits(part.got, np.resize(last, part.wrong.got.shape)[part.at])
    return "equal to the last case's output" if same else ""


def constant(part: Part) -> str:
    same = part.is_telling and part.got.size > 1 and (part.got == part.got[0]).all()
    return f"the same number everywhere, {part.got[0]:.6g}" if same else ""


def copied(part: Part) -> str:
    for name, array in part.wrong.inputs.items():
        values = part.shaped(array)
        if values is not None and values.dtype == part.got.dtype and _same_values(part.got, values):
            return f"a copy of {name}"
    return ""


def exchanged(part: Part) -> str:
    """What belongs into another output."""
    for name, other in part.wrong.call.expected.items():
        alike = other.size == part.wrong.got.size and isinstance(other, Noisy) == part.is_noisy
        if alike and name != part.wrong.output and part.holds(other.reshape(part.wrong.got.shape)[part.at]):
            return f"what belongs into {name}"
    return ""


def other_rows(part: Part) -> str:
    """Whole rows of an input, but not the ones that belong there."""
    got = part.wrong.got
    if got.ndim < 2 or got.shape[-1] < 2:
        return ""
    rows = {row.tobytes() for row in got.reshape(-1, got.shape[-1])[_rows_of(part.at)]}
    for name, array in part.wrong.inputs.items():
        if array.dtype == got.dtype and array.ndim and array.shape[-1] == got.shape[-1]:
            known = {row.tobytes() for row in np.ascontiguousarray(array).reshape(-1, array.shape[-1])}
            if rows <= known:
                return f"rows of {name}, but other ones than belong there"
    return ""


def kinds(part: Part) -> str:
    """What the wrong elements are, where they are not all numbers."""
    if part.got.dtype.kind != "f" or np.isfinite(part.got).all():
        return ""
    tests: dict[str, Callable[[Array], Array]] = {
        "NaN": np.isnan,
        "infinity": np.isposinf,
        "minus infinity": np.isneginf,
        "zero": lambda x: x == 0,
    }
    counts = {name: int(test(part.got).sum()) for name, test in tests.items()}
    return ", ".join(f"{name} in {count} of {part.got.size}" for name, count in counts.items() if count)


CONTENTS = (unwritten, no_number, zeros, last_output, copied, constant, exchanged, other_rows)


def _rows_of(at: Array) -> Array:
    """Which rows have a place that is looked at."""
    return np.asarray(at.reshape(-1, at.shape[-1]).any(axis=1))


def _same_bits(got: Array, other: Array) -> bool:
    return bool(
        np.array_equal(
            got.view(f"u{got.dtype.itemsize}"), np.broadcast_to(other.view(f"u{other.dtype.itemsize}"), got.shape)
        )
    )


def _same_values(got: Array, other: Array) -> bool:
    return bool(np.array_equal(got, other, equal_nan=got.dtype.kind == "f"))
