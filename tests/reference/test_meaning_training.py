"""What optimiser, clipping, embedding and samplers mean where formulas alone do not say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference as ops
from reference import random
from reference.arrays import descending
from tests.reference.bounds import assert_agree

INF, NAN = np.inf, np.nan
HYPER = {"lr": 0.01, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8}
NO_SEED = np.zeros(1, np.uint64)
# By hand for seed 0 in row 0: state = 1013904223, state >> 8 = 3960563.
FIRST_U = 3960563 / 2**24


def draw(*shape: int, stream: int = 0) -> Any:
    return random.normal(random.stream("meaning", stream), shape)


def test_the_first_update_moves_by_the_learning_rate() -> None:
    """At step 1 the corrections give m_hat = g and v_hat = g^2, so the update is the gradient's sign."""
    param, grad = draw(9), draw(9, stream=1)
    new, m, v = ops.adamw_step(param, grad, np.zeros(9), np.zeros(9), 0.5, 0.75, 0.875, 0.0, 0.25, 1)
    assert_agree(new, param - 0.5 * (np.sign(grad) + 0.25 * param), [param, grad])
    assert_agree(m, 0.25 * grad, [grad])
    assert_agree(v, 0.125 * grad**2, [grad])


def test_momentum_begins_with_the_gradient_itself() -> None:
    """No dampening, the rate is no part of the velocity, and decay is: by numbers that float64 holds exactly."""
    param, grad = np.array([2.0, -4.0]), np.array([1.0, 0.5])
    g = np.array([1.5, -0.5])  # with a decay of 0.25
    for nesterov, update in ((0, g), (1, 1.5 * g)):
        new, velocity = ops.momentum_step(param, grad, np.zeros(2), 0.25, 0.5, 0.25, nesterov)
        np.testing.assert_array_equal(velocity, g)
        np.testing.assert_array_equal(new, param - 0.25 * update)
    new, velocity = ops.momentum_step(param, grad, np.array([4.0, 8.0]), 0.25, 0.5, 0.25, 0)
    np.testing.assert_array_equal(velocity, [3.5, 3.5])
    np.testing.assert_array_equal(new, param - 0.25 * velocity)


def test_decay_is_part_of_the_gradient_of_adam_and_of_descent() -> None:
    param, grad, m, v = draw(9), draw(9, stream=1), draw(9, stream=2), draw(9, stream=3) ** 2
    decayed = grad + 0.25 * param
    np.testing.assert_array_equal(ops.sgd_step(param, grad, 0.5, 0.25), param - 0.5 * decayed)
    coupled = ops.adam_step(param, grad, m, v, **HYPER, weight_decay=0.25, step=7)
    for got, expected in zip(
        coupled, ops.adamw_step(param, decayed, m, v, **HYPER, weight_decay=0.0, step=7), strict=True
    ):
        np.testing.assert_array_equal(got, expected)


def test_many_updates_are_many_single_ones() -> None:
    shapes = ((3, 4), (70_001,), (1,))
    params, grads, ms, vs = ([draw(*s, stream=10 * i + j) for j, s in enumerate(shapes)] for i in range(4))
    vs = [v**2 for v in vs]
    decays = np.array([0.1, 0.0, 0.5])
    together = ops.multi_adamw(params, grads, ms, vs, decays, np.array([0.5]), **HYPER, step=7)
    for i in range(3):
        alone = ops.adamw_step(params[i], 0.5 * grads[i], ms[i], vs[i], **HYPER, weight_decay=decays[i], step=7)
        for many, one in zip(together, alone, strict=True):
            np.testing.assert_array_equal(many[i], one)


def test_updates_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match="adamw_step: step: expected step >= 1, got 0"):
        ops.adamw_step(draw(2), draw(2), draw(2), np.ones(2), **HYPER, weight_decay=0.0, step=0)
    with pytest.raises(ValueError, match=r"multi_adamw: ms: expected the shape of params, \(2,\), got \(3,\)"):
        ops.multi_adamw([draw(2)], [draw(2)], [draw(3)], [draw(2)], [0.0], np.ones(1), **HYPER, step=1)


def test_clipping_begins_above_the_norm() -> None:
    grad = np.array([3.0, 4.0])
    for clip_norm in (5.0, 6.0):
        clipped, norm = ops.grad_clip(grad, clip_norm)
        np.testing.assert_array_equal(clipped, grad)
        np.testing.assert_array_equal(norm, [5.0])
    np.testing.assert_array_equal(ops.grad_clip(grad, 2.5)[0], grad / 2)
    np.testing.assert_array_equal(ops.multi_sum_squares([grad, np.full((2, 2), 2.0)]), [41.0])
    both = ops.multi_sum_squares_nonfinite([grad, np.array([np.inf, NAN, 1.0])])
    np.testing.assert_array_equal(both[0], [NAN])
    np.testing.assert_array_equal(both[1], [2])
    np.testing.assert_array_equal(np.array(ops.clip_scale(np.array([16.0]), 1.0)), [[4.0], [0.25]])
    np.testing.assert_array_equal(np.array(ops.clip_scale(np.array([16.0]), 4.0)), [[4.0], [1.0]])
    with pytest.raises(ValueError, match="clip_scale: clip_norm: expected clip_norm > 0, got 0"):
        ops.clip_scale(np.array([16.0]), 0.0)


def test_repeated_indices_accumulate_and_negative_ones_are_passed_over() -> None:
    grad, old = draw(8, 3), draw(6, 3, stream=1)
    indices = np.array([4, 1, 4, -1, 0, 4, -3, 5])
    expected = old.copy()
    for index, row in zip(indices, grad, strict=True):
        if index >= 0:
            expected[index] += row
    assert_agree(ops.scatter_add(grad, indices, old), expected, [grad, old])
    np.testing.assert_array_equal(ops.scatter_add(grad, np.full(8, -1), old), old)
    np.testing.assert_array_equal(ops.scatter_add(grad, indices, old)[2:4], old[2:4])


@pytest.mark.parametrize("index", [6, -1])
def test_tokens_outside_the_vocabulary_are_refused(index: int) -> None:
    with pytest.raises(ValueError, match=rf"embedding: indices\[1\]: expected 0 <= value < 6, got {index}"):
        ops.embedding(draw(6, 3), np.array([0, index]))
    with pytest.raises(ValueError, match=r"scatter_add: indices\[1\]: expected values below 6, got 6"):
        ops.scatter_add(draw(2, 3), np.array([0, 6]), draw(6, 3))


def test_argmax_takes_the_lowest_of_equals_and_nan_before_infinity() -> None:
    logits = np.array([[1, 3, 3, 2], [NAN, INF, NAN, 1], [INF, 1, NAN, NAN], [-INF, -INF, -INF, -INF]])
    np.testing.assert_array_equal(ops.argmax(logits), [1, 0, 2, 0])


@pytest.mark.parametrize("sampler", [ops.sample, lambda x, s, t: ops.topk_sample(x, s, 2, t)])
def test_a_draw_takes_the_first_entry_above_u(sampler: Any) -> None:
    """Two columns, the first (and larger) with a probability just above or just below u."""
    larger = max(FIRST_U, 1 - FIRST_U)
    for step in (-1e-6, 1e-6):
        p = FIRST_U + step
        logits = np.log(np.array([[p, 1 - p]]))
        expected = 0 if step > 0 else 1
        np.testing.assert_array_equal(ops.sample(logits, NO_SEED, 1.0), [expected])
    logits = np.log(np.array([[larger, 1 - larger]]))
    np.testing.assert_array_equal(sampler(logits, NO_SEED, 1.0), [0])


def test_u_of_later_rows_and_long_seeds() -> None:
    """The generator with Python's own integers, against the columns that uniform probabilities pick."""
    seeds = random.words(5, 0, 40)
    columns = 1 << 12
    expected = []
    for row, seed in enumerate(seeds.tolist()):
        state = (seed ^ (row * 12345)) % 2**32
        state = (state * 1664525 + 1013904223) % 2**32
        expected.append(int((state >> 8) / 2**24 * columns))
    np.testing.assert_array_equal(ops.sample(np.zeros((40, columns)), seeds, 1.0), expected)
    np.testing.assert_array_equal(ops.topp_sample(np.zeros((40, columns)), seeds, 1.0, 2.0), expected)
    np.testing.assert_array_equal(ops.topk_sample(np.zeros((40, columns)), seeds, columns + 1, 0.5), expected)


def test_sampling_without_heat_or_choice_is_greedy() -> None:
    logits, seeds = draw(20, 9), random.words(1, 0, 20)
    logits[0] = 1.0
    greedy = ops.argmax(logits)
    for result in (
        ops.sample(logits, seeds, 0.0),
        ops.sample(logits[1:], seeds[1:], 1e-300),
        ops.topk_sample(logits, seeds, 1, 1.0),
        ops.topk_sample(logits, seeds, 3, 0.0),
        ops.topp_sample(logits, seeds, 0.0, 1.0),
        ops.topp_sample(logits, seeds, -1.0, 1.0),
        ops.topp_sample(logits, seeds, 0.9, 0.0),
    ):
        np.testing.assert_array_equal(result, greedy[-len(result) :])


def test_top_p_keeps_the_smallest_prefix_that_reaches_it() -> None:
    logits = np.log(np.array([[0.125, 0.5, 0.125, 0.25]] * 400))
    seeds = random.words(2, 0, 400)
    for top_p, kept in ((0.4, {1}), (0.7, {1, 3}), (0.8, {1, 3, 0}), (0.9, {0, 1, 2, 3}), (2.0, {0, 1, 2, 3})):
        assert set(ops.topp_sample(logits, seeds, top_p, 1.0).tolist()) == kept
    for k, kept in ((1, {1}), (2, {1, 3}), (3, {1, 3, 0}), (9, {0, 1, 2, 3})):
        assert set(ops.topk_sample(logits, seeds, k, 1.0).tolist()) == kept


def test_every_sampler_draws_by_its_probabilities() -> None:
    """2^14 draws from three probabilities: counts within six standard deviations."""
    p, n = np.array([0.2, 0.5, 0.3]), 1 << 14
    logits, seeds = np.log(np.broadcast_to(p, (n, 3))), random.words(3, 0, n)
    limit = 6 * np.sqrt(n * p * (1 - p))
    for drawn in (
        ops.sample(logits * 2, seeds, 2.0),
        ops.topk_sample(logits * 2, seeds, 3, 2.0),
        ops.topp_sample(logits * 2, seeds, 1.0, 2.0),
    ):
        assert (np.abs(np.bincount(drawn, minlength=3) - n * p) < limit).all()


def test_counts_end_at_the_largest_that_can_be_stored() -> None:
    many = [np.full(2**22, NAN, np.float32)]
    assert ops.multi_nonfinite(many * 511) == 2**31 - 2**22
    assert ops.multi_nonfinite(many * 512) == 2**31 - 1


def test_above_a_sum_that_rounding_leaves_below_one_the_last_entry_that_can_be_is_drawn() -> None:
    largest = (0xFFFFFF00 - 1013904223) * pow(1664525, -1, 2**32) % 2**32  # the seed of the largest u, 1 - 2^-24
    for never in (0, 2):
        logits = np.array([[0.0] * 12 + [-np.inf] * never], np.float32)
        assert np.cumsum(ops.softmax(logits))[-1] < 1 - 2.0**-24
        assert ops.sample(logits, np.array([largest], np.uint64), temperature=1.0) == 11


def test_descending_puts_nan_first_by_column_and_equals_by_column() -> None:
    found = descending(np.array([[1.0, NAN, 3.0, NAN, 2.0], [1.0, 2.0, 1.0, 2.0, NAN]]))
    np.testing.assert_array_equal(found, [[1, 3, 2, 4, 0], [4, 1, 3, 0, 2]])


def test_a_row_without_a_probability_gives_the_first_column_of_the_walk() -> None:
    logits = np.array([[1.0, NAN, 2.0, NAN]])
    assert [int(ops.sample(logits, NO_SEED, 1.0)[0]), int(ops.topk_sample(logits, NO_SEED, 3, 1.0)[0])] == [0, 1]


@pytest.mark.parametrize("temperature", [NAN, -1.0])
def test_temperatures_that_mean_nothing_are_refused(temperature: float) -> None:
    for name, given in (("sample", ()), ("topk_sample", (2,)), ("topp_sample", (0.5,))):
        with pytest.raises(ValueError, match=f"{name}: temperature: expected temperature >= 0, got {temperature}"):
            getattr(ops, name)(draw(1, 4), NO_SEED, *given, temperature)
    with pytest.raises(ValueError, match="topp_sample: top_p: expected a number, got nan"):
        ops.topp_sample(draw(1, 4), NO_SEED, NAN, 1.0)
    with pytest.raises(ValueError, match="topk_sample: k: expected k >= 1, got 0"):
        ops.topk_sample(draw(1, 4), NO_SEED, 0, 1.0)
