"""Where a library of others is known to differ from the header: which elements, and by what.

    [[difference]]
    modules = ["with_jax.py", "with_mlx.py"]        # files of modules that port to the library
    operations = ["silu_backward"]
    due = "infinity"                                # what the header has: NaN, infinity, zero, subnormal, number or any
    got = "NaN"                                     # what comes instead
    why = "d s + d x s (1 - s) is inf - inf"

A failure is known where the elements of these kinds, and no others, are what it fails by: with what is due in their
place the call conforms.  Other keys say more closely which elements are meant: `row = "NaN"`, those whose row of the
first argument holds one; `ties = "logits"`, indices of other entries of that argument's row that are as large;
`within = 6e-8`, those that are off by no more, times the larger of 1 and the size of every argument that `times` names.
In place of `due` and `got`, `reading = "clip / (norm + 1e-6)"` is of calls whose outputs are those of this wrong
reading, `raised = "scale must be"` of those that are not carried out: an exception with these words is raised.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.outputs import Outputs, passes, settled
from conformance.limits.expectation import Expected, rounded
from conformance.limits.measure import measure
from conformance.operations import OPERATIONS, narrowed, read_arrays

Array = NDArray[Any]
_TINY = float(np.finfo(np.float32).tiny)
Kind = Callable[[Array], NDArray[np.bool_]]
_KINDS: Mapping[str, Kind] = {
    "NaN": np.isnan,
    "infinity": np.isinf,
    "zero": lambda values: values == 0,
    "subnormal": lambda values: (values != 0) & (np.abs(values) < _TINY),
    "number": np.isfinite,
    "any": lambda values: np.ones(values.shape, bool),
}
_ALWAYS = ("modules", "operations", "why")
_KINDS_OF = ("due", "got")
_OF_CALLS = ("reading", "raised")
_CLOSER = ("row", "ties", "within", "times")


class DifferenceError(ValueError):
    """A file of differences that cannot be read; the message names the file and what is wrong in it."""


@dataclass(frozen=True)
class Difference:
    """One of them, as the file has it."""

    modules: tuple[str, ...]
    operations: tuple[str, ...]
    why: str
    reading: str = ""
    raised: str = ""
    due: str = "any"
    got: str = "any"
    row: str = ""
    ties: str = ""
    within: float = np.inf
    times: tuple[str, ...] = ()

    @property
    def is_of_call(self) -> bool:
        """Whether it is told by what came of a call as a whole, rather than by elements."""
        return bool(self.reading or self.raised)

    def is_told_by(self, operation: str, reason: str, readings: Sequence[str]) -> bool:
        """Whether a call failed by it, for this reason, its outputs being those of these wrong readings."""
        if not self.is_of_call or operation not in self.operations:
            return False
        return self.reading in readings if self.reading else reason.startswith("raised ") and self.raised in reason

    def elements(self, arguments: Mapping[str, Any], wanted: Array, got: Array) -> NDArray[np.bool_]:
        """Where an output's elements are of the kinds that it speaks of; all arrays have the output's shape."""
        with np.errstate(invalid="ignore", over="ignore"):
            where = _KINDS[self.due](wanted) & _KINDS[self.got](got)
            if np.isfinite(self.within):
                error = np.abs(got.astype(np.float64) - wanted)
                where &= error <= self.within * _factor([arguments[name] for name in self.times], wanted.shape)
        if self.row:
            where &= _rows_with(_KINDS[self.row], arguments, wanted.shape)
        if self.ties:
            where &= _are_ties(np.asarray(arguments[self.ties]), wanted, got)
        return np.asarray(where)


def _factor(arrays: Sequence[Any], shape: tuple[int, ...]) -> Array:
    factor = np.ones(shape)
    for array in arrays:
        size = np.maximum(1.0, np.abs(np.asarray(array, np.float64)))
        factor = factor * size if size.shape == shape else np.zeros(shape)  # of other elements it says nothing
    return factor


def _are_ties(among: Array, wanted: Array, got: Array) -> NDArray[np.bool_]:
    """Where two indices are of entries of a row that are equal; an output of one index a row has an axis less."""
    if wanted.dtype.kind != "i" or among.ndim - wanted.ndim not in (0, 1):
        return np.zeros(wanted.shape, bool)
    if among.ndim > wanted.ndim:
        return _are_ties(among, wanted[..., None], got[..., None])[..., 0]
    within = (got >= 0) & (got < among.shape[-1])
    due, came = (np.take_along_axis(among, np.where(within, each, 0), axis=-1) for each in (wanted, got))
    return np.asarray(within & (due == came))


def _rows_with(is_kind: Kind, arguments: Mapping[str, Any], shape: tuple[int, ...]) -> Any:
    """Where the row of the first argument, which lies along its last axis, holds such a number."""
    first = np.asarray(next(iter(arguments.values())))
    rows = np.any(is_kind(first), axis=-1)
    if np.shape(rows) == shape:
        return rows
    return np.broadcast_to(np.expand_dims(rows, -1), shape) if np.shape(rows) == shape[:-1] else np.zeros(shape, bool)


def read_differences(path: Path) -> list[Difference]:
    """Read a file of differences.  Raises DifferenceError."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DifferenceError(f"{path}: {error}") from None
    entries = content.pop("difference", [])
    if content or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        found = ", ".join(content) or "difference"
        raise DifferenceError(f"{path}: expected [[difference]] tables and nothing else, got {found}")
    return [_difference(f"{path}, difference {place}", entry) for place, entry in enumerate(entries, 1)]


def _difference(where: str, entry: Mapping[str, Any]) -> Difference:
    of_call = next((name for name in _OF_CALLS if name in entry), "")
    due = (*_ALWAYS, *((of_call,) if of_call else _KINDS_OF))
    possible = (*due, *(() if of_call else _CLOSER))
    missing = [f"lacks {name}" for name in due if name not in entry]
    if wrong := missing + [f"has an unknown {name}" for name in sorted(set(entry) - {*possible})]:
        raise DifferenceError(
            f"{where}: {', '.join(wrong)}; each has {', '.join(_ALWAYS)}, and reading, raised, or due and got"
        )
    for name, value in entry.items():
        if expected := _expected(name, value):
            raise DifferenceError(f"{where}: {name}: expected {expected}, got {value!r}")
    named = [*entry.get("times", []), *([entry["ties"]] if "ties" in entry else [])]
    for operation in entry["operations"]:
        arrays = [parameter.name for parameter in read_arrays(OPERATIONS[operation])]
        if strangers := [name for name in named if name not in arrays]:
            expected = f"expected arrays of {operation} ({', '.join(arrays)})"
            raise DifferenceError(f"{where}: {expected}, got {', '.join(strangers)}")
    values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in entry.items()}
    return Difference(**values)


def _expected(name: str, value: Any) -> str:
    """Say what a key of a difference has to hold; nothing where it holds that."""
    if name in ("due", "got", "row"):
        return "" if value in _KINDS else f"one of {', '.join(_KINDS)}"
    if name == "within":
        return "" if isinstance(value, float) and 0 < value < np.inf else "a number above 0, such as 6e-8"
    if name in ("why", "reading", "raised", "ties"):
        return "" if isinstance(value, str) and value.strip() else "words"
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        return "a list of names"
    return "operations of the header" if name == "operations" and not set(value) <= OPERATIONS.keys() else ""


def those_met(
    known: Sequence[Difference],
    operation: str,
    arguments: Mapping[str, Any],
    expected: Expected,
    got: Outputs,
    signed_zeros: bool = False,
) -> list[Difference]:
    """Return the differences by kinds of elements that a failed call fails by; none where it fails by anything else.

    got: the outputs by flat name.  Of another shape or type than is due they fail by that.
    """
    mine = [difference for difference in known if operation in difference.operations and not difference.is_of_call]
    held = settled(operation, arguments, expected, got)
    right = narrowed(operation, rounded(held))
    if any(array.shape != got[name].shape or array.dtype != got[name].dtype for name, array in right.items()):
        return []
    met: list[Difference] = []
    mended = dict(got)
    for name, wanted in held.items():
        unlike = measure(wanted, got[name], signed_zeros).share > 0
        for difference in mine:
            if (where := unlike & difference.elements(arguments, right[name], got[name])).any():
                met.append(difference)
                mended[name] = np.where(where, right[name], mended[name]).astype(got[name].dtype)
    return list(dict.fromkeys(met)) if met and passes(operation, arguments, expected, mended, signed_zeros) else []
