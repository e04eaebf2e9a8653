"""Philox against the known answers of its authors (Random123, kat_vectors), and what dropout makes of its words."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from reference import philox
from reference.ops.dropout import kept

ONES = 0xFFFFFFFF
# Counter, key, and the words of philox4x32-10; the digits of the third are those of pi.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_known_answers(counter: tuple[int, ...], key: tuple[int, int], words: tuple[int, ...]) -> None:
    given = [np.array([word], np.uint64) for word in counter]
    found = philox.philox4x32(given, [np.uint64(word) for word in key])
    assert tuple(int(word[0]) for word in found) == words


def test_words_of_a_block_follow_each_other_and_counters_carry_and_wrap() -> None:
    for offset in (2**32 - 1, 2**64 - 1):
        blocks = [philox.words(5, (offset + block) % 2**64, 4) for block in range(3)]
        np.testing.assert_array_equal(philox.words(5, offset, 11), np.concatenate(blocks)[:11])
    assert tuple(philox.words(0, 0, 4)) == KNOWN[0][2]


def test_uniform_numbers_are_the_upper_bits() -> None:
    np.testing.assert_array_equal(
        philox.uniform(np.array([0, 255, 256, ONES], np.uint64)), [0.0, 0.0, 2.0**-24, 1 - 2.0**-24]
    )


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
def test_as_many_are_kept_as_the_rate_says(rate: float) -> None:
    count = 1 << 16
    mask = kept(np.array([1, 2], np.uint64), count, rate)
    deviation = (count * rate * (1 - rate)) ** 0.5
    assert abs(np.count_nonzero(mask) - count * (1 - rate)) <= 5 * deviation  # one in two million would be further off
    x = np.full(count, np.nan)
    np.testing.assert_array_equal(np.isnan(reference.dropout(x, np.array([1, 2], np.uint64), rate)), mask)


def test_an_element_at_the_rate_is_kept() -> None:
    rate = (KNOWN[0][2][0] >> 8) * 2.0**-24
    nothing = np.zeros(2, np.uint64)
    assert kept(nothing, 1, rate).all()
    assert not kept(nothing, 1, rate + 2.0**-24).any()
