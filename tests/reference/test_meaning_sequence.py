"""What rotation, attention, routing and loss mean where formulas alone do not say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ops
from reference import random
from tests.reference.bounds import assert_agree

INF, NAN = np.inf, np.nan


def draw(*shape: int, stream: int = 0) -> Any:
    return random.normal(random.stream("meaning", stream), shape)


def test_a_probability_of_nothing_costs_a_hundred() -> None:
    p, target = np.array([0.0, 1.0, 0.0, 1.0, 2.0**-1074]), np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    for i, due in enumerate((0.0, 0.0, 100.0, 100.0, 100.0)):
        np.testing.assert_array_equal(ops.bce_forward(p[i : i + 1], target[i : i + 1]), [due])
    np.testing.assert_array_equal(ops.categorical_cross_entropy_forward(p[None, :3], np.array([[0.0, 1.0, 0.5]])), [50])
    # The gradient's divisor is bounded, whatever the logarithm is: by the float32 next to 1e-12.
    np.testing.assert_allclose(ops.bce_backward(p[:4], target[:4], 4.0), [0.0, 0.0, -1e12, 1e12], rtol=2.0**-24)
    for nothing in (np.nan, -0.5, 1.5):
        assert np.isnan(ops.bce_forward(np.array([nothing, 0.5]), np.array([0.5, 0.5]))).all()


def test_a_label_of_nothing_does_not_hide_infinity() -> None:
    logits, labels = np.array([[0.0, -np.inf], [0.0, 0.0]]), np.array([[1.0, 0.0], [0.5, 0.5]])
    loss, log_probs = ops.cross_entropy_dense_forward(logits, labels, 2.0)
    assert np.isnan(loss).all()
    np.testing.assert_array_equal(log_probs[0], [0.0, -np.inf])
    np.testing.assert_array_equal(ops.cross_entropy_dense_backward(log_probs, labels, 2.0, 8.0)[0], [0.0, 0.0])


def test_rotation_turns_interleaved_pairs_by_their_position() -> None:
    freqs = ops.rope_freqs(9, 4, 100.0, 1.0)
    np.testing.assert_array_equal(freqs[:, 0], np.arange(9))
    assert_agree(freqs[:, 1], np.arange(9) / 10, [freqs])
    x = np.array([1.0, 0.0, 0.0, 1.0]).reshape(1, 1, 1, 4)
    expected = [np.cos(3.0), np.sin(3.0), -np.sin(0.3), np.cos(0.3)]
    assert_agree(ops.rope_forward(x, freqs, 3).ravel(), np.array(expected), [x, freqs])
    np.testing.assert_array_equal(ops.rope_forward(x, freqs, 0), x)


def test_rotation_keeps_lengths_and_comes_back() -> None:
    x, freqs = draw(2, 5, 3, 8), ops.rope_freqs(7, 8, 10000.0, 8.0)
    turned = ops.rope_forward(x, freqs, 2)
    assert_agree((turned**2).sum(-1), (x**2).sum(-1), [x, freqs])
    assert_agree(ops.rope_backward(turned, freqs, 2), x, [x, freqs])
    q, k = ops.rope_qk(x, x[:, :, :1], freqs, 2)
    np.testing.assert_array_equal(q, turned)
    np.testing.assert_array_equal(k, turned[:, :, :1])


@pytest.mark.parametrize("offset", [-1, 3])
def test_positions_past_the_angles_are_refused(offset: int) -> None:
    with pytest.raises(ValueError, match=f"rope_forward: offset: expected 0 <= offset <= 2, got {offset}"):
        ops.rope_forward(draw(1, 5, 1, 4), draw(7, 2), offset)


@pytest.mark.parametrize(("argument", "value"), [("head_dim", 2), ("head_dim", 7), ("base", 0.0), ("alpha", -1.0)])
def test_angles_of_nothing_are_refused(argument: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"rope_freqs: {argument}: expected"):
        ops.rope_freqs(**({"max_seq_len": 4, "head_dim": 8, "base": 100.0, "alpha": 1.0} | {argument: value}))


def test_angles_stretched_without_end_stand_still_but_for_the_first() -> None:
    freqs = ops.rope_freqs(3, 4, 100.0, 1e300)
    np.testing.assert_array_equal(freqs, [[0, 0], [1, 0], [2, 0]])


def test_attention_sees_no_later_key() -> None:
    Q, K, V = draw(2, 5, 4, 6), draw(2, 5, 2, 6, stream=1), draw(2, 5, 2, 6, stream=2)
    output, lse = ops.attention_forward(Q, K, V, 5, 0.4)
    for head in range(4):
        np.testing.assert_array_equal(output[:, 0, head], V[:, 0, head // 2])  # one key: its value, whatever its score
    K[:, 3:], V[:, 3:] = 1e9, -1e9
    again, lse_again = ops.attention_forward(Q, K, V, 5, 0.4)
    np.testing.assert_array_equal(again[:, :3], output[:, :3])
    np.testing.assert_array_equal(lse_again[:, :, :3], lse[:, :, :3])


def test_each_group_of_query_heads_reads_its_own_kv_head() -> None:
    Q, K, V = draw(1, 5, 6, 4), draw(1, 5, 3, 4, stream=1), draw(1, 5, 3, 4, stream=2)
    grouped = ops.flash_attention(Q, K, V, 0.5)
    for head in range(6):
        own = np.s_[:, :, [head // 2]]
        assert_agree(grouped[:, :, [head]], ops.flash_attention(Q[:, :, [head]], K[own], V[own], 0.5), [Q, K, V])


def test_cached_attention_is_the_end_of_the_whole() -> None:
    Q, K, V = draw(2, 7, 4, 6), draw(2, 7, 2, 6, stream=1), draw(2, 7, 2, 6, stream=2)
    output, lse = ops.attention_forward(Q, K, V, 7, 0.4)
    room = np.full((2, 4, 2, 6), NAN)  # beyond kv_len nothing is read
    keys, values = (np.concatenate([x, room], axis=1) for x in (K, V))
    for q_len in (1, 3):
        last, last_lse = ops.attention_forward(Q[:, -q_len:], keys, values, 7, 0.4)
        assert_agree(last, output[:, -q_len:], [Q, K, V])
        assert_agree(last_lse, lse[:, :, -q_len:], [Q, K, V])
    with pytest.raises(ValueError, match="attention_forward: kv_len: expected 7 queries <= kv_len <= 11 keys, got 6"):
        ops.attention_forward(Q, keys, values, 6, 0.4)


def test_two_step_attention_is_the_fused_one() -> None:
    Q, K, V = draw(2, 5, 4, 6), draw(2, 5, 6, stream=1), draw(2, 5, 6, stream=2)
    scores = ops.attention_scores(Q, K, 0.4)
    np.testing.assert_array_equal(np.isneginf(scores), np.broadcast_to(np.triu(np.ones((5, 5)), 1) > 0, scores.shape))
    fused = ops.flash_attention(Q, K[:, :, None], V[:, :, None], 0.4)
    assert_agree(ops.attention_output(ops.softmax(scores), V), fused, [Q, K, V])


def test_attention_of_heads_that_cannot_be_shared_is_refused() -> None:
    with pytest.raises(ValueError, match="flash_attention: Q: expected a multiple of 2 KV heads, got 3"):
        ops.flash_attention(draw(1, 4, 3, 2), draw(1, 4, 2, 2), draw(1, 4, 2, 2), 1.0)


def test_the_cache_changes_only_where_it_is_told() -> None:
    new, cache = draw(2, 3, 2, 4), draw(2, 8, 2, 4, stream=1)
    for position in (0, 2, 5):
        result = ops.kv_cache_append(new, cache, position)
        np.testing.assert_array_equal(result[:, position : position + 3], new)
        kept = np.delete(np.arange(8), np.s_[position : position + 3])
        np.testing.assert_array_equal(result[:, kept], cache[:, kept])
    with pytest.raises(ValueError, match="kv_cache_append: position: expected 0 <= position <= 5, got 6"):
        ops.kv_cache_append(new, cache, 6)


@given(tokens=st.integers(1, 12), top_k=st.integers(1, 4), n_experts=st.integers(1, 6), seed=st.integers(0, 99))
def test_sorting_lays_pairs_out_by_expert_in_token_order(tokens: int, top_k: int, n_experts: int, seed: int) -> None:
    indices = random.integers(seed, 0, n_experts, (tokens, top_k)).astype(np.int32)
    offsets, position = ops.expert_sort(indices, n_experts)
    pairs = sorted(np.ndindex(tokens, top_k), key=lambda pair: (indices[pair], pair))
    assert [int(position[pair]) for pair in pairs] == list(range(tokens * top_k))
    assert offsets.tolist() == [int((indices < e).sum()) for e in range(n_experts + 1)]


def test_combining_undoes_dispatching() -> None:
    x, weights = draw(6, 5), ops.softmax_topk(draw(6, 4, stream=1), 2)[0]
    _, position = ops.expert_sort(ops.softmax_topk(draw(6, 4, stream=1), 2)[1], 4)
    rows = ops.expert_dispatch(x, position)
    assert_agree(ops.expert_combine(rows, weights, position), x, [rows, weights])
    assert_agree(ops.expert_dispatch_backward(rows, position), 2 * x, [x])


@pytest.mark.parametrize("position", [[[0, 1], [1, 2]], [[0, 1], [2, 4]], [[0, -1], [2, 3]]])
def test_positions_that_are_no_permutation_are_refused(position: Any) -> None:
    with pytest.raises(ValueError, match=r"expert_dispatch: position(\[\d, \d\])?: expected"):
        ops.expert_dispatch(draw(2, 3), np.array(position))


def test_the_auxiliary_loss_of_even_routing_is_alpha_times_top_k() -> None:
    experts = np.array([[0, 1], [2, 3], [1, 0], [3, 2]])
    loss, f_counts, p_means = ops.aux_loss_forward(np.full((4, 4), 0.25), experts, 0.5)
    np.testing.assert_array_equal(loss, [0.5 * 2])
    np.testing.assert_array_equal(f_counts, [2, 2, 2, 2])
    np.testing.assert_array_equal(p_means, [0.25] * 4)
    np.testing.assert_array_equal(ops.aux_loss_backward(f_counts, 4, 0.5, 3.0), np.full((4, 4), 3 * 0.5 * 4 * 2 / 16))


def test_loss_of_ignored_rows() -> None:
    logits = draw(3, 5)
    logits[1] = NAN
    loss, log_probs = ops.cross_entropy_forward(logits, np.array([4, -1, 0]))
    assert_agree(loss, -(log_probs[[0]][:, 4] + log_probs[[2]][:, 0]) / 2, [logits[[0, 2]]])
    d_logits = ops.cross_entropy_backward(log_probs, np.array([4, -1, 0]), 0.5)
    np.testing.assert_array_equal(d_logits[1], 0)
    assert_agree(d_logits.sum(axis=1), np.zeros(3), [logits[[0, 2]]])
    none, _ = ops.cross_entropy_forward(logits, np.array([-1, -1, -9]))
    np.testing.assert_array_equal(none, [0.0])


def test_loss_and_gradient_at_once_are_those_of_the_two_calls() -> None:
    logits, targets = draw(4, 5), np.array([4, -1, 0, 2])
    logits[1] = NAN
    loss, log_probs = ops.cross_entropy_forward(logits, targets)
    d_logits, also_loss, lse = ops.fused_cross_entropy(logits, targets, 0.25)
    np.testing.assert_array_equal(d_logits, ops.cross_entropy_backward(log_probs, targets, 0.25))
    np.testing.assert_array_equal(also_loss, loss)
    np.testing.assert_array_equal(logits - lse[:, None], log_probs)


def test_log_sum_exp_of_rows_without_a_finite_maximum_is_none() -> None:
    logits = np.array([[-np.inf, -np.inf], [np.inf, 0.0], [-np.inf, 0.0]])
    d_logits, loss, lse = ops.fused_cross_entropy(logits, np.array([-1, -1, 1]), 1.0)
    np.testing.assert_array_equal(lse, [NAN, NAN, 0.0])
    np.testing.assert_array_equal(d_logits, 0.0)
    np.testing.assert_array_equal(loss, [0.0])


def test_loss_does_not_saturate() -> None:
    loss, log_probs = ops.cross_entropy_forward(np.array([[0.0, 3000.0], [0.0, 3000.0]]), np.array([0, 0]))
    np.testing.assert_array_equal(loss, [3000.0])
    np.testing.assert_array_equal(log_probs[:, 1], 0)


def test_targets_past_the_vocabulary_are_refused() -> None:
    for function, rest in ((ops.cross_entropy_forward, ()), (ops.cross_entropy_backward, (1.0,))):
        with pytest.raises(ValueError, match=rf"{function.__name__}: targets\[1\]: expected values below 5, got 5"):
            function(draw(3, 5), np.array([0, 5, 1]), *rest)
