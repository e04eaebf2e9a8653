"""A training run as two pictures and a table: its loss, and where in the envelope it stands after each step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.judging.results import Status
from conformance.limits.measure import SIGMAS
from conformance.report.record import Run
from conformance.report.runs import RunStep, name_of, runs, sentence

from .model import Block, block
from .pictures import BOTTOM, LEFT, RIGHT, TOP, Tick
from .words import gravest, kind

_INNER = 0.4  # the part of half the height that the envelope takes, where some step lies beyond it


@dataclass(frozen=True)
class Line:
    """A picture: paths of SVG and labels."""

    path: str
    within: str  # dots
    beyond: str  # crosses
    mean: str
    band: tuple[int, int]  # top and height, 0 where there is none
    x: Sequence[Tick]
    y: Sequence[Tick]


@dataclass(frozen=True)
class TrainingRun:
    """What the page shows of a run."""

    name: str
    sentence: str
    status: Status
    kind: str
    run_steps: Sequence[RunStep]
    loss: Line | None
    off: Line | None
    blocks: Sequence[Block]


def training_runs(run: Run, number: int) -> list[TrainingRun]:
    """Return what the page shows of each training run that a candidate has made."""
    return [_training_run(name_of(part), found, run, number) for part, found in runs(run.results).items()]


def _training_run(name: str, found: Sequence[RunStep], run: Run, number: int) -> TrainingRun:
    measured = [p for p in found if p.has_numbers]
    failed = [block(p.result, run, number) for p in found if p.result.has_failed][:1]
    status = gravest([p.result for p in found])
    return TrainingRun(name, sentence(found), status, kind(status), found, _losses(measured), _off(measured), failed)


def _losses(measured: Sequence[RunStep]) -> Line | None:
    """Loss by step, with the replicas' mean."""
    finite = [value for p in measured for value in (p.loss, p.mean) if math.isfinite(value)]
    if not finite:
        return None
    low, high = math.floor(min(finite)), math.ceil(max(finite))
    high = max(high, low + 1)

    def y(value: float) -> int:
        share = min(1.0, max(0.0, (value - low) / (high - low))) if not math.isnan(value) else 1.0
        return round(BOTTOM - (BOTTOM - TOP) * share)

    mean = "M" + "L".join(f"{_x(p, measured)} {y(p.mean)}" for p in measured)
    ticks = [(y(value), str(value)) for value in (low, high)]
    return _line(measured, [y(p.loss) for p in measured], mean, (0, 0), ticks)


def _off(measured: Sequence[RunStep]) -> Line | None:
    """How many spreads the loss is off the mean: linear within the envelope, logarithmic beyond."""
    if not measured:
        return None
    most = max((abs(p.off) for p in measured if math.isfinite(p.off)), default=0.0)
    inner = _INNER if any(not abs(p.off) <= SIGMAS for p in measured) else 0.9
    most = max(most, 10 * SIGMAS)

    def y(off: float) -> int:
        size = abs(off)
        if size <= SIGMAS:
            share = inner * size / SIGMAS
        else:  # NaN too: as far as it goes
            share = inner + (1 - inner) * math.log(size / SIGMAS) / math.log(most / SIGMAS) if size <= most else 1.0
        return round((TOP + BOTTOM) / 2 - math.copysign(share, off) * (BOTTOM - TOP) / 2)

    ticks = [(y(0.0), "0"), (y(SIGMAS), f"{SIGMAS:.0f}"), (y(-SIGMAS), f"-{SIGMAS:.0f}")]
    if inner == _INNER:
        ticks += [(y(most), f"{most:.0e}"), (y(-most), f"-{most:.0e}")]
    return _line(measured, [y(p.off) for p in measured], "", (y(SIGMAS), y(-SIGMAS) - y(SIGMAS)), ticks)


def _line(
    measured: Sequence[RunStep], heights: Sequence[int], mean: str, band: tuple[int, int], y: Sequence[Tick]
) -> Line:
    places = [(_x(p, measured), height, p.result.is_fine) for p, height in zip(measured, heights, strict=True)]
    path = "M" + "L".join(f"{px} {py}" for px, py, _ in places)
    within = "".join(f"M{px} {py}h0" for px, py, fine in places if fine)
    beyond = "".join(f"M{px - 3} {py - 3}l6 6m0-6l-6 6" for px, py, fine in places if not fine)
    step = max(1, len(measured) // 10)
    x = [(_x(p, measured), str(p.step)) for p in measured[::step]]
    return Line(path, within, beyond, mean, band, x, y)


def _x(at: RunStep, measured: Sequence[RunStep]) -> int:
    return round(LEFT + (RIGHT - LEFT) * (at.step - 0.5) / max(p.step for p in measured))
