"""What the pictures of a report are drawn from: reduced where the arrays are, to some kilobytes for one output."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.limits.measure import Measured, measure

from .verdict import Verdict

Array = NDArray[Any]

CELLS = 48  # rows and columns of the map, at most
# A character for a cell's largest error: none; up to the limit, and beyond it, in powers of two; no number.
LEVELS = "0123456789abcdefghijklmnopqrstuv"
AT_LIMIT, BEYOND, NO_NUMBER = 15, 30, 31
FOLD = 32  # a vector is folded into rows of this length, or the next power of two that leaves few enough of them
WORST_POINTS, POINTS = 100, 300
BINS = 40


@dataclass(frozen=True)
class Evidence:
    """One output's errors, reduced."""

    output: str
    shape: tuple[int, ...]
    matrix: tuple[int, int]  # as which it is drawn: the last axis in columns; a vector folded into rows
    tile: tuple[int, int]  # rows and columns of elements behind one cell of the map
    cells: tuple[str, ...]  # the map: a string for each row of cells, one of LEVELS for each cell
    points: tuple[tuple[float, float, float], ...]  # |wanted|, |error|, limit of some elements, the worst among them
    span: float  # the histogram of error / sigma reaches from -span to span
    bins: tuple[int, ...]

    def __post_init__(self) -> None:
        """Raise ValueError on what cannot be drawn: a report may come from anywhere."""
        widths = {len(row) for row in self.cells}
        if len(widths) != 1 or 0 in widths or not set().union(*self.cells) <= set(LEVELS):
            raise ValueError(f"expected cells in rows of one length, of {LEVELS}, got {self.cells}")
        if min(*self.matrix, *self.tile) < 1:
            raise ValueError(f"expected a matrix and tiles from 1 x 1, got {self.matrix} and {self.tile}")
        if any(map(math.isnan, itertools.chain(*self.points))):
            raise ValueError("expected points that are numbers, got nan")
        if self.bins and not (0 < self.span < math.inf and min(self.bins) >= 0):
            raise ValueError(f"expected bins from 0 over a span above 0, got {self.bins} over {self.span}")


def gather(verdict: Verdict, expected: Any, got: Array, signed_zeros: bool = False) -> Evidence | None:
    """Reduce the errors of an output that was judged; nothing where it was of another shape or type than is due."""
    if not math.isfinite(verdict.rms):
        return None
    measured = measure(expected, got, signed_zeros)
    folded = _folded(measured.share)
    tile = (_tile(folded.shape[0]), _tile(folded.shape[1]))
    span, bins = _histogram(measured)
    shape = tuple(measured.share.shape)
    return Evidence(
        verdict.output, shape, folded.shape, tile, _cells(folded, tile), tuple(_points(measured)), span, bins
    )


def _folded(share: Array) -> Array:
    """The shares as a matrix; what fills up the last row of a vector errs nowhere."""
    if share.ndim > 1:
        return share.reshape(-1, share.shape[-1])
    if share.size <= CELLS:
        return share.reshape(1, -1)
    width = FOLD
    while width * CELLS < share.size and width < CELLS * FOLD:
        width *= 2
    return np.append(share, np.zeros(-share.size % width)).reshape(-1, width)


def _tile(size: int) -> int:
    """The smallest power of two that leaves no more than CELLS tiles: it divides the tiles of every kernel."""
    return 1 << max(0, math.ceil(math.log2(size / CELLS)))


def _cells(share: Array, tile: tuple[int, int]) -> tuple[str, ...]:
    """The largest share of each tile, in powers of two."""
    most = np.maximum.reduceat(share, np.arange(0, share.shape[0], tile[0]), axis=0)
    most = np.maximum.reduceat(most, np.arange(0, share.shape[1], tile[1]), axis=1)
    with np.errstate(divide="ignore"):
        level = np.clip(AT_LIMIT + np.ceil(np.log2(most)), 1, BEYOND)
    level = np.where(most == 0, 0, np.where(np.isinf(most), NO_NUMBER, level)).astype(int)
    return tuple("".join(LEVELS[i] for i in row) for row in level.tolist())


def _points(measured: Measured) -> list[tuple[float, float, float]]:
    """The elements that used most of their limit, and of the others some of every magnitude."""
    usable = np.flatnonzero(measured.counted & np.isfinite(measured.share))
    by_share = usable[np.argsort(-measured.share.ravel()[usable], kind="stable")]
    worst, others = by_share[:WORST_POINTS], by_share[WORST_POINTS:]
    others = others[np.argsort(np.abs(measured.wanted.ravel()[others]), kind="stable")]
    few = others[np.linspace(0, len(others) - 1, min(len(others), POINTS - len(worst))).astype(int)]
    chosen = np.concatenate([worst, few])
    columns = (np.abs(array.ravel()[chosen]) for array in (measured.wanted, measured.error, measured.limit))
    return [(_short(x), _short(y), _short(z)) for x, y, z in zip(*columns, strict=True)]


def _short(value: float) -> float:
    """Three digits: enough for a point of a picture."""
    return float(f"{value:.3g}")


def _histogram(measured: Measured) -> tuple[float, tuple[int, ...]]:
    counted = measured.counted
    if not counted.any():
        return 0.0, ()
    z = measured.error[counted] / measured.sigma[counted]
    span = _round_up(max(2.0, float(np.abs(z).max())))
    counts, _ = np.histogram(z, BINS, (-span, span))
    return span, tuple(counts.tolist())


def _round_up(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50, ..."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * step for step in (1, 2, 5, 10) if value <= power * step * (1 + 1e-12))
