"""What the pictures of a case are made of, as coordinates: the template draws them.

Drawn by the page itself rather than by a plotting library: a picture is 3 kB instead of 30, follows the reader's colour
scheme, and a run has hundreds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.judging.evidence import AT_LIMIT, LEVELS, Evidence
from conformance.limits.measure import SIGMAS

from .bitmap import data_uri
from .scales import LogAxis

WIDTH, HEIGHT = 320, 200  # of every picture
LEFT, RIGHT, TOP, BOTTOM = 44, 304, 8, 168  # of what is drawn in it
_CELL = 24  # of a map, at most
_STRIP = 12  # beside the axes, for zeros
_CURVE = 24  # steps of the limit's curve

Tick = tuple[int, str]


@dataclass(frozen=True)
class Map:
    """Where the errors lie."""

    image: str
    width: int
    height: int
    columns: Sequence[Tick]
    rows: Sequence[Tick]
    described: str


def error_map(evidence: Evidence) -> Map:
    """Draw a map: cells as large as fit, in whole pixels."""
    tall, wide = len(evidence.cells), len(evidence.cells[0])
    across, down = (max(1, min(room // count, _CELL)) for room, count in ((RIGHT - LEFT, wide), (BOTTOM - TOP, tall)))
    columns = [(LEFT + i * across, str(i * evidence.tile[1])) for i in _marks(wide)]
    rows = [(TOP + i * down, str(i * evidence.tile[0])) for i in _marks(tall)]
    beyond = sum(LEVELS.index(c) > AT_LIMIT for row in evidence.cells for c in row)
    described = f"{beyond} of {tall * wide} cells hold an element beyond its limit"
    return Map(data_uri(evidence.cells), wide * across, tall * down, columns, rows, described)


def _marks(count: int) -> list[int]:
    """Where an axis of so many cells is labelled."""
    return sorted({0, count // 2, count - 1}) if count > 3 else list(range(count))


@dataclass(frozen=True)
class Cloud:
    """Errors against magnitudes, with the limit; paths of SVG."""

    within: str
    beyond: str
    band: str
    curve: str
    x: Sequence[Tick]
    y: Sequence[Tick]
    zero_error: int
    zero_wanted: int


def cloud(evidence: Evidence) -> Cloud | None:
    """Draw errors against magnitudes, both logarithmic."""
    if not evidence.points:
        return None
    x = LogAxis.over((p[0] for p in evidence.points), LEFT + _STRIP, RIGHT, LEFT + 2)
    y = LogAxis.over((v for p in evidence.points for v in p[1:]), BOTTOM - _STRIP, TOP, BOTTOM - 2)
    placed = [(x.at(wanted), y.at(error), error > limit) for wanted, error, limit in evidence.points]
    within = "".join(f"M{px} {py}h0" for px, py, over in dict.fromkeys(placed) if not over)
    beyond = "".join(f"M{px - 2} {py - 2}l4 4m0-4l-4 4" for px, py, over in dict.fromkeys(placed) if over)
    band, curve = _limits(evidence.points, x, y)
    return Cloud(within, beyond, band, curve, list(x.ticks()), list(y.ticks()), BOTTOM - _STRIP, LEFT + _STRIP)


def _limits(points: Sequence[tuple[float, float, float]], x: LogAxis, y: LogAxis) -> tuple[str, str]:
    """The limits of the points: the band they lie in, and their median at each magnitude."""
    steps: dict[int, list[int]] = {}
    for wanted, _, limit in points:
        step = (x.at(wanted) - LEFT) * _CURVE // (RIGHT - LEFT)
        steps.setdefault(step, []).append(y.at(limit))
    middle = {step: LEFT + (2 * step + 1) * (RIGHT - LEFT) // (2 * _CURVE) for step in sorted(steps)}
    upper = [f"{px} {min(steps[step])}" for step, px in middle.items()]
    lower = [f"{px} {max(steps[step])}" for step, px in reversed(middle.items())]
    median = [f"{px} {sorted(steps[step])[len(steps[step]) // 2]}" for step, px in middle.items()]
    return f"M{'L'.join(upper + lower)}z", f"M{'L'.join(median)}{'h1' if len(median) == 1 else ''}"


@dataclass(frozen=True)
class Histogram:
    """How often which error / sigma occurs; counts are drawn by their logarithm, so that a single element is seen."""

    within: str  # bars that reach inside plus and minus 8 sigma
    beyond: str
    most: int
    span: str
    limits: Sequence[int]  # pixels of plus and minus 8 sigma, if the picture reaches so far


def histogram(evidence: Evidence) -> Histogram | None:
    """Draw a bar for each bin."""
    if not evidence.bins:
        return None
    most, width = max(evidence.bins), (RIGHT - LEFT) / len(evidence.bins)
    paths = {True: "", False: ""}
    for place, count in enumerate(evidence.bins):
        left, right = (round(LEFT + edge * width) for edge in (place, place + 1))
        nearest = (abs(place + 0.5 - len(evidence.bins) / 2) - 0.5) * 2 * evidence.span / len(evidence.bins)
        paths[nearest < SIGMAS] += _bar(left, right, count, most)
    middle, away = (LEFT + RIGHT) // 2, round((RIGHT - LEFT) / 2 * SIGMAS / evidence.span)
    limits = [middle - away, middle + away] if evidence.span > SIGMAS else []
    return Histogram(paths[True], paths[False], most, f"{evidence.span:g}", limits)


def _bar(left: int, right: int, count: int, most: int) -> str:
    if not count:
        return ""
    tall = max(2, round((BOTTOM - TOP - 8) * math.log1p(count) / math.log1p(most)))
    return f"M{left} {BOTTOM}v-{tall}h{right - left}v{tall}z"
