"""Tokens in batches, each with the tokens that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from training.data.documents import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from training.data.tokens import Tokens

    IdArray = NDArray[np.int32]


class Batches:
    """Batch i reads tokens i * batch * seq_len onwards, row after row: the same batch whenever it is asked for."""

    def __init__(self, tokens: Tokens, batch: int, seq_len: int) -> None:
        """Cut the corpus; what does not fill a batch at its end is left. Raises DataError where it fills none."""
        if batch < 1 or seq_len < 1:
            raise DataError(f"batches: expected batch and seq_len of at least 1, got {batch} and {seq_len}")
        self.batch, self.seq_len = batch, seq_len
        self._tokens = tokens
        if len(self) == 0:
            needed = f"{batch} x {seq_len} tokens and the one that follows ({batch * seq_len + 1})"
            raise DataError(f"batches: expected a corpus of at least {needed}, got {len(tokens)} tokens")

    def __len__(self) -> int:
        """Return the number of whole batches in one pass over the corpus."""
        return (len(self._tokens) - 1) // (self.batch * self.seq_len)

    def __getitem__(self, index: int) -> tuple[IdArray, IdArray]:
        """Return (tokens, targets), each [batch, seq_len] int32: targets[b, s] follows tokens[b, s] in the corpus."""
        if not 0 <= index < len(self):
            raise IndexError(f"batch {index}: expected 0 to {len(self) - 1}")
        size = self.batch * self.seq_len
        window = self._tokens.read(index * size, size + 1)
        shape = (self.batch, self.seq_len)
        return window[:-1].reshape(shape), np.ascontiguousarray(window[1:]).reshape(shape)

    def for_update(self, number: int) -> tuple[IdArray, IdArray]:
        """Return the batch of update number 1, 2, ..., beginning again at the start of the corpus after the last."""
        return self[(number - 1) % len(self)]
