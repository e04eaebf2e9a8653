"""Tensors without elements: their strides and offsets may be anything, and nothing is computed of them.

`nox -s sanitize` stops where a sum of such strides, or a product of lengths of which one is 0, does not fit in int64_t.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import Library, read_header
from tests.c.raw import calls

LARGEST, SMALLEST, LONG = 2**63 - 1, -(2**63), 2**40
OFFSETS = (0, 99, LARGEST, SMALLEST)


def _whole(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def _storage() -> Any:
    return np.arange(4, dtype=np.float32)


@pytest.mark.parametrize("offset", OFFSETS)
def test_what_is_joined_of_nothing_is_start(stub: Library, offset: int) -> None:
    shape, strides = _whole(2, 2, 0), _whole(LARGEST, SMALLEST, 5)
    call = (_storage(), _storage(), shape, strides, _whole(2, 1), offset, 0, 0, 1.5)
    assert stub.reduce_strided(*call).tolist() == [1.5] * 4


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("strides", [_whole(LARGEST, SMALLEST, 0, 0, 1), _whole(SMALLEST, 3, LARGEST, LARGEST, 1)])
def test_sums_of_nothing_are_0(stub: Library, strides: Any, offset: int) -> None:
    call = (_storage(), _storage(), _storage(), _whole(1, 2, 2, 1, 0), strides, strides, _whole(7, 2, 1, 1))
    assert stub.matmul_strided(*call, offset, offset, 0).tolist() == [0] * 4


def test_lengths_beside_one_of_0_may_be_long(stub: Library) -> None:
    shape, strides = _whole(LONG, LONG, 0), _whole(1, 1, 1)
    two = (_storage(), _storage())
    assert stub.map_strided(*two, shape, strides, strides, 0, 0, 1).tolist() == [0, 1, 2, 3]
    assert stub.zip_strided(*two, _storage(), shape, strides, strides, strides, 0, 0, 0, 0).tolist() == [0, 1, 2, 3]
    assert stub.reduce_strided(*two, shape, strides, _whole(), 0, 0, 0, 1.5).tolist() == [1.5, 1, 2, 3]
    shape, strides = _whole(LONG, LONG, 0, 1, 1), _whole(1, 1, 1, 1, 1)
    given = (*two, _storage(), shape, strides, strides, strides[1:])
    assert stub.matmul_strided(*given, 0, 0, 0).tolist() == [0, 1, 2, 3]


def test_what_has_no_axis_needs_neither_lengths_nor_strides(stub_path: Path) -> None:
    """An array of no elements may be null, which the bindings never pass."""
    none = {"shape": None, "input_strides": None, "a_strides": None, "b_strides": None, "output_strides": None}
    found = {call.function.operation: call for call in calls(read_header(), stub_path)}
    for operation, kept in (("map_strided", {}), ("zip_strided", {}), ("reduce_strided", {"kept": 0})):
        call = found[operation]
        spoilt = {name: value for name, value in none.items() if name in call.arrays}
        assert call(**spoilt, axes=0, **kept) == 0, operation
        assert call(**spoilt, axes=1, **kept) == read_header().constants["ASSAYER_INVALID"].value, operation
    reduced = found["reduce_strided"]
    assert reduced(output_strides=None, kept=0) == 0
    assert reduced(output_strides=None, kept=1) == read_header().constants["ASSAYER_INVALID"].value
