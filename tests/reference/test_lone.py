"""One window, one row, one column, one choice: what is written for several holds of one alone."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference as ops


def plane(*rows: list[float]) -> Any:
    return np.array([[rows]], np.float32)


def test_one_window_gives_its_gradient_to_what_it_covers_alone() -> None:
    d_input = ops.avg_pool2d_backward(plane([6]), 2, 3, 1, 2, 2, 2, 0, 0, 0)
    np.testing.assert_array_equal(d_input, plane([3, 3, 0], [0, 0, 0]))
    d_input = ops.max_pool2d_backward(plane([6]), np.ones((1, 1, 1, 1), np.int32), 2, 3, 1, 2, 2, 2, 0, 0)
    np.testing.assert_array_equal(d_input, plane([0, 6, 0], [0, 0, 0]))


def test_one_row_that_all_name_receives_all() -> None:
    rows, indices = np.float32([[1, 2], [3, 4], [5, 6]]), np.full(3, 1, np.int32)
    added = ops.scatter_add(rows, indices, np.ones((4, 2), np.float32))
    np.testing.assert_array_equal(added, [[1, 1], [10, 13], [1, 1], [1, 1]])


def test_one_chosen_column_has_the_weight_1_and_no_gradient() -> None:
    weights, indices = ops.softmax_topk(np.float32([[1, 3, 2]]), k=1)
    np.testing.assert_array_equal(weights, [[1]])
    np.testing.assert_array_equal(indices, [[1]])
    d_input = ops.softmax_topk_backward(weights, indices, np.float32([[5]]), cols=3)
    np.testing.assert_array_equal(d_input, np.zeros((1, 3)))


def test_the_loss_of_no_row_is_one_zero_whatever_the_sizes() -> None:
    for rows, columns in ((1, 1), (1, 3), (3, 1), (4, 2)):
        logits, targets = np.ones((rows, columns), np.float32), np.full(rows, -1, np.int32)
        for loss in (ops.cross_entropy_forward(logits, targets)[0], ops.fused_cross_entropy(logits, targets, 1.0)[1]):
            assert (loss.tolist(), loss.dtype) == ([0.0], np.float32)


def test_a_step_cut_out_of_a_sequence_stands_where_it_was() -> None:
    d_input = ops.slice_steps_backward(np.float32([[[7, 8]]]), 4, 2)
    np.testing.assert_array_equal(d_input, [[[0, 0], [0, 0], [7, 8], [0, 0]]])


def test_products_of_tensors_of_any_strides_are_sums_over_the_last_axis() -> None:
    """By a matrix product or not: where neither factor repeats, where one has no rows, and where there is nothing."""
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(24.0)[::-1].reshape(2, 3, 4)
    dense = ((12, 4, 1), (12, 4, 1), (3, 1), 0, 0, 0)
    for shape in ((2, 3, 4), (1, 3, 4), (2, 1, 4), (2, 3, 1)):
        m, n, k = shape
        output = np.full(6, -1.0)
        expected = output.copy().reshape(2, 3)
        expected[:m, :n] = (a * b)[:m, :n, :k].sum(axis=-1)
        found = ops.matmul_strided(a.reshape(-1), b.reshape(-1), output, shape, *dense)
        np.testing.assert_array_equal(found.reshape(2, 3), expected)
    found = ops.matmul_strided(a.reshape(-1), b.reshape(-1), np.full(6, -1.0), (2, 3, 0), *dense)
    np.testing.assert_array_equal(found, np.zeros(6))
    found = ops.matmul_strided(a.reshape(-1), b.reshape(-1), np.full(6, -1.0), (2, 0, 4), *dense)
    np.testing.assert_array_equal(found, np.full(6, -1.0))


def test_a_factor_that_moves_by_one_along_the_rows_of_the_other_is_no_repeated_one() -> None:
    a, b = np.arange(8.0), np.arange(20.0) ** 2
    found = ops.matmul_strided(a, b, np.zeros(6), (2, 3, 4), (4, 0, 1), (1, 4, 1), (3, 1), 0, 0, 0)
    expected = [[sum(a[4 * m + k] * b[m + 4 * n + k] for k in range(4)) for n in range(3)] for m in range(2)]
    np.testing.assert_array_equal(found.reshape(2, 3), expected)


def test_a_factor_that_all_of_a_batch_share_may_move_along_the_rows_of_the_other() -> None:
    a, b = np.arange(16.0), np.arange(20.0) ** 2
    found = ops.matmul_strided(a, b, np.zeros(12), (2, 2, 3, 4), (8, 4, 0, 1), (0, 1, 4, 1), (6, 3, 1), 0, 0, 0)
    expected = [
        [[sum(a[8 * i + 4 * m + k] * b[m + 4 * n + k] for k in range(4)) for n in range(3)] for m in range(2)]
        for i in range(2)
    ]
    np.testing.assert_array_equal(found.reshape(2, 2, 3), expected)


def test_alpha_of_zero_leaves_nothing_of_the_product() -> None:
    A, B, C = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2), np.ones((2, 2))
    for function, given in ((ops.gemm_nn, (A, B)), (ops.gemm_tn, (A.T, B)), (ops.gemm_tt, (A.T, B.T))):
        np.testing.assert_array_equal(function(*given, C, 0.0, 0.5), np.full((2, 2), 0.5))
