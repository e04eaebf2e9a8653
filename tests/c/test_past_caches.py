"""Results that are too large for the caches are stored past them: all of them, and nothing besides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindings import Library
from conformance.catalogue.cases.strided_calls import MAPS, ZIPS

LARGE = 1 << 22  # elements from which on they are: STREAMED of cuda/src/strided.c
UNWRITTEN = np.float32(-7.0)
Layout = tuple[tuple[int, ...], tuple[int, ...]]

LAYOUTS: dict[str, Layout] = {
    "one run": ((LARGE + 37,), (1,)),
    "rows with gaps": ((4100, 1027), (1030, 1)),
    "rows shorter than a cache line": ((LARGE // 7 + 1, 7), (9, 1)),
}


def numbers(*arrays: Any) -> list[Any]:
    return [np.array(one, np.int64) for one in arrays]


def places(layout: Layout, offset: int) -> Any:
    shape, strides = layout
    steps = (np.arange(n) * stride for n, stride in zip(shape, strides, strict=True))
    return sum(np.ix_(*steps), np.int64(offset))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("offset", [0, 3])
def test_all_is_written_and_nothing_besides(stub: Library, layout: Layout, offset: int) -> None:
    (shape, strides), at = layout, places(layout, offset)
    rng, dense = np.random.default_rng(1), np.cumprod((1, *layout[0][:0:-1]))[::-1]
    a, b = (rng.random(at.size, np.float32) for _ in range(2))
    empty = np.full(at.max() + 1 + offset, UNWRITTEN)

    negative = stub.map_strided(a, empty.copy(), *numbers(shape, dense, strides), 0, offset, MAPS["negative"])
    total = stub.zip_strided(a, b, empty.copy(), *numbers(shape, dense, dense, strides), 0, 0, offset, ZIPS["add"])
    column = (0,) * len(shape)  # one number for all
    more = stub.zip_strided(a, b, empty.copy(), *numbers(shape, dense, column, strides), 0, 5, offset, ZIPS["add"])

    for found, due in ((negative, -a), (total, a + b), (more, a + b[5])):
        expected = empty.copy()
        expected[at] = due.reshape(shape)
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("offset", [0, 3])
def test_numbers_that_repeat_along_rows_are_written_wherever_these_are(stub: Library, offset: int) -> None:
    shape, strides = (LARGE // 512 + 2500, 1024), (1027, 1)
    of_rows, at = np.random.default_rng(1).random(shape[0], np.float32), places((shape, strides), offset)
    expected = np.full(at.max() + 1, UNWRITTEN)
    empty = expected.copy()
    expected[at] = -of_rows[:, None]
    found = stub.map_strided(of_rows, empty, *numbers(shape, (1, 0), strides), 0, offset, MAPS["negative"])
    assert np.array_equal(found, expected)
