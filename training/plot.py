"""Curves of runs, drawn from their logs: `python -m training.plot LOG...` writes an SVG."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .data.files import write_text
from .log import LogError, read_log

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

# Text as text, and the same bytes for the same curves.
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "training",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
SMOOTH = 50  # a curve is the mean over this part of all steps; the steps themselves are drawn thin
LEGEND = 8  # most layers that are named


class Curves(NamedTuple):
    """What a log tells: the loss of each step, validation's of some, and each layer's busiest expert.

    balance: [steps, layers], how many times an even share of the tokens that expert was given.
    """

    steps: NDArray[np.int64]
    losses: NDArray[np.float64]
    validated: NDArray[np.int64]
    validation: NDArray[np.float64]
    balance: NDArray[np.float64]


def curves(path: Path) -> Curves:
    """Read a log. Raises LogError where it tells of no step."""
    records: dict[str, list[Mapping[str, Any]]] = {}
    for record in read_log(path):
        records.setdefault(record["kind"], []).append(record)
    steps, looks = records.get("step", []), records.get("validation", [])
    if not steps:
        raise LogError(f"{path}: expected the log of a run, got no step")
    balance = [[max(layer) * len(layer) for layer in step["loads"]] for step in steps]
    return Curves(
        np.array([step["step"] for step in steps]),
        np.array([step["loss"] for step in steps], np.float64),
        np.array([look["step"] for look in looks], np.int64),
        np.array([look["loss"] for look in looks], np.float64),
        np.array(balance),
    )


def draw(runs: Mapping[str, Curves], path: Path) -> None:
    """Draw the loss of each run, and the balance of the last one's experts. Raises ImportError without matplotlib."""
    matplotlib, figure_of = _matplotlib()
    with matplotlib.rc_context(STYLE):
        figure = figure_of(figsize=(8, 6), layout="constrained")
        losses, balance = figure.subplots(2, sharex=True, height_ratios=(3, 2))
        for number, (name, run) in enumerate(runs.items()):
            _draw_losses(losses, f"{name}: " if len(runs) > 1 else "", run, f"C{number}", _width(number, len(runs)))
        losses.set_ylabel("loss")
        losses.legend(frameon=False)
        _draw_balance(balance, *list(runs.items())[-1], several=len(runs) > 1)
        balance.set_xlabel("step")
        for axes in (losses, balance):
            axes.grid(color="0.9", linewidth=0.6)
            axes.set_axisbelow(True)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    write_text(path, text.getvalue())


def _draw_losses(axes: Any, name: str, run: Curves, colour: str, width: float) -> None:
    axes.plot(run.steps, run.losses, color=colour, alpha=0.25, linewidth=0.7)
    axes.plot(run.steps, _smoothed(run.losses), color=colour, linewidth=width, label=f"{name}training")
    look = {"color": colour, "linewidth": width, "markersize": 3 + width, "mfc": "white"}
    axes.plot(run.validated, run.validation, "o--", label=f"{name}validation", **look)


def _width(number: int, of: int) -> float:
    """Later curves are thinner, so that none hides another."""
    return 1.5 + 2.0 * (of - 1 - number) / max(1, of - 1)


def _draw_balance(axes: Any, name: str, run: Curves, *, several: bool) -> None:
    layers = run.balance.shape[1]
    for layer, values in enumerate(run.balance.T):
        label = f"layer {layer}" if layers <= LEGEND or layer in (0, layers - 1) else None
        shade = 0.85 * layer / max(1, layers - 1)
        colour = (0.1 + shade * 0.9, 0.3 + shade * 0.45, 0.55 - shade * 0.4)
        axes.plot(run.steps, _smoothed(values), color=colour, linewidth=1.2, label=label)
    axes.axhline(1, color="0.5", linewidth=0.8, linestyle=":")
    axes.set_ylabel("busiest expert / even share")
    if several:
        axes.set_title(name, loc="left", fontsize="medium")
    axes.legend(frameon=False, ncols=4)


def _smoothed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over the steps around each, fewer of them at both ends; a step without a value has no part in it."""
    reach, places, known = max(1, len(values) // (2 * SMOOTH)), np.arange(len(values)), np.isfinite(values)
    low, high = np.maximum(places - reach, 0), np.minimum(places + reach + 1, len(values))
    sums, counts = (np.concatenate([[0.0], np.cumsum(each)]) for each in (np.where(known, values, 0.0), known))
    with np.errstate(invalid="ignore"):
        mean: NDArray[np.float64] = (sums[high] - sums[low]) / (counts[high] - counts[low])
    return mean


def _matplotlib() -> Any:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        message = "plots need the matplotlib package: pip install matplotlib"
        raise ImportError(message, name="matplotlib") from error
    return matplotlib, Figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.plot", description="Draw the curves of runs.")
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log of a run; NAME=LOG names it")
    parser.add_argument("--output", type=Path, default=Path("curves.svg"), help="SVG file (default: %(default)s)")
    options = parser.parse_args(arguments)
    named = [log.rpartition("=") for log in options.logs]
    try:
        draw({name or log: curves(Path(log)) for name, _, log in named}, options.output)
    except (LogError, ImportError, OSError) as error:
        sys.exit(f"error: {error}")
    print(options.output)


if __name__ == "__main__":
    main()
