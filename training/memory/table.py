"""The figures as a table, and for machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reference.model.parameters import count

from .predict import Prediction, Setting

_WIDTH = 30
_UNITS = ((1e10, 1e9, "GB"), (1e7, 1e6, "MB"), (0, 1e3, "kB"))  # from so many bytes on, what is one, its name


def lines(setting: Setting, predicted: Prediction) -> Iterator[str]:
    """What one device holds."""
    config = setting.config
    yield f"{count(config):,} parameters, {config.layers} layers; {setting.batch} x {setting.seq} tokens a step"
    yield ", ".join(
        f"{number} {name}"
        for number, name in ((setting.devices, "device(s)"), (setting.micro_batches, "micro-batch(es) on each"))
    )
    yield ""
    size, unit = _unit(predicted.peak)
    yield f"{'on each device':<{_WIDTH}}{unit:>10}"

    def row(name: str, number: int, indent: int = 0) -> str:
        return f"{' ' * indent}{name:<{_WIDTH - indent}}{number / size:>10.2f}"

    yield from (row(name, number) for name, number in predicted.state.items())
    yield row("gradients", predicted.gradients)
    yield row("kept by forward for backward", sum(predicted.kept.values()))
    yield from (row(name, number, 2) for name, number in predicted.kept.items())
    yield row("most at a time", predicted.peak)
    yield row("parameters and optimiser", sum(predicted.state.values()), 2)
    yield from (row(name, number, 2) for name, number in predicted.worst.items())


def compared(predictions: Mapping[str, Mapping[str, Prediction]]) -> Iterator[str]:
    """What is kept, and the most at a time, by what is computed again and by precision."""
    every = [one for by_precision in predictions.values() for one in by_precision.values()]
    size, unit = _unit(max(one.peak for one in every))
    precisions = list(next(iter(predictions.values())))
    heads = "".join(f"{f'{name}: kept':>16}{'most':>10}" for name in precisions)
    yield f"{f'computed again, {unit}':<{_WIDTH}}{heads}"
    for name, by_precision in predictions.items():
        cells = (f"{sum(p.kept.values()) / size:>16.2f}{p.peak / size:>10.2f}" for p in by_precision.values())
        yield f"{name:<{_WIDTH}}{''.join(cells)}"


def checked(predicted: Prediction, measured: Mapping[str, int]) -> Iterator[str]:
    """What was measured beside what was predicted."""
    size, unit = _unit(predicted.peak)
    yield f"{f'most at a time, {unit}':<{_WIDTH}}{'measured':>10}{'predicted':>12}{'measured / predicted':>24}"
    for name, number in measured.items():
        yield f"{name:<{_WIDTH}}{number / size:>10.2f}{predicted.peak / size:>12.2f}{number / predicted.peak:>24.3f}"


def record(predicted: Prediction) -> dict[str, Any]:
    """The same in bytes."""
    return {**predicted._asdict(), "peak": predicted.peak}


def _unit(largest: int) -> tuple[float, str]:
    return next((size, name) for least, size, name in _UNITS if largest >= least)
