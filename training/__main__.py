"""`python -m training`: token shards in, a trained model's checkpoints, log and curves out."""

from __future__ import annotations

import signal
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

from bindings.errors import BindingError
from reference.model.parameters import count
from training.backend import operations
from training.checkpoints import CheckpointError
from training.data import DataError
from training.heap import keep_freed_memory
from training.log import LogError
from training.progress import Progress
from training.run import Diverged, Run
from training.settings import SettingsError, read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from training.settings import Settings

MISTAKES = (SettingsError, DataError, CheckpointError, LogError, BindingError, Diverged, ImportError, OSError)


class Stopping:
    """Whether the run is to stop: the first Ctrl-C (or SIGTERM) asks for it, the second does not wait."""

    def __init__(self) -> None:
        self._asked = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def __call__(self) -> bool:
        return self._asked

    def _ask(self, number: int, _: Any) -> None:
        self._asked = True
        signal.signal(number, signal.default_int_handler)
        print("stopping after this step; once more stops at once", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; a mistake ends it with one line and exit code 1, a stop with exit code 130."""
    try:
        settings, resume = read_settings(arguments)
        _train(settings, resume)
    except MISTAKES as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped at once; the same command with --resume goes on from the newest checkpoint")


def _train(settings: Settings, resume: bool) -> None:
    keep_freed_memory()
    with Run(operations(settings.backend), settings, resume=resume, warn=_warn) as run:
        print(_beginning(run, settings), file=sys.stderr)
        stopping = Stopping()
        progress = Progress(settings.steps, settings.batch * settings.seq, sys.stderr)
        with closing(progress):
            run.train(progress, stopping)
    print(_end(run))
    if run.step < settings.steps:
        print("stopped; the same command with --resume goes on from here", file=sys.stderr)
        sys.exit(130)


def _warn(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr)


def _beginning(run: Run, settings: Settings) -> str:
    batches = run.loader.batches
    model = f"{settings.config}: {count(run.learner.config):,} parameters on {settings.backend}"
    data = f"{settings.data}: {len(batches.tokens):,} tokens, {len(batches):,} steps a pass"
    return f"{model}; {data}; " + (f"going on from step {run.step}" if run.step else "from the start")


def _end(run: Run) -> str:
    loss = "" if run.validation_loss is None else f", validation loss {run.validation_loss:.4f}"
    return f"step {run.step}{loss}: {run.store.path(run.step)}, {run.log_path}"


if __name__ == "__main__":
    main()
