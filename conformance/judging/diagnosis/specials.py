"""No numbers where numbers are due, or the other way round: what stands where something else should."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance.judging.diagnoses import Kind, Symptom

from .failed import Array
from .parts import Part

_NAN, _INFINITE, _NUMBER, _ZERO = "NaN", "infinity", "numbers", "0"


def specials(part: Part) -> Symptom | None:
    """Where every wrong element is special, or should be: what came, where what is due."""
    if part.got.dtype.kind != "f" or not part.got.size:
        return None
    came, due = _kinds(part.got), _kinds(part.values)
    if ((came == due) | ((came != _NAN) & (came != _INFINITE) & (due != _NAN) & (due != _INFINITE))).any():
        return None
    pairs = dict.fromkeys(zip(due.tolist(), came.tolist(), strict=True))
    said = [f"{_told(part.got[(due == d) & (came == c)], c)} where {_due(d)}" for d, c in sorted(pairs)]
    plainly = [f"{c} where {_due(d)}" for d, c in sorted(pairs)]
    also = tuple(dict.fromkeys([*said, *plainly, *_lost({d for d, _ in pairs}, {c for _, c in pairs})]))
    return Symptom(Kind.NO_NUMBER, ", ".join(said), general=", ".join(plainly), also=also)


def _kinds(values: Array) -> Array:
    """What each is: NaN, infinity of either sign, 0, or a number."""
    tests = [np.isnan(values), np.isinf(values), values == 0]
    return np.select(tests, [_NAN, _INFINITE, _ZERO], _NUMBER)


def _told(got: Array, kind: str) -> str:
    """One number by its digits, where it is always the same."""
    sizes = np.unique(np.abs(got)) if kind == _NUMBER else np.zeros(0)
    if sizes.size != 1 or got.size < 2:
        return kind
    return f"{sizes[0]:.6g}" if (got > 0).all() else f"-{sizes[0]:.6g}" if (got < 0).all() else f"+-{sizes[0]:.6g}"


def _due(kind: str) -> str:
    return "numbers are due" if kind == _NUMBER else f"{kind} is due"


def _lost(due: set[str], came: set[str]) -> Iterator[str]:
    """What is always lost, or always too much."""
    yield from (f"no {kind} where {kind} is due" for kind in (_NAN, _INFINITE) if due == {kind})
    yield from (f"{kind} where none is due" for kind in (_NAN, _INFINITE) if came == {kind})
