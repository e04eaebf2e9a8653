"""How far `fit` has come: a bar for each epoch on a terminal, a line for each in a log."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

Logs = Mapping[str, float]
CHOICES = ("auto", 0, 1, 2)


class Epochs:
    """Shows the epochs of a training.  verbose: 0 nothing, 1 a bar, 2 a line per epoch, "auto" a bar on a terminal."""

    def __init__(self, verbose: Any, epochs: int, batches: int, console: Console | None = None) -> None:
        if verbose not in CHOICES or isinstance(verbose, bool):
            raise ValueError(f"verbose: expected one of {', '.join(map(str, CHOICES))}, got {verbose!r}")
        self._console = console or Console(highlight=False)
        self._mode = (1 if self._console.is_terminal else 2) if verbose == "auto" else verbose
        self._epochs, self._batches, self._began = epochs, batches, 0.0
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, TextColumn("{task.fields[said]}"), console=self._console)
        self._task: Any = None

    def __enter__(self) -> Epochs:
        if self._mode == 1:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._mode == 1:
            self._bar.stop()

    def begin(self, epoch: int) -> None:
        """An epoch begins; they are counted from 0."""
        self._began = time.monotonic()
        if self._mode == 1:
            self._task = self._bar.add_task(self._name(epoch), total=self._batches, said="")

    def advance(self, logs: Logs) -> None:
        """A batch is done."""
        if self._mode == 1:
            self._bar.update(self._task, advance=1, said=_said(logs))

    def end(self, epoch: int, logs: Logs) -> None:
        """An epoch is done."""
        if self._mode == 1:
            self._bar.update(self._task, said=_said(logs))
        elif self._mode == 2:
            seconds = time.monotonic() - self._began
            self._console.print(f"{self._name(epoch)} - {seconds:.1f} s - {_said(logs)}")

    def _name(self, epoch: int) -> str:
        return f"Epoch {epoch + 1}/{self._epochs}"


def _said(logs: Logs) -> str:
    return " - ".join(f"{name}: {value:.4f}" for name, value in logs.items())
