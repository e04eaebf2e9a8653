"""What has changed between a golden and the same one made anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.oracles.limit import float64_limit
from conformance.limits.noise import SECOND_ORDER, Noisy

from .tensors import Tensors, unpack_expected

UNITS = ("sigma", "worst", "shared")


@dataclass(frozen=True)
class Change:
    """One golden, or one tensor of it, that is not what it was."""

    id: str
    kind: str  # new, gone, damaged, inputs, expectation, error unit
    what: str  # which tensor and how, for a person


def compare(id: str, old: Tensors, new: Tensors) -> list[Change]:
    """Compare two makings of one golden.

    Inputs must be the same bytes.  Expectations may differ by what float64 rounding can do, error units by what a
    first-order quantity leaves open (verdict.SECOND_ORDER).
    """
    changes = [
        Change(id, _kind(name), f"{name} {'is new' if name in new else 'is no more'}")
        for name in sorted(old.keys() ^ new.keys())
    ]
    known = unpack_expected(old)
    for name in sorted(old.keys() & new.keys()):
        kind, _, output = name.partition(".")
        if old[name].shape != new[name].shape or old[name].dtype != new[name].dtype:
            what = f"{new[name].dtype} {new[name].shape}, was {old[name].dtype} {old[name].shape}"
        elif kind == "expected" and isinstance(known[output], Noisy):
            what = _drift(known[output], new[name])
        elif kind in UNITS:
            what = _unit_drift(kind, old[name].astype(np.float64), new[name].astype(np.float64))
        else:
            what = "" if old[name].tobytes() == new[name].tobytes() else "other values"
        if what:
            changes.append(Change(id, _kind(name), f"{name}: {what}"))
    return changes


def _kind(name: str) -> str:
    prefix = name.partition(".")[0]
    return {"expected": "expectation", "input": "inputs", "argument": "inputs"}.get(prefix, "error unit")


def _drift(known: Noisy, new: NDArray[Any]) -> str:
    """Say how far an expectation has moved, where it is further than float64 rounding explains."""
    same = (known.v == new) | (np.isnan(known.v) & np.isnan(new))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(same, 0.0, np.abs(new - known.v) / float64_limit(known))
    share = np.where(np.isnan(share), np.inf, share)
    wrong = int((share > 1).sum())
    if not wrong:
        return ""
    place = np.unravel_index(int(np.argmax(share)), share.shape)
    at = f"[{', '.join(map(str, place))}]"
    moved = f"{at} is {new[place]:.9g}, was {known.v[place]:.9g} ({share[place]:.3g} limits)"
    return f"{wrong} of {share.size} elements; {moved}"


def _unit_drift(kind: str, old: NDArray[Any], new: NDArray[Any]) -> str:
    """Say how far an error unit has moved: in parts of itself (what is exact stays exact), a share in parts of 1."""
    size = 1.0 if kind == "shared" else np.maximum(old, new)
    changed = np.abs(new - old) > (SECOND_ORDER - 1) * size
    if not changed.any():
        return ""
    place = np.unravel_index(int(np.argmax(np.abs(new - old))), old.shape)
    return f"{int(changed.sum())} of {changed.size} elements; up to {new[place]:.3g} for {old[place]:.3g}"
