"""Dropout, one number at a time: Philox4x32-10 in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from .numbers import Number, Vector

WORD = 2**32
ROUNDS = 10


def _block(key: int, counter: int) -> tuple[int, int, int, int]:
    """The four words of a counter whose upper 64 bits are 0."""
    words = counter % WORD, counter // WORD, 0, 0
    keys = key % WORD, key // WORD
    for _ in range(ROUNDS):
        high, low = divmod(0xD2511F53 * words[0], WORD)
        other_high, other_low = divmod(0xCD9E8D57 * words[2], WORD)
        words = other_high ^ words[1] ^ keys[0], other_low, high ^ words[3] ^ keys[1], low
        keys = (keys[0] + 0x9E3779B9) % WORD, (keys[1] + 0xBB67AE85) % WORD
    return words


def _is_kept(philox: Sequence[int], i: int, rate: Number) -> bool:
    key, offset = philox
    word = _block(key, (offset + i // 4) % 2**64)[i % 4]
    return Decimal(word // 2**8) / 2**24 >= rate


def dropout(input: Vector, philox: Sequence[int], rate: Number) -> Vector:
    return [x / (1 - rate) if _is_kept(philox, i, rate) else Decimal(0) for i, x in enumerate(input)]
