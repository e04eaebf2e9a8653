"""A corpus of token ids read as one sequence, from shards on disk or from memory, every id checked as it is read."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from .documents import DataError
from .manifest import SPLITS, STARTS, Manifest, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray


class Tokens:
    """Named arrays of ids, one behind the other; an array may lie on disk."""

    def __init__(
        self,
        shards: Mapping[str, NDArray[Any]],
        vocab_size: int,
        starts: NDArray[np.int64] | None = None,
        fingerprint: str | None = None,
    ) -> None:
        """Take the arrays in their order, and where documents start. Raises DataError where there are no tokens."""
        self.vocab_size, self.starts = vocab_size, starts
        self._names = list(shards)
        self._arrays = list(shards.values())
        self.shard_ends = list(accumulate(array.size for array in self._arrays))
        self._fingerprint = fingerprint
        if len(self) == 0:
            raise DataError("the corpus is empty: there are no tokens")

    @classmethod
    def open(cls, folder: Path, split: str = "train") -> Tokens:
        """Map the shards of a split, without reading their tokens.

        Raises DataError for a folder without a manifest, files that do not match it, and a split without documents.
        """
        manifest = Manifest.read(folder)
        if split not in manifest.splits:
            raise DataError(f"split: expected {' or '.join(SPLITS)}, got {split!r}")
        found = manifest.splits[split]
        if found.starts is None:
            share = f"{manifest.plan.validation:g} of {manifest.plan.sources} documents are drawn for validation"
            raise DataError(f"{folder}: the {split} split holds no documents ({share})")
        shards = {str(folder / shard.file): shard.mapped(folder, manifest.plan.dtype) for shard in found.shards}
        starts = found.starts.mapped(folder, STARTS)
        found.starts.check(folder, starts)  # wrong ones would make wrong batches, and are few
        return cls(shards, manifest.plan.vocab_size, starts, manifest.fingerprint(split))

    def __len__(self) -> int:
        """Return the number of tokens in all."""
        return self.shard_ends[-1] if self.shard_ends else 0

    @cached_property
    def fingerprint(self) -> str:
        """What tells these tokens from others: from the manifest, or made of what lies in memory."""
        parts = [*self._arrays, *([] if self.starts is None else [self.starts])]
        return self._fingerprint or hashlib.sha256("".join(map(digest, parts)).encode()).hexdigest()

    def read(self, start: int, count: int) -> NDArray[np.int32]:
        """Return count ids from start on, across the ends of shards."""
        return self.gather([(start, count)])

    def gather(self, places: Iterable[tuple[int, int]]) -> NDArray[np.int32]:
        """Return the ids of several places (start, count), one behind the other.

        Raises DataError that names the shard and the place of an id that the vocabulary does not have.
        """
        parts = [part for start, count in places for part in self._parts(start, count)]
        ids = np.concatenate([self._arrays[shard][begin:end] for shard, begin, end in parts])
        if ids.size and ids.max() >= self.vocab_size:
            self._refuse(parts)
        return ids.astype(np.int32)

    def _parts(self, start: int, count: int) -> list[tuple[int, int, int]]:
        """Cut a place where shards end: (shard, begin, end) inside the shard."""
        stop = start + count
        if not 0 <= start < stop <= len(self):
            raise DataError(f"tokens {start} to {stop}: expected a part of 0 to {len(self)}")
        parts = []
        shard = bisect_right(self.shard_ends, start)
        while start < stop:
            first, end = self.shard_ends[shard] - self._arrays[shard].size, min(stop, self.shard_ends[shard])
            parts.append((shard, start - first, end - first))
            start, shard = end, shard + 1
        return parts

    def _refuse(self, parts: list[tuple[int, int, int]]) -> None:
        for shard, begin, end in parts:
            part = self._arrays[shard][begin:end]
            wrong = np.flatnonzero(part >= self.vocab_size)
            if wrong.size:
                place = f"{self._names[shard]}: token {begin + int(wrong[0])}"
                raise DataError(f"{place} is {part[wrong[0]]}, but the vocabulary has {self.vocab_size} ids")
