"""A corpus of token ids read as one sequence, from shards on disk or from memory, every id checked as it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from training.data.documents import DataError
from training.data.shards import STORED, TOKENIZER_FILE
from training.data.tokenizers import load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from training.data.shards import TokenArray


class Tokens:
    """Named arrays of ids, one behind the other; an array may lie on disk."""

    def __init__(self, shards: Mapping[str, TokenArray], vocab_size: int) -> None:
        """Take the arrays in their order. Raises DataError where there is nothing to read."""
        self.vocab_size = vocab_size
        self._names = list(shards)
        self._arrays = list(shards.values())
        self._ends = np.cumsum([array.size for array in self._arrays], dtype=np.int64)
        if len(self) == 0:
            raise DataError("the corpus is empty: there are no tokens")

    @classmethod
    def open(cls, folder: Path, vocab_size: int | None = None) -> Tokens:
        """Map the folder's `.npy` files, ordered by name; without vocab_size it is that of the tokeniser beside them.

        Raises DataError for a folder without shards and for a file that is not a flat array of uint16.
        """
        files = sorted(folder.glob("*.npy"))
        if not files:
            raise DataError(f"{folder}: expected token shards (*.npy), found none")
        shards = {str(file): _map(file) for file in files}
        return cls(shards, load_tokenizer(folder / TOKENIZER_FILE).vocab_size if vocab_size is None else vocab_size)

    def __len__(self) -> int:
        """Return the number of tokens in all."""
        return int(self._ends[-1]) if self._ends.size else 0

    def read(self, start: int, count: int) -> NDArray[np.int32]:
        """Return count ids from start on, across the ends of shards.

        Raises DataError that names the shard and the place of an id that the vocabulary does not have.
        """
        if not 0 <= start < start + count <= len(self):
            raise DataError(f"tokens {start} to {start + count}: expected a part of 0 to {len(self)}")
        parts = []
        shard = int(np.searchsorted(self._ends, start, side="right"))
        while count:
            begin = start - (int(self._ends[shard]) - self._arrays[shard].size)
            part = self._arrays[shard][begin : begin + count]
            self._check(shard, begin, part)
            parts.append(part)
            start, count, shard = start + part.size, count - part.size, shard + 1
        return np.concatenate(parts, dtype=np.int32, casting="unsafe")

    def _check(self, shard: int, begin: int, part: TokenArray) -> None:
        wrong = np.flatnonzero(part >= self.vocab_size)
        if wrong.size:
            place = f"{self._names[shard]}: token {begin + int(wrong[0])}"
            raise DataError(f"{place} is {part[wrong[0]]}, but the vocabulary has {self.vocab_size} ids")


def _map(file: Path) -> TokenArray:
    try:
        array: TokenArray = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{file}: not a readable .npy file ({error})") from error
    if array.dtype != STORED or array.ndim != 1:
        raise DataError(f"{file}: expected a flat array of uint16, got {array.dtype} of shape {array.shape}")
    return array
