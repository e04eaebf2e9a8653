"""What pooling and cut sequences mean where formulas alone do not say: ties, padding, what no window covers."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference as ops
from reference import random

INF, NAN = np.inf, np.nan


def plane(*rows: list[float]) -> Any:
    return np.array([[rows]], np.float32)


def test_the_first_of_equals_is_the_largest_and_of_several_nan_the_first() -> None:
    x = plane([1, 3, NAN, 2], [3, 3, NAN, INF])
    output, places = ops.max_pool2d(x, 2, 2, 1, 2, 0, 0)
    np.testing.assert_array_equal(output, plane([3, NAN]))
    np.testing.assert_array_equal(places, [[[[1, 2]]]])


def test_padding_is_never_the_largest() -> None:
    output, places = ops.max_pool2d(np.full((1, 1, 3, 4), -INF), 3, 2, 2, 2, 1, 1)
    np.testing.assert_array_equal(output, np.full((1, 1, 2, 3), -INF))
    np.testing.assert_array_equal(places[0, 0], [[0, 1, 3], [4, 5, 7]])


def test_one_number_that_several_windows_choose_gets_the_gradients_of_all() -> None:
    x = plane([0, 9, 0], [0, 0, 5])
    _, places = ops.max_pool2d(x, 1, 2, 1, 1, 0, 0)
    d_input = ops.max_pool2d_backward(plane([1, 2], [4, 8]), places, 2, 3, 1, 2, 1, 1, 0, 0)
    np.testing.assert_array_equal(d_input, plane([0, 3, 0], [4, 0, 8]))


def test_a_mean_divides_by_the_window_or_by_what_of_it_is_no_padding() -> None:
    x = np.ones((1, 1, 3, 4), np.float32)
    np.testing.assert_array_equal(ops.avg_pool2d(x, 3, 2, 2, 2, 1, 1, 0), np.ones((1, 1, 2, 3)))
    counted = np.float32([[2, 4, 2], [2, 4, 2]]) / np.float32(6)
    np.testing.assert_array_equal(ops.avg_pool2d(x, 3, 2, 2, 2, 1, 1, 1)[0, 0], counted)
    lone = plane([INF, 1.0, 2.0])  # next to padding it stays what it is
    np.testing.assert_array_equal(ops.avg_pool2d(lone, 1, 2, 1, 2, 0, 1, 1), plane([INF, 1.5]))


def test_a_window_that_reaches_two_past_the_end_has_nothing_of_there() -> None:
    x = plane([1.0, 2.0, 4.0])
    np.testing.assert_array_equal(ops.avg_pool2d(x, 1, 4, 1, 1, 0, 2, 0), plane([1.5, 7 / 3, 7 / 3, 3.0]))
    np.testing.assert_array_equal(ops.avg_pool2d(x, 1, 4, 1, 1, 0, 2, 1), plane([0.75, 1.75, 1.75, 1.5]))


def test_what_no_window_covers_has_no_gradient() -> None:
    d_output = np.ones((1, 1, 2, 2), np.float32)
    d_input = ops.avg_pool2d_backward(d_output, 4, 4, 1, 1, 2, 2, 0, 0, 0)
    np.testing.assert_array_equal(d_input, plane(*[[1, 0, 1, 0], [0, 0, 0, 0]] * 2))


def test_cut_out_and_joined_again_is_the_sequence() -> None:
    x = random.normal(random.stream("meaning", 0), (2, 7, 3))
    first, rest = ops.slice_steps(x, 0, 3), ops.slice_steps(x, 3, 4)
    np.testing.assert_array_equal(ops.concat_steps(first, rest), x)
    np.testing.assert_array_equal(ops.concat_steps_backward(x, 3, 4)[1], rest)
    whole = ops.slice_steps_backward(first, 7, 0) + ops.slice_steps_backward(rest, 7, 3)
    np.testing.assert_array_equal(whole, x)
