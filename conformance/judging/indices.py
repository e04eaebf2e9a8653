"""Index arrays with an entry out of range: what a device build, which cannot refuse them, has to make of the call.

By the header it writes NaN in place of what the index would have produced, and the rest as ever.  What that is follows
from the reference: a row of which no valid index in its place would change anything is of the rest; an element that
every other one would change is what the index produces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from conformance.catalogue.cases import Refusal
from conformance.catalogue.families import facts_of
from conformance.limits.expectation import Expected, expect, rounded

from .outputs import judge_outputs

Masks = dict[str, NDArray[np.bool_]]
_TRIED = 16  # valid values in the place of the one out of range, as far apart as the range allows


def fault(case: Refusal, arguments: Mapping[str, Any], outputs: Mapping[str, Any]) -> str:
    """Say what is wrong with the outputs of a call with an index out of range, or nothing.

    arguments: of the same call with its index in range.
    """
    got = operations.flat(outputs)
    if case.is_in_range:
        return _silence(case, got)
    expected = expect(case.operation, arguments)
    floats = {name: array for name, array in rounded(expected).items() if array.dtype.kind == "f"}
    if not floats:
        return ""  # integers have no NaN: that nothing else was touched is all that can be asked
    may, must = _reach(case, arguments, floats)
    for name in floats:
        missed = np.argwhere(must[name] & ~np.isnan(got[name]))
        if missed.size:
            due = f"{name} at {missed[0].tolist()} is what {case.fault} produces: expected NaN"
            return f"{due}, got {got[name][tuple(missed[0])]:.9g}"
    if silence := _silence(case, got):
        return silence
    return _rest(case, arguments, expected, got, may)


def _silence(case: Refusal, got: Mapping[str, NDArray[Any]]) -> str:
    """Say that none of the outputs holds a NaN; nothing where one does, or where none can."""
    floats = [array for array in got.values() if array.dtype.kind == "f"]
    return "" if not floats or any(np.isnan(array).any() for array in floats) else f"no NaN tells of {case.fault}"


def _rest(case: Refusal, arguments: Mapping[str, Any], expected: Expected, got: Any, may: Masks) -> str:
    """Judge what the index does not produce; NaN where it may stand counts as right."""
    right = rounded(expected)
    for name, mask in may.items():
        stray = np.argwhere(np.isnan(got[name]) & ~np.isnan(right[name]) & ~mask)
        if stray.size:
            return f"{name} at {stray[0].tolist()} is NaN, and {case.fault} has no part in it"
    mended = {
        name: np.where(may[name] & np.isnan(array), right[name], array) if name in may else right[name]
        for name, array in got.items()
    }
    verdicts = judge_outputs(case.operation, arguments, expected, mended)
    return next((f"with {case.fault}: {v.output}: {v.reason}" for v in verdicts if not v.passed), "")


def _reach(case: Refusal, arguments: Mapping[str, Any], right: Mapping[str, NDArray[Any]]) -> tuple[Masks, Masks]:
    """Return where NaN may stand, rows that some valid index in its place would change, and where it must.

    Where none changes anything, or where offsets then tell of no row whose it is, NaN may stand anywhere.
    """
    others = () if case.entries[0].array == facts_of(case.operation).offsets else _others(case, arguments)
    changed = [{n: other[n] != array for n, array in right.items()} for other in others]
    some = {n: np.any([one[n] for one in changed], axis=0) for n in right} if changed else {}
    if not any(mask.any() for mask in some.values()):
        nowhere = {n: np.zeros(a.shape, bool) for n, a in right.items()}
        return {n: ~mask for n, mask in nowhere.items()}, nowhere
    rows = {n: np.broadcast_to(mask.any(-1, keepdims=True), mask.shape) for n, mask in some.items()}
    return rows, {n: np.all([one[n] for one in changed], axis=0) for n in right}


def _others(case: Refusal, arguments: Mapping[str, Any]) -> Iterator[Mapping[str, NDArray[Any]]]:
    """Yield the right outputs with other valid indices in its place."""
    [entry] = case.entries
    parameter = operations.OPERATIONS[case.operation].by_name[entry.array]
    assert parameter.limit
    top = parameter.limit[1](case.base.sizes)
    for value in np.linspace(0, top - 1, min(top, _TRIED)).astype(int).tolist():
        if value != arguments[entry.array].flat[entry.place]:
            changed = {**arguments}
            replace(entry, value=value).put(changed)
            try:
                yield rounded(expect(case.operation, changed))
            except (ValueError, IndexError):  # the reference refuses it: a permutation, say, that is none
                continue
