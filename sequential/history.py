"""What `fit` returns: losses and metrics, epoch by epoch."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

PREFIX = "val_"  # of what validation data gave
_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "sequential", "font.size": 9}  # the same bytes for the same curves


class History:
    """The course of a training.  epoch: their numbers, from 0; history: by name one value for each of them."""

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}

    def add(self, epoch: int, logs: dict[str, float]) -> None:
        """Note what an epoch gave.  Raises ValueError where its names are not those of the epochs before."""
        if self.epoch and self.history.keys() != logs.keys():
            raise ValueError(f"History.add: expected {', '.join(self.history)}, got {', '.join(logs)}")
        self.epoch.append(epoch)
        for name, value in logs.items():
            self.history.setdefault(name, []).append(value)

    def plot(self, path: Path | str) -> None:
        """Draw a panel for the loss and one for each metric to an SVG, validation's dashed.

        Raises ValueError where there is no epoch, ImportError without matplotlib.
        """
        names = [name for name in self.history if not name.startswith(PREFIX)]
        if not names:
            raise ValueError("History.plot: expected one epoch or more, got none")
        matplotlib, figure_of = _matplotlib()
        with matplotlib.rc_context(_STYLE):
            figure = figure_of(figsize=(7, 1 + 2 * len(names)), layout="constrained")
            panels = figure.subplots(len(names), sharex=True, squeeze=False)[:, 0]
            for panel, name in zip(panels, names, strict=True):
                self._draw(panel, name)
            panels[-1].set_xlabel("epoch")
            panels[-1].xaxis.get_major_locator().set_params(integer=True)
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None})
        Path(path).write_text(text.getvalue(), encoding="utf-8")

    def _draw(self, panel: Any, name: str) -> None:
        epochs = [number + 1 for number in self.epoch]
        panel.plot(epochs, self.history[name], "o-", markersize=3, label="training")
        if PREFIX + name in self.history:
            panel.plot(epochs, self.history[PREFIX + name], "o--", markersize=3, mfc="white", label="validation")
        panel.set_ylabel(name)
        panel.grid(color="0.9", linewidth=0.6)
        panel.legend(frameon=False)


def _matplotlib() -> Any:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        message = "plots need the package matplotlib (pip install 'kernel-assayer[plot]')"
        raise ImportError(message, name="matplotlib") from error
    return matplotlib, Figure
