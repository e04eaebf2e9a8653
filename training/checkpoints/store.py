"""A folder of checkpoints, the newest few of them: one appears when all of it is on the disk, then the oldest goes."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from training.data.files import to_disk

from .content import Checkpoint, CheckpointError, Damaged

_NAME = re.compile(r"step-(\d+)")
_BESIDE, _GOING, _DAMAGED = ".new-", ".old-", "damaged-"


class Store:
    """The checkpoints of one run."""

    def __init__(self, folder: Path, keep: int) -> None:
        """Keep so many in the folder, which is made when the first is saved."""
        self.folder, self._keep = folder, keep

    def steps(self) -> list[int]:
        """Return the steps there are checkpoints of, in order."""
        names = [path.name for path in self.folder.iterdir()] if self.folder.exists() else []
        return sorted(int(match[1]) for match in map(_NAME.fullmatch, names) if match)

    def path(self, step: int) -> Path:
        """Return where the checkpoint of a step lies."""
        return self.folder / f"step-{step:08d}"

    def save(self, step: int, checkpoint: Checkpoint) -> Path:
        """Add a checkpoint, and remove the oldest when it stands.

        Raises CheckpointError where it cannot be written, on a full disk say: those that there are stay as they are.
        """
        path = self.path(step)
        try:
            self._add(path, checkpoint.with_content(step=step))
        except OSError as error:
            with contextlib.suppress(OSError):
                self._clean()
            newest = max(self.steps(), default=None)
            left = "there is none" if newest is None else f"the newest is of step {newest}"
            expected = f"expected room for a checkpoint of {checkpoint.nbytes / 1e6:.1f} MB"
            raise CheckpointError(f"{path}: {expected}, got: {error.strerror or error}; {left}") from error
        for old in self.steps()[: -self._keep]:
            going = self.folder / f"{_GOING}{old}"
            self.path(old).replace(going)  # a folder half removed must not look like a damaged checkpoint
            shutil.rmtree(going)
        return path

    def _add(self, path: Path, checkpoint: Checkpoint) -> None:
        self._clean()
        beside = self.folder / f"{_BESIDE}{path.name}"
        beside.mkdir(parents=True)
        checkpoint.write(beside)
        beside.replace(path)
        to_disk(self.folder)

    def read(self, step: int) -> Checkpoint:
        """Return the checkpoint of a step.

        Raises Damaged where a byte of it is not what was written, CheckpointError for another format or another step.
        """
        path = self.path(step)
        found = Checkpoint.read(path)
        if (held := found.content.get("step", step)) != step:
            raise CheckpointError(f"{path}: expected the checkpoint of step {step}, got that of step {held}")
        return found

    def newest(self, warn: Callable[[str], None]) -> tuple[int, Checkpoint] | None:
        """Return the newest checkpoint that is whole, and its step; None where there are none at all.

        Damaged ones before it are warned of and set aside. Raises CheckpointError where all are damaged.
        """
        damages: dict[int, Damaged] = {}
        for step in reversed(self.steps()):
            try:
                found = self.read(step)
            except Damaged as error:
                damages[step] = error
                continue
            for other, damage in damages.items():
                warn(f"{damage}: set aside as {self._set_aside(other)}")
            return step, found
        if damages:
            raise CheckpointError(f"{self.folder}: no checkpoint is whole: {'; '.join(map(str, damages.values()))}")
        return None

    def _set_aside(self, step: int) -> Path:
        aside = self.folder / f"{_DAMAGED}{self.path(step).name}"
        shutil.rmtree(aside, ignore_errors=True)
        return self.path(step).replace(aside)

    def _clean(self) -> None:
        """Remove what a killed process has left unfinished."""
        for left in [*self.folder.glob(f"{_BESIDE}*"), *self.folder.glob(f"{_GOING}*")]:
            shutil.rmtree(left)
