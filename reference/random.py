"""The project's own random numbers: the same bits on every platform, Python and NumPy version.

Counter-based: word i of a seed is the finaliser of splitmix64 (Steele, Lea and Flood 2014) applied to
seed + (i + 1) * 0x9E3779B97F4A7C15 mod 2^64. Everything else is integer arithmetic and multiplication by powers of two;
every value is exact in float32. Each function reads the words of its seed from the first: take one stream per array.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIXED = (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB))
_EVEN_LANES = np.uint64(0x0000FFFF0000FFFF)
_CHUNK = 1 << 14  # values made at once: their words stay in cache

Shape = int | tuple[int, ...]


def stream(*names: str | int) -> int:
    """A seed of 64 bits that belongs to these names: from the SHA-256 of their type, length and text."""
    digest = hashlib.sha256()
    for name in names:
        text = str(name).encode()
        digest.update(f"{type(name).__name__}:{len(text)}:".encode() + text)
    return int.from_bytes(digest.digest()[:8], "little")


def words(seed: int, start: int, count: int) -> NDArray[np.uint64]:
    """Words start, start + 1, ... of a seed."""
    z = np.arange(start + 1, start + count + 1, dtype=np.uint64)
    shifted = np.empty_like(z)
    with np.errstate(over="ignore"):
        z *= _GOLDEN
        z += np.uint64(seed % 2**64)
        for bits, factor in _MIXED:
            z ^= np.right_shift(z, bits, out=shifted)
            z *= factor
        z ^= np.right_shift(z, np.uint64(31), out=shifted)
    return z


def uniform(seed: int, shape: Shape) -> NDArray[np.float64]:
    """Multiples of 2^-24 in [0, 1): the upper 24 bits of one word each."""
    values = np.empty(_count(shape))
    for start, stop in _chunks(values.size):
        values[start:stop] = words(seed, start, stop - start) >> np.uint64(40)
    return values.reshape(shape) * 2.0**-24


def normal(seed: int, shape: Shape) -> NDArray[np.float64]:
    """Nearly normal numbers: mean 0, variance 1 - 2^-32, multiples of 2^-16 between -6 and 6.

    The sum of the twelve 16-bit lanes of three words, each of variance (2^32 - 1) / 12 (Irwin-Hall).
    """
    values = np.empty(_count(shape))
    for start, stop in _chunks(values.size):
        count = stop - start
        lanes = words(seed, 3 * start, 3 * count)
        odd = lanes >> np.uint64(16)
        lanes &= _EVEN_LANES
        odd &= _EVEN_LANES
        lanes += odd
        pairs = lanes[0::3] + lanes[1::3]
        pairs += lanes[2::3]
        sums = pairs >> np.uint64(32)
        pairs &= np.uint64(0xFFFFFFFF)
        sums += pairs
        values[start:stop] = sums
    values -= 12 * 32767.5
    values *= 2.0**-16
    return values.reshape(shape)


def integers(seed: int, low: int, high: int, shape: Shape) -> NDArray[np.int64]:
    """Integers low <= value < high, at most 2^32 apart: the upper half of a word scaled to the range."""
    span = high - low
    if not 0 < span <= 2**32:
        raise ValueError(f"integers: high: expected low < high <= low + 2^32, got low {low} and high {high}")
    values = np.empty(_count(shape), np.int64)
    for start, stop in _chunks(values.size):
        upper = words(seed, start, stop - start) >> np.uint64(32)
        values[start:stop] = (upper * np.uint64(span)) >> np.uint64(32)
        values[start:stop] += low
    return values.reshape(shape)


def permutation(seed: int, n: int) -> NDArray[np.int64]:
    """0, 1, ..., n - 1 in the order of n words."""
    return np.argsort(words(seed, 0, n), kind="stable").astype(np.int64)


def _chunks(count: int) -> Iterator[tuple[int, int]]:
    """Where each part of so many values begins and ends."""
    return ((start, min(start + _CHUNK, count)) for start in range(0, count, _CHUNK))


def _count(shape: Shape) -> int:
    return shape if isinstance(shape, int) else prod(shape)
