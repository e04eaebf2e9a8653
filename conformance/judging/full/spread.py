"""Judges an output at full size by what is expected at the small one: every element within its own limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.candidates.poison import poison
from conformance.catalogue.cases.data import Draw
from conformance.catalogue.full.layout import LaidOut
from conformance.catalogue.full.places import Places
from conformance.judging.diagnosis.places import indices_said
from conformance.judging.spans import spans
from conformance.judging.verdict import Verdict, judge, region
from conformance.limits.measure import limits
from conformance.limits.noise import Noisy

Array = NDArray[Any]
_BLOCK = 1 << 20  # bytes looked at at once: their temporaries stay in cache
_SAMPLES = 2  # of the output, each with every small element once
_WEIGHED = 1 << 20  # wrong elements of which the worst is looked for


@dataclass(frozen=True)
class Spread:
    """What an output must be: the expectation at the small size, and where each of its elements stands."""

    output: str
    expected: Any  # Noisy, or a plain array that must be met bit for bit
    axes: Sequence[str]
    places: Mapping[str, Places]
    scaled: Sequence[str] = ()  # the axes whose factors it is multiplied by
    names: Sequence[str] = ()  # what an index of each axis is called, where that is not the axis

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the full output."""
        known = (self.places.get(axis) for axis in self.axes)
        return tuple(p.member.size if p else n for p, n in zip(known, self.expected.shape, strict=True))

    @property
    def values(self) -> Array:
        """What is expected, without its errors."""
        return self.expected.v if isinstance(self.expected, Noisy) else np.asarray(self.expected)

    def unscaled(self, part: Array, index: Sequence[Array]) -> Array:
        """Return a part of the output as it would be without factors; index: where it lies on each axis."""
        for axis, name in enumerate(self.axes):
            factor = self.places[name].factor if name in self.scaled else None
            if factor is not None:
                part = part * (1 / factor[index[axis]]).reshape(-1, *[1] * (part.ndim - axis - 1))
        return part

    def member(self, axis: int, index: Array) -> Array:
        """Return which small places stand at these places of an axis."""
        known = self.places.get(self.axes[axis])
        return known.member[index] if known else index


def judge_spread(due: Spread, got: Array, seed: int = 0) -> Verdict:
    """Judge an output: every element by its own limit, samples of them by their averages too."""
    if got.shape != due.shape:
        return judge(due.output, np.broadcast_to(due.values.dtype.type(0), due.shape), got)
    verdicts = [judge(due.output, due.expected, sample) for sample in _samples(due, got, seed)]
    worst = max(verdicts, key=lambda verdict: (not verdict.passed, verdict.share))
    bad = _beyond(due, got)
    return _failed(due, got, bad, worst) if bad.any() else replace(worst, elements=int(got.size))


def _samples(due: Spread, got: Array, seed: int) -> Iterator[Array]:
    """Yield outputs of the small size, each element from one of its places."""
    for number in range(_SAMPLES):
        index = []
        for axis, name in enumerate(due.axes):
            known, draw = due.places.get(name), Draw(seed).of("sample", number, axis)
            index.append(known.one_of_each(draw) if known else np.arange(got.shape[axis]))
        yield np.ascontiguousarray(due.unscaled(got[np.ix_(*index)], index))


def _bounds(due: Spread) -> tuple[Array, Array]:
    """The least and the greatest number of the output's type that is within each limit."""
    values = due.values
    if not isinstance(due.expected, Noisy):
        return values, values
    limit = limits(due.expected)[0]
    with np.errstate(invalid="ignore", over="ignore"):
        exact = (limit == 0) | ~np.isfinite(values)
        low, high = (np.where(exact, values, values + side * limit) for side in (-1, 1))
        least, greatest = low.astype(np.float32), high.astype(np.float32)
        least = np.where(least < low, np.nextafter(least, np.float32(np.inf)), least)
        greatest = np.where(greatest > high, np.nextafter(greatest, np.float32(-np.inf)), greatest)
    return least, greatest


def _beyond(due: Spread, got: Array) -> NDArray[np.bool_]:
    """Where elements lie beyond their limit; a NaN does wherever it stands."""
    bad = np.zeros(got.size, bool)  # takes memory only where something is written
    flat, start = got.reshape(-1), 0
    bounds = (LaidOut(bound, due.axes, due.places, due.scaled).blocks(_BLOCK) for bound in _bounds(due))
    for parts in zip(*bounds, strict=True):
        one, other = (part.reshape(-1) for part in parts)
        came = flat[start : start + one.size]
        with np.errstate(invalid="ignore"):
            within = (came >= np.minimum(one, other)) & (came <= np.maximum(one, other))  # a factor may be negative
        if not within.all():
            np.logical_not(within, out=bad[start : start + one.size])
        start += one.size
    return bad.reshape(got.shape)


def _kind(got: Array) -> str:
    """What the wrong elements all are, where that is one thing."""
    if got.tobytes() == np.broadcast_to(poison(got.dtype, 1), got.shape).tobytes():
        return ", never written"
    return ", all of them zero" if not got.any() else ", none of them a number" if np.isnan(got).all() else ""


def _where(names: Sequence[str], bad: NDArray[np.bool_]) -> str:
    """Which indices of the axes that are not hit everywhere: ", column 31999", ", every 64th seq_len from 63 on"."""
    said = []
    for axis, name in enumerate(names):
        hit = bad.any(axis=tuple(other for other in range(bad.ndim) if other != axis))
        if not hit.all():
            said.append(indices_said(np.flatnonzero(hit), hit.size, name))
    return "".join(f", {words}" for words in said)


def _failed(due: Spread, got: Array, bad: NDArray[np.bool_], sample: Verdict) -> Verdict:
    """The verdict on an output with elements beyond their limits: how many, where, and the worst of the first."""
    found = np.unravel_index(np.flatnonzero(bad.reshape(-1))[:_WEIGHED], bad.shape)
    small = tuple(due.member(axis, index) for axis, index in enumerate(found))
    wanted, factor = due.values[small].astype(np.float64), np.ones(len(found[0]))
    for axis in (a for a, name in enumerate(due.axes) if name in due.scaled):
        known = due.places[due.axes[axis]].factor
        factor = factor if known is None else factor * known[found[axis]]
    limit = (
        limits(due.expected)[0][small] * np.abs(factor) if isinstance(due.expected, Noisy) else np.zeros(len(factor))
    )
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        share = np.abs(got[found] - wanted * factor) / limit
    share = np.where(np.isnan(share), np.inf, share)
    worst, count, reach = int(np.argmax(share)), int(bad.sum()), spans(bad)
    where = _where(due.names or due.axes, bad)
    return replace(
        sample,
        passed=False,
        reason=f"{count} of {bad.size} elements beyond their limit{_kind(got[bad])}{where}",
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
