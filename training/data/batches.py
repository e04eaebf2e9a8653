"""Tokens in batches, each with the tokens that follow: the same batch whenever it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .documents import DataError
from .order import Order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .tokens import Tokens

    IdArray = NDArray[np.int32]


class Batches:
    """The batches of one rank among several.

    An update reads ranks * batch * seq_len tokens that follow each other, rank 0 the first batch * seq_len of them.
    Shards are no borders, and what does not fill an update at the end of a pass is left: all ranks have the same number
    of batches. In a pass no token is an input twice, nor a target twice, on whatever rank.
    """

    def __init__(
        self, tokens: Tokens, batch: int, seq_len: int, *, seed: int | None = None, rank: int = 0, ranks: int = 1
    ) -> None:
        """Cut the corpus; a seed shuffles every pass anew. Raises DataError for a corpus that fills no update."""
        if batch < 1 or seq_len < 1:
            raise DataError(f"batches: expected batch and seq_len of at least 1, got {batch} and {seq_len}")
        if not 0 <= rank < ranks:
            raise DataError(f"batches: expected a rank of 0 to {ranks - 1}, got {rank} of {ranks}")
        self.tokens, self.batch, self.seq_len, self.seed = tokens, batch, seq_len, seed
        self.rank, self.ranks = rank, ranks
        self._order = None if seed is None else Order(tokens, seed, epoch=0)
        if len(self) == 0:
            shape = f"{ranks} x {batch} x {seq_len}" if ranks > 1 else f"{batch} x {seq_len}"
            needed = f"{shape} tokens and the one that follows ({ranks * batch * seq_len + 1})"
            raise DataError(f"batches: expected a corpus of at least {needed}, got {len(tokens)} tokens")

    def __len__(self) -> int:
        """Return the number of updates in one pass over the corpus, the same on every rank."""
        return (len(self.tokens) - 1) // (self.ranks * self.batch * self.seq_len)

    def for_update(self, number: int) -> tuple[IdArray, IdArray]:
        """Return (tokens, targets) of update 1, 2, ..., each [batch, seq_len] int32.

        targets[b, s] follows tokens[b, s]. After the last update of a pass the next pass begins.
        """
        if number < 1:
            raise IndexError(f"update {number}: expected at least 1")
        epoch, index = divmod(number - 1, len(self))
        size = self.batch * self.seq_len
        window = self._window(epoch, (index * self.ranks + self.rank) * size, size + 1)
        shape = (self.batch, self.seq_len)
        return window[:-1].reshape(shape), window[1:].copy().reshape(shape)

    def _window(self, epoch: int, start: int, count: int) -> IdArray:
        if self.seed is None or self._order is None:
            return self.tokens.read(start, count)
        if self._order.epoch != epoch:
            self._order = Order(self.tokens, self.seed, epoch)
        return self.tokens.gather(self._order.places(start, count))
