"""`python -m training`: token shards in, a trained model's checkpoints, log and curves out."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from bindings.errors import BindingError
from reference.model.parameters import count

from .backend import operations
from .checkpoints import CheckpointError
from .data import DataError
from .log import LogError
from .memory.heap import keep_freed_memory
from .plot import curves, draw
from .progress import Progress
from .ranks import RanksError, take_device, whole_run
from .run import Diverged, Run
from .settings import SettingsError, read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .ranks import Ranks
    from .settings import Settings

MISTAKES = (
    SettingsError, DataError, CheckpointError, LogError, BindingError, RanksError, Diverged, ImportError, OSError,
)  # fmt: skip
STOPPED = 130  # exit code: what a shell reports of a command that Ctrl-C ended
_STDERR = 2  # its descriptor


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
        # Not by print: the signal may have come in the middle of one, and a stream is not entered twice.
        with suppress(OSError):
            os.write(_STDERR, b"stopping after this step; once more stops at once\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; a mistake ends it with one line and exit code 1, Ctrl-C with exit code 130."""
    with whole_run() as ranks:
        finished = _run(arguments, ranks)
    if not finished:
        sys.exit(STOPPED)


def _run(arguments: Sequence[str] | None, ranks: Ranks) -> bool:
    try:
        settings, resume = read_settings(arguments)
        return _train(settings, resume, ranks)
    except MISTAKES as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped at once; the same command with --resume goes on from the newest checkpoint")


def _train(settings: Settings, resume: bool, ranks: Ranks) -> bool:
    """Train; return whether all steps were made."""
    keep_freed_memory()
    stopping = Stopping()
    progress = Progress(settings.steps, settings.batch * settings.seq, sys.stderr)
    take_device(ranks)
    with closing(Run(operations(settings.backend), settings, resume=resume, warn=_warn, ranks=ranks)) as run:
        if ranks.rank == 0:
            _say(_beginning(run, settings, ranks))
            if run.learner.way:
                _say(f"gradients are summed {run.learner.way}")
        with closing(progress):
            run.train(progress, stopping)
    finished = run.step == settings.steps
    if ranks.rank == 0:
        print(_end(run), _drawn(run, settings), sep="\n")
        if not finished:
            _say("stopped; the same command with --resume goes on from here")
    return finished


def _warn(message: str) -> None:
    _say(f"warning: {message}")


def _say(message: str) -> None:
    print(message, file=sys.stderr)


def _beginning(run: Run, settings: Settings, ranks: Ranks) -> str:
    batches = run.loader.batches
    where = f"{settings.backend}, {ranks.size} ranks" if ranks.size > 1 else settings.backend
    model = f"{settings.config}: {count(run.learner.config):,} parameters on {where}"
    data = f"{settings.data}: {len(batches.tokens):,} tokens, {len(batches):,} steps a pass"
    return f"{model}; {data}; " + (f"going on from step {run.step}" if run.step else "from the start")


def _end(run: Run) -> str:
    loss = "" if run.validation_loss is None else f", validation loss {run.validation_loss:.4f}"
    return f"step {run.step}{loss}: {run.records.store.path(run.step)}, {run.records.log_path}"


def _drawn(run: Run, settings: Settings) -> str:
    path = settings.output / "curves.svg"
    try:
        draw({"": curves(run.records.log_path)}, path)
    except ImportError as error:
        return f"no curves: {error}"
    return str(path)


if __name__ == "__main__":
    main()
