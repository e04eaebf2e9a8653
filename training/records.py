"""What a run leaves on the disk, and takes up again: its checkpoints and its log, which know the same steps."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .checkpoints import Checkpoint, Store
from .data.files import lock_folder
from .log import Log
from .settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .settings import Settings


LOG = "log.jsonl"  # in the output folder, unless a setting says otherwise


class Records:
    """The output folder of one run.

    Of several processes the one that leads holds it, and writes; the others only read the checkpoint to go on from.
    """

    def __init__(self, settings: Settings, *, leads: bool) -> None:
        self.store = Store(settings.output / "checkpoints", settings.keep)
        self.log_path = settings.log or settings.output / LOG
        self._log: Log | None = None
        self._lock: int | None = None
        if leads:
            settings.output.mkdir(parents=True, exist_ok=True)
            self._lock = lock_folder(settings.output)

    def newest(self, *, resume: bool, warn: Callable[[str], None]) -> tuple[int, Checkpoint | None]:
        """Return the newest checkpoint and its step, or 0 and None for the start. Only for the one that leads.

        Raises SettingsError where the work of another run is there, CheckpointError where no checkpoint is whole.
        """
        if not resume:
            _refuse_to_overwrite(self.store, self.log_path)
        return self.store.newest(warn) or (0, None)

    def begin_log(self, step: int) -> None:
        """Begin the log, or go on behind a step."""
        self._log = Log(self.log_path, step)

    def write(self, kind: str, step: int, **content: Any) -> None:
        """Add a line to the log."""
        if self._log:
            self._log.write(kind, step, **content)

    def save(self, step: int, checkpoint: Checkpoint) -> None:
        """Keep a checkpoint, behind a log that knows every step up to it."""
        if self._log:
            self._log.to_disk()
            self.store.save(step, checkpoint)

    def close(self) -> None:
        """Let go of the folder."""
        if self._log:
            self._log.close()
        if self._lock is not None:
            os.close(self._lock)


def _refuse_to_overwrite(store: Store, log: Path) -> None:
    if steps := store.steps():
        there = f"{store.folder}: holds checkpoints up to step {steps[-1]}"
        raise SettingsError(f"{there}; --resume goes on from there, --output names another folder")
    if log.exists():
        raise SettingsError(f"{log}: a run's log is there; --resume begins that run again, --log names another file")
