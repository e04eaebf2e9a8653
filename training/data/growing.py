"""A split while it is written: whole shards, and the beginnings of the next one in a file that only grows."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from .documents import DataError
from .files import write_array
from .manifest import STARTS, Split, Stored, digest

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from .manifest import Plan

_TAIL = ".tail"


class GrowingSplit:
    """Takes documents; can be put back to any state it has reported, whatever was written after."""

    def __init__(self, folder: Path, name: str, plan: Plan, state: dict[str, Any] | None) -> None:
        """Begin, or go on from a state. Raises DataError where the files hold less than it says."""
        self._folder, self._name, self._plan = folder, name, plan
        state = state or {"tokens": 0, "documents": 0, "shards": []}
        self.tokens: int = state["tokens"]
        self.documents: int = state["documents"]
        self._shards = [Stored(**shard) for shard in state["shards"]]
        self.clean()
        _cut(self._tail_file(), self.tokens % plan.shard_tokens * plan.dtype.itemsize)
        _cut(self._starts_file(), self.documents * STARTS.itemsize)

    def append(self, ids: NDArray[Any], lengths: list[int]) -> None:
        """Add documents of these lengths."""
        starts = self.tokens + np.cumsum([0, *lengths], dtype=STARTS)[:-1]
        _append(self._starts_file(), starts)
        self.documents += len(lengths)
        while ids.size:
            part = ids[: self._plan.shard_tokens - self.tokens % self._plan.shard_tokens]
            _append(self._tail_file(), part)
            self.tokens += part.size
            ids = ids[part.size :]
            if self.tokens % self._plan.shard_tokens == 0:
                self._complete_shard()

    def state(self) -> dict[str, Any]:
        """Return what a new object needs to go on from here, once all of it is on the disk."""
        for file in (self._tail_file(), self._starts_file()):
            with file.open("ab") as opened:
                os.fsync(opened.fileno())
        shards = [asdict(shard) for shard in self._shards]
        return {"tokens": self.tokens, "documents": self.documents, "shards": shards}

    def clean(self) -> None:
        """Remove what the state, now on the disk, no longer needs."""
        kept = {self._tail_file().name, self._starts_file().name, *(shard.file for shard in self._shards)}
        for file in self._folder.glob(f"{self._name}_*"):
            if file.name not in kept:
                file.unlink()

    def finish(self) -> Split:
        """Write the last shard and the documents' places."""
        if self.tokens % self._plan.shard_tokens:
            self._complete_shard()
        starts = None
        if self.documents:
            content = np.fromfile(self._starts_file(), STARTS)
            starts = self._stored(f"{self._name}_documents.npy", content)
        return Split(self.documents, self.tokens, tuple(self._shards), starts)

    def _complete_shard(self) -> None:
        # The tail stays until the state that no longer needs it is on the disk.
        content = np.fromfile(self._tail_file(), self._plan.dtype)
        self._shards.append(self._stored(f"{self._name}_{len(self._shards):06d}.npy", content))
        _cut(self._tail_file(), 0)

    def _stored(self, file: str, content: NDArray[Any]) -> Stored:
        write_array(self._folder / file, content)
        return Stored(file, content.size, digest(content))

    def _tail_file(self) -> Path:
        return self._folder / f"{self._name}_{len(self._shards):06d}{_TAIL}"

    def _starts_file(self) -> Path:
        return self._folder / f"{self._name}_documents{_TAIL}"


def _append(file: Path, array: NDArray[Any]) -> None:
    with file.open("ab") as opened:
        opened.write(np.ascontiguousarray(array).data)


def _cut(file: Path, size: int) -> None:
    """Take away what was written after a state, or begin the file."""
    with file.open("ab") as opened:
        found = opened.tell()
        if found < size:
            raise DataError(f"{file}: expected at least {size} bytes, the file ends at byte {found}: start anew")
        opened.truncate(size)


def remove_tails(folder: Path) -> None:
    """Remove what only a growing split needs."""
    for file in folder.glob(f"*{_TAIL}"):
        file.unlink()
