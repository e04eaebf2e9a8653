"""Sums that pass the largest float on their way, and numbers that repeat: fast ways of joining leave both right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindings import Library
from tensors.numbers import REDUCTIONS

LARGE = np.float32(3e38)


def reduced(stub: Library, function: str, x: Any, strides: tuple[int, int], start: float = 0.0, kept: int = 1) -> Any:
    """Rows of x joined: x[i, j] lies at i * strides[0] + j * strides[1]."""
    lying, out = np.array(strides, np.int64), np.zeros(x.shape[:kept], np.float32).reshape(-1)
    memory = np.zeros(sum((n - 1) * s for n, s in zip(x.shape, strides, strict=True)) + 1, np.float32)
    np.lib.stride_tricks.as_strided(memory, x.shape, [4 * s for s in strides])[...] = x
    out_strides = np.ones(kept, np.int64)
    return stub.reduce_strided(memory, out, np.array(x.shape), lying, out_strides, 0, 0, REDUCTIONS[function], start)


@pytest.mark.parametrize("strides", [(200, 1), (1, 70)], ids=["rows", "columns"])
@pytest.mark.parametrize("function", ["sum", "mean"])
def test_sums_come_back_from_past_the_largest_float(stub: Library, strides: tuple[int, int], function: str) -> None:
    x = np.full((70, 200), LARGE)
    x[:, 100:] = -LARGE
    x[:, 150] = 0.0  # all but one is made up for
    exact = getattr(np, function)(x.astype(np.float64), axis=1)
    # Doubles hold every multiple of one float: nothing is rounded but the result.
    np.testing.assert_array_equal(reduced(stub, function, x, strides), exact.astype(np.float32))


def test_infinities_and_nan_are_what_they_are_in_a_sum(stub: Library) -> None:
    x = np.ones((4, 256), np.float32)
    x[0, 3], x[1, 200], x[2, 5], x[2, 6] = np.inf, np.nan, np.inf, -np.inf
    got = reduced(stub, "sum", x, (256, 1))
    assert np.array_equal(got, np.array([np.inf, np.nan, np.nan, 256.0], np.float32), equal_nan=True)


@pytest.mark.parametrize(
    ("function", "value"), [("sum", 902.0), ("mean", 902.0 / 300), ("maximum", 3.0), ("minimum", 2.0)]
)
def test_what_repeats_is_counted_as_often_as_it_stands_there(stub: Library, function: str, value: float) -> None:
    x = np.full((5, 300), 3.0, np.float32)
    got = reduced(stub, function, x, (0, 0), start=2.0)
    assert np.array_equal(got, np.full(5, value, np.float32))


def test_a_product_of_what_repeats_is_a_power(stub: Library) -> None:
    assert np.array_equal(
        reduced(stub, "product", np.full((3, 10), 2.0, np.float32), (1, 0), start=1.0), np.full(3, 1024.0)
    )
