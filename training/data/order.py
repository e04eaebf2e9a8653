"""In which order a pass over a corpus reads it: its shards, and the documents in each, shuffled by a seed."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from reference.random import permutation, stream

from .documents import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from .tokens import Tokens


class Order:
    """Places of one pass in places of the corpus. A pass reads every token once, each document as a whole.

    Shards come in an order drawn for the pass, and the documents that start in a shard in one drawn for both: so a pass
    reads one region of the disk at a time, and only one shard's documents are ever in memory as a list.
    """

    def __init__(self, tokens: Tokens, seed: int, epoch: int) -> None:
        """Draw the order of the shards. Raises DataError where nothing tells where documents start."""
        self.epoch = epoch
        self._tokens, self._seed = tokens, seed
        self._drawn: tuple[int, NDArray[np.int64], NDArray[np.int64]] | None = None
        if tokens.starts is None or not tokens.starts.size or tokens.starts[0] != 0:
            raise DataError("shuffling: expected to know where documents start, the first at token 0")
        first_of_shard = np.searchsorted(tokens.starts, [0, *tokens.shard_ends])
        groups = [(a, b) for a, b in pairwise(first_of_shard.tolist()) if a < b]
        drawn = permutation(stream("shards", seed, epoch), len(groups))
        self._groups = [groups[i] for i in drawn]
        self._ends = np.cumsum([self._start_of(b) - self._start_of(a) for a, b in self._groups])

    def places(self, position: int, count: int) -> Iterator[tuple[int, int]]:
        """Yield where the tokens from a position of the pass on lie in the corpus: (start, count)."""
        group = int(np.searchsorted(self._ends, position, side="right"))
        while count:
            starts, ends = self._documents(group)
            begin = position - (int(self._ends[group - 1]) if group else 0)
            first = int(np.searchsorted(ends, begin, side="right"))
            last = int(np.searchsorted(ends, begin + count - 1, side="right")) + 1
            for start, end, length in self._listed(starts, ends, first, last):
                skipped = max(0, begin - (end - length))
                taken = min(count, length - skipped)
                yield start + skipped, taken
                begin, position, count = begin + taken, position + taken, count - taken
            group += 1

    @staticmethod
    def _listed(
        starts: NDArray[np.int64], ends: NDArray[np.int64], first: int, last: int
    ) -> Iterator[tuple[int, int, int]]:
        """Yield (start in the corpus, end in the group, length) of documents first to last of a group."""
        before = int(ends[first - 1]) if first else 0
        for start, end in zip(starts[first:last].tolist(), ends[first:last].tolist(), strict=True):
            yield start, end, end - before
            before = end

    def _documents(self, group: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the group's documents start in the corpus and end in the group, in their order."""
        if self._drawn is None or self._drawn[0] != group:
            assert self._tokens.starts is not None
            first, end = self._groups[group]
            starts = np.append(self._tokens.starts[first:end], self._start_of(end))
            drawn = permutation(stream("documents", self._seed, self.epoch, first), end - first)
            self._drawn = group, starts[:-1][drawn], np.cumsum(np.diff(starts)[drawn])
        return self._drawn[1:]

    def _start_of(self, document: int) -> int:
        assert self._tokens.starts is not None
        return int(self._tokens.starts[document]) if document < self._tokens.starts.size else len(self._tokens)
