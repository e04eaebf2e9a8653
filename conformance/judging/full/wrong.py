"""A wrong output at full size: how many of its elements, where, and what they are in the small call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.candidates.poison import poison
from conformance.judging.diagnosis.places import indices_said
from conformance.judging.spans import spans
from conformance.judging.verdict import Verdict, judge, region
from conformance.limits.measure import limits
from conformance.limits.noise import Noisy

from .spread import Spread, beyond, samples

Array = NDArray[Any]
_WEIGHED = 1 << 20  # wrong elements of which the worst is looked for


def judge_spread(due: Spread, got: Array, seed: int = 0) -> Verdict:
    """Judge an output: every element by its own limit, samples of them by their averages too."""
    if got.shape != due.shape:
        return judge(due.output, np.broadcast_to(due.values.dtype.type(0), due.shape), got)
    verdicts = [judge(due.output, due.expected, sample) for sample in samples(due, got, seed)]
    worst = max(verdicts, key=lambda verdict: (not verdict.passed, verdict.share))
    bad = beyond(due, got)
    return _failed(due, got, bad, worst) if bad.any() else replace(worst, elements=int(got.size))


def brought_back(due: Spread, got: Array, bad: NDArray[np.bool_]) -> Array:
    """Return an output of the small size that holds of each element what came at a place where it is wrong, if any.

    bad: of the full output's shape, where it is wrong.
    """
    found = next(samples(due, got, 0))
    wrong = np.flatnonzero(bad.reshape(-1))
    index = np.unravel_index(wrong[:: 1 + wrong.size // _WEIGHED], bad.shape)
    values = got[index]
    if due.scaled:  # what is no number keeps its bits: it may be what stood there before
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            values = np.where(np.isfinite(values), values / _factors(due, index), values).astype(got.dtype)
    found[tuple(due.member(axis, at) for axis, at in enumerate(index))] = values
    return found


def _factors(due: Spread, index: Sequence[Array]) -> Array:
    """What the right values at these places are multiplied by."""
    factor = np.ones(len(index[0]))
    for axis, name in enumerate(due.axes):
        known = due.places[name].factor if name in due.scaled else None
        factor = factor if known is None else factor * known[index[axis]]
    return factor


def _kind(got: Array) -> str:
    """What the wrong elements all are, where that is one thing."""
    if got.tobytes() == np.broadcast_to(poison(got.dtype, 1), got.shape).tobytes():
        return ", never written"
    return ", all of them zero" if not got.any() else ", none of them a number" if np.isnan(got).all() else ""


def where(due: Spread, bad: NDArray[np.bool_]) -> str:
    """Say which indices of the axes that are not hit everywhere: "column 31999, every 64th seq_len from 63 on"."""
    said = []
    for axis, name in enumerate(due.names or due.axes):
        hit = bad.any(axis=tuple(other for other in range(bad.ndim) if other != axis))
        if not hit.all():
            said.append(indices_said(np.flatnonzero(hit), hit.size, name))
    return ", ".join(said)


def _failed(due: Spread, got: Array, bad: NDArray[np.bool_], sample: Verdict) -> Verdict:
    """The verdict on an output with elements beyond their limits: how many, where, and the worst of the first."""
    found = np.unravel_index(np.flatnonzero(bad.reshape(-1))[:_WEIGHED], bad.shape)
    small = tuple(due.member(axis, index) for axis, index in enumerate(found))
    wanted, factor = due.values[small].astype(np.float64), _factors(due, found)
    limit = (
        limits(due.expected)[0][small] * np.abs(factor) if isinstance(due.expected, Noisy) else np.zeros(len(factor))
    )
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        share = np.abs(got[found] - wanted * factor) / limit
    share = np.where(np.isnan(share), np.inf, share)
    worst, count, reach = int(np.argmax(share)), int(bad.sum()), spans(bad)
    words = [f"{count} of {bad.size} elements beyond their limit{_kind(got[bad])}", where(due, bad)]
    return replace(
        sample,
        passed=False,
        reason=", ".join(filter(None, words)),
        elements=int(bad.size),
        wrong=count,
        share=float(share[worst]),
        index=tuple(int(index[worst]) for index in found),
        expected=float(wanted[worst] * factor[worst]),
        got=float(got[found][worst]),
        limit=float(limit[worst]),
        region=region(reach),
        spans=reach,
    )
