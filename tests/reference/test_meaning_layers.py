"""What the layers' operations mean where formulas alone do not say: ties, infinities, empty parts, wrong arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference as ops
from reference import random
from tests.reference.bounds import assert_agree

INF, NAN = np.inf, np.nan


def draw(*shape: int, stream: int = 0) -> Any:
    return random.normal(random.stream("meaning", stream), shape)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_silu_neither_overflows_nor_loses_its_sign(dtype: Any) -> None:
    x = np.array([-1e4, -1000, -90, -0.0, 0.0, 90, 1000, INF, NAN], dtype)
    result = ops.silu(x)
    np.testing.assert_array_equal(result[[0, 1, 3, 4, 5, 6, 7, 8]], x[[3, 3, 3, 4, 5, 6, 7, 8]])
    assert -1e-35 < result[2] <= 0
    np.testing.assert_array_equal(ops.silu_backward(x[:7], np.ones(7, dtype))[[0, 1, 3, 4, 6]], [0, 0, 0.5, 0.5, 1])


def test_elementwise_operations_take_any_shape_and_size() -> None:
    x, y = draw(3, 70_001), draw(3, 70_001, stream=1)  # more than one block
    whole = ops.swiglu_backward(x, y, x)
    for part in (np.s_[:, :5], np.s_[2:, -3:]):
        for all_of_it, some in zip(whole, ops.swiglu_backward(x[part], y[part], x[part]), strict=True):
            np.testing.assert_array_equal(all_of_it[part], some)


def test_softmax_does_not_mind_where_and_how_large_the_maximum_is() -> None:
    x = np.zeros((2, 3000), np.float32)
    x[0, 2999], x[1, 0] = 3e38, -3e38
    result = ops.softmax(x)
    np.testing.assert_array_equal(result[0], np.eye(3000)[2999])
    np.testing.assert_array_equal(result[1, :2], np.float32([0, 1 / 2999]))
    np.testing.assert_array_equal(ops.softmax(np.array([[-INF, 0.0], [-INF, -INF], [INF, 0.0]]))[0], [0, 1])
    assert np.isnan(ops.softmax(np.array([[-INF, -INF], [INF, 0.0], [NAN, 0.0]]))).all()


def test_topk_takes_the_lower_of_equal_columns_first() -> None:
    weights, indices = ops.softmax_topk(np.array([[1.0, 3.0, 3.0, 1.0, 3.0], [2.0, 2.0, 2.0, 2.0, 2.0]]), 4)
    np.testing.assert_array_equal(indices, [[1, 2, 4, 0], [0, 1, 2, 3]])
    np.testing.assert_array_equal(weights[1], [0.25] * 4)
    assert_agree(weights.sum(axis=1), np.ones(2), [weights])


@pytest.mark.parametrize("k", [0, 6])
def test_topk_refuses_more_columns_than_there_are(k: int) -> None:
    with pytest.raises(ValueError, match=rf"softmax_topk: k: expected 1 <= k <= 5 columns, got {k}"):
        ops.softmax_topk(np.zeros((2, 5)), k)


def test_topk_backward_is_zero_where_nothing_was_chosen() -> None:
    x = draw(4, 9)
    weights, indices = ops.softmax_topk(x, 3)
    d_input = ops.softmax_topk_backward(weights, indices, draw(4, 3), 9)
    chosen = np.zeros((4, 9), bool)
    np.put_along_axis(chosen, indices, True, axis=1)
    np.testing.assert_array_equal(d_input[~chosen], 0)
    assert_agree(d_input.sum(axis=1), np.zeros(4), [d_input])


def test_rmsnorm_of_zeros() -> None:
    weight = draw(5)
    np.testing.assert_array_equal(ops.rmsnorm(np.zeros((2, 5)), weight, 1e-6), 0 * weight * np.ones((2, 1)))
    assert np.isnan(ops.rmsnorm(np.zeros((2, 5)), weight, 0.0)).all()
    with pytest.raises(ValueError, match=r"rmsnorm: weight: expected shape \(5,\), got \(1,\)"):
        ops.rmsnorm(np.zeros((2, 5)), np.ones(1), 1e-6)


def test_norm_gradients_are_added_to_the_given_ones() -> None:
    x, w, d, old = draw(3, 5), draw(5, stream=1), draw(3, 5, stream=2), draw(5, stream=3)
    d_input, fresh = ops.rmsnorm_backward(x, w, d, np.full(5, NAN), 1e-6, 0.0)
    for beta in (1.0, 0.5):
        assert_agree(ops.rmsnorm_backward(x, w, d, old, 1e-6, beta)[1], fresh + beta * old, [x, d, old])
    through, _ = ops.rmsnorm_residual_backward(x, w, d, draw(3, 5, stream=4), None, 1e-6, 0.0)
    np.testing.assert_array_equal(through, draw(3, 5, stream=4) + d_input)


@pytest.mark.parametrize(("a", "b", "function"), [((3, 4), (5, 4), ops.gemm_beta), ((3, 4), (4, 5), ops.gemm_nn)])
def test_products_read_c_only_where_beta_is_not_zero(a: Any, b: Any, function: Any) -> None:
    A, B, old = draw(*a), draw(*b, stream=1), draw(3, 5, stream=2)
    product = function(A, B, None, 1.0, 0.0)
    np.testing.assert_array_equal(function(A, B, np.full((3, 5), NAN), 1.0, 0.0), product)
    np.testing.assert_array_equal(function(A, B, old, 1.0, 1.0), product + old)
    np.testing.assert_array_equal(function(A, B, old, -2.0, 0.5), -2 * product + old / 2)
    assert np.isnan(function(A, B, np.full((3, 5), NAN), 1.0, 1.0)).all()


def test_the_four_products_are_one() -> None:
    A, B = draw(3, 4), draw(5, 4, stream=1)
    for function, left, right in ((ops.gemm_nn, A, B.T), (ops.gemm_tn, A.T, B.T), (ops.gemm_tt, A.T, B)):
        assert_agree(function(left.copy(), right.copy(), None, 1.0, 0.0), ops.gemm(A, B), [A, B])


def test_an_expert_without_rows_has_no_gradient() -> None:
    A, B, old = draw(6, 4), draw(6, 5, stream=1), draw(3, 4, 5, stream=2)
    offsets = np.array([0, 2, 2, 6])
    fresh = ops.grouped_gemm_tn(A, B, offsets, None, 0.0)
    np.testing.assert_array_equal(fresh[1], 0)
    np.testing.assert_array_equal(ops.grouped_gemm_tn(A, B, offsets, old, 0.75)[1], 0.75 * old[1])
    np.testing.assert_array_equal(fresh[2], ops.gemm_tn(A[2:], B[2:], None, 1.0, 0.0))
    whole = ops.grouped_gemm_tn(A, B, np.array([0, 0, 0, 6]), None, 0.0)
    np.testing.assert_array_equal(whole[2], ops.gemm_tn(A, B, None, 1.0, 0.0))


@pytest.mark.parametrize("offsets", [[0, 2, 6], [0, 4, 2, 6], [1, 2, 3, 6], [0, 2, 3, 5]])
def test_offsets_that_do_not_divide_the_rows_are_refused(offsets: list[int]) -> None:
    for function in (ops.grouped_gemm, ops.grouped_gemm_nn):
        with pytest.raises(ValueError, match=f"{function.__name__}: offsets: expected 4 values ascending from 0 to 6"):
            function(draw(6, 4), draw(3, 4, 4), np.array(offsets))


def test_arguments_of_different_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"add: b: expected the shape of a, \(3,\), got \(1,\)"):
        ops.add(draw(3), draw(1))
    q, lse = draw(1, 3, 2, 4), np.zeros((1, 2, 3))
    with pytest.raises(ValueError, match=r"attention_backward: d_output: expected the shape of Q"):
        ops.attention_backward(q, q, q, q, lse, q[:, :1], 1.0)


def test_a_router_that_chooses_one_expert_gives_it_all_the_weight() -> None:
    weights, indices, *_ = ops.topk_router(np.array([[0.0, 2.0, 1.0], [3.0, 2.0, 1.0]]), 1, 0.5)
    assert (weights.tolist(), indices.tolist()) == ([[1.0], [1.0]], [[1], [0]])
