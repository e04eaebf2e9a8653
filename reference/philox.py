"""Philox4x32: random words by counting (Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3).

Words of 32 bits are held in uint64 arrays, in which the products of two of them are whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)  # by which the key's words grow each round
ROUNDS = 10


def philox4x32(counter: Sequence[Words], key: Sequence[Words], rounds: int = ROUNDS) -> tuple[Words, ...]:
    """The four words of each counter of four words under a key of two."""
    a, b, c, d = (np.asarray(word, np.uint64) for word in counter)
    first, second = (np.asarray(word, np.uint64) for word in key)
    for _ in range(rounds):
        ac, cc = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, b, c, d = (cc >> _HALF) ^ b ^ first, cc & _LOW, (ac >> _HALF) ^ d ^ second, ac & _LOW
        first, second = (first + _STEPS[0]) & _LOW, (second + _STEPS[1]) & _LOW
    return a, b, c, d


def halves(word: Words | np.uint64) -> tuple[Any, Any]:
    """The low and the high 32 bits of words of 64."""
    return word & _LOW, word >> _HALF


def words(key: int, offset: int, count: int) -> Words:
    """The first words of the blocks from an offset on, four a block; key, offset: 64 bits."""
    with np.errstate(over="ignore"):
        counters = np.uint64(offset) + np.arange(-(-count // 4), dtype=np.uint64)
    nothing = np.zeros_like(counters)
    return np.stack(philox4x32((*halves(counters), nothing, nothing), halves(np.uint64(key))), axis=-1).reshape(-1)[
        :count
    ]


def uniform(word: Words) -> NDArray[np.float64]:
    """Multiples of 2^-24 in [0, 1): the upper 24 of 32 bits."""
    return (word >> np.uint64(8)).astype(np.float64) * 2.0**-24
