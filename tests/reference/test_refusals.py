"""Arguments that mean nothing: every check of the operations, on its border, with all that its message says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from tests.errors import error_of
from tests.reference.samples import arguments

ZEROS = np.zeros
CONVOLUTIONS = ("conv2d", "conv2d_backward_input", "conv2d_backward_weight")
OFFSETS = "expected 4 values ascending from 0 to 6 rows, got {}"

# An operation, what is wrong of its sample arguments, and what is said of it behind the operation's name.
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("silu_backward", {"d_output": ZEROS(1)}, "d_output: expected the shape of input, (9,), got (1,)"),
    ("swiglu", {"up": ZEROS(1)}, "up: expected the shape of gate, (9,), got (1,)"),
    ("swiglu_backward", {"up": ZEROS(1)}, "up: expected the shape of gate, (9,), got (1,)"),
    ("swiglu_backward", {"d_output": ZEROS(1)}, "d_output: expected the shape of gate, (9,), got (1,)"),
    ("add", {"b": ZEROS(1)}, "b: expected the shape of a, (9,), got (1,)"),
    ("mul", {"b": ZEROS(1)}, "b: expected the shape of a, (9,), got (1,)"),
    ("softmax_backward", {"d_output": ZEROS((1, 7))}, "d_output: expected the shape of output, (4, 7), got (1, 7)"),
    ("softmax_topk", {"k": 0}, "k: expected 1 <= k <= 7 columns, got 0"),
    ("softmax_topk", {"k": 8}, "k: expected 1 <= k <= 7 columns, got 8"),
    (
        "softmax_topk_backward",
        {"indices": ZEROS((4, 1), np.int32)},
        "indices: expected the shape of weights, (4, 3), got (4, 1)",
    ),
    (
        "softmax_topk_backward",
        {"d_weights": ZEROS((1, 3))},
        "d_weights: expected the shape of weights, (4, 3), got (1, 3)",
    ),
    (
        "softmax_topk_backward",
        {"indices": np.array([[0, 1, 2]] * 3 + [[3, 7, 4]], np.int32)},
        "indices[3, 1]: expected 0 <= value < 7, got 7",
    ),
    ("rmsnorm", {"weight": ZEROS(1)}, "weight: expected shape (6,), got (1,)"),
    ("rmsnorm", {"weight": ZEROS(7)}, "weight: expected shape (6,), got (7,)"),
    ("rmsnorm_backward", {"weight": ZEROS(1)}, "weight: expected shape (6,), got (1,)"),
    ("rmsnorm_backward", {"d_output": ZEROS((1, 6))}, "d_output: expected the shape of input, (4, 6), got (1, 6)"),
    ("rmsnorm_residual", {"residual": ZEROS((1, 6))}, "residual: expected the shape of input, (4, 6), got (1, 6)"),
    ("rmsnorm_residual", {"weight": ZEROS(1)}, "weight: expected shape (6,), got (1,)"),
    ("rmsnorm_residual_backward", {"weight": ZEROS(1)}, "weight: expected shape (6,), got (1,)"),
    (
        "rmsnorm_residual_backward",
        {"d_output": ZEROS((1, 6))},
        "d_output: expected the shape of residual_out, (4, 6), got (1, 6)",
    ),
    (
        "rmsnorm_residual_backward",
        {"d_residual_out": ZEROS((1, 6))},
        "d_residual_out: expected the shape of residual_out, (4, 6), got (1, 6)",
    ),
    ("grouped_gemm", {"offsets": np.array([0, 2, 1, 6])}, "offsets: " + OFFSETS.format("[0 2 1 6]")),
    ("grouped_gemm_nn", {"offsets": np.array([1, 2, 2, 6])}, "offsets: " + OFFSETS.format("[1 2 2 6]")),
    ("grouped_gemm_tn", {"offsets": np.array([0, 2, 2, 5])}, "offsets: " + OFFSETS.format("[0 2 2 5]")),
    ("rope_freqs", {"head_dim": 2}, "head_dim: expected an even number above 2, got 2"),
    ("rope_freqs", {"head_dim": 5}, "head_dim: expected an even number above 2, got 5"),
    ("rope_freqs", {"base": 0.0}, "base: expected base > 0, got 0.0"),
    ("rope_freqs", {"alpha": 0.0}, "alpha: expected alpha > 0, got 0.0"),
    *(
        (op, {"offset": o}, f"offset: expected 0 <= offset <= 3, got {o}")
        for op in ("rope_forward", "rope_backward", "rope_qk", "rope_qk_backward")
        for o in (-1, 4)
    ),
    ("attention_forward", {"kv_len": 2}, "kv_len: expected 3 queries <= kv_len <= 7 keys, got 2"),
    ("attention_forward", {"kv_len": 8}, "kv_len: expected 3 queries <= kv_len <= 7 keys, got 8"),
    ("attention_forward", {"V": ZEROS((2, 7, 2, 1))}, "V: expected the shape of K, (2, 5, 2, 6), got (2, 5, 2, 1)"),
    ("flash_attention", {"Q": ZEROS((2, 5, 3, 6))}, "Q: expected a multiple of 2 KV heads, got 3"),
    ("flash_attention", {"V": ZEROS((2, 5, 2, 1))}, "V: expected the shape of K, (2, 5, 2, 6), got (2, 5, 2, 1)"),
    ("attention_backward", {"V": ZEROS((2, 5, 2, 1))}, "V: expected the shape of K, (2, 5, 2, 6), got (2, 5, 2, 1)"),
    (
        "attention_backward",
        {"output": ZEROS((2, 1, 4, 6))},
        "output: expected the shape of Q, (2, 5, 4, 6), got (2, 1, 4, 6)",
    ),
    (
        "attention_backward",
        {"d_output": ZEROS((2, 1, 4, 6))},
        "d_output: expected the shape of Q, (2, 5, 4, 6), got (2, 1, 4, 6)",
    ),
    ("kv_cache_append", {"position": -1}, "position: expected 0 <= position <= 4, got -1"),
    ("kv_cache_append", {"position": 5}, "position: expected 0 <= position <= 4, got 5"),
    ("expert_sort", {"indices": np.array([[0, 1], [5, 2]])}, "indices[1, 0]: expected 0 <= value < 5, got 5"),
    ("expert_sort", {"indices": np.array([[0, -1]])}, "indices[0, 1]: expected 0 <= value < 5, got -1"),
    ("expert_dispatch", {"position": np.array([[0, 1], [2, 4]])}, "position[1, 1]: expected 0 <= value < 4, got 4"),
    (
        "expert_dispatch",
        {"position": np.array([[0, 1], [2, 2]])},
        "position: expected a permutation, got repeated values",
    ),
    (
        "expert_dispatch_backward",
        {"position": np.array([[0, 1], [2, 10]])},
        "position[1, 1]: expected 0 <= value < 10, got 10",
    ),
    ("expert_combine", {"weights": ZEROS((5, 1))}, "position: expected the shape of weights, (5, 1), got (5, 2)"),
    (
        "expert_combine",
        {"weights": ZEROS((1, 2)), "position": np.array([[0, 10]])},
        "position[0, 1]: expected 0 <= value < 10, got 10",
    ),
    (
        "expert_combine_backward",
        {"weights": ZEROS((5, 1))},
        "position: expected the shape of weights, (5, 1), got (5, 2)",
    ),
    (
        "expert_combine_backward",
        {"weights": ZEROS((1, 2)), "position": np.array([[1, 1]])},
        "position: expected a permutation, got repeated values",
    ),
    ("aux_loss_forward", {"expert_indices": ZEROS((1, 2), np.int32)}, "expert_indices: expected 6 rows, got 1"),
    (
        "aux_loss_forward",
        {"expert_indices": np.array([[0, 1]] * 5 + [[5, 1]])},
        "expert_indices[5, 0]: expected 0 <= value < 5, got 5",
    ),
    ("cross_entropy_forward", {"targets": np.array([2, -1, 7, 0])}, "targets[2]: expected values below 7, got 7"),
    ("cross_entropy_backward", {"targets": np.array([2, -1, 7, 0])}, "targets[2]: expected values below 7, got 7"),
    ("adamw_step", {"step": 0}, "step: expected step >= 1, got 0"),
    *(
        ("adamw_step", {name: ZEROS(1)}, f"{name}: expected the shape of param, (9,), got (1,)")
        for name in ("grad", "m", "v")
    ),
    ("multi_adamw", {"step": 0}, "step: expected step >= 1, got 0"),
    *(
        ("multi_adamw", {name: [ZEROS((3, 2)), ZEROS(1)]}, f"{name}: expected the shape of params, (5,), got (1,)")
        for name in ("grads", "ms", "vs")
    ),
    ("clip_scale", {"clip_norm": 0.0}, "clip_norm: expected clip_norm > 0, got 0.0"),
    ("embedding", {"indices": np.array([0, 6])}, "indices[1]: expected 0 <= value < 6, got 6"),
    ("embedding", {"indices": np.array([-1, 0])}, "indices[0]: expected 0 <= value < 6, got -1"),
    ("scatter_add", {"indices": np.array([4, 1, 4, -1, 0, 4, 1, 6])}, "indices[7]: expected values below 6, got 6"),
    *(
        (operation, {"temperature": -0.5}, "temperature: expected temperature >= 0, got -0.5")
        for operation in ("sample", "topk_sample", "topp_sample")
    ),
    ("topk_sample", {"k": 0}, "k: expected k >= 1, got 0"),
    *(
        (operation, {name: least - 1}, f"{name}: expected at least {least}, got {least - 1}")
        for operation in CONVOLUTIONS
        for name, least in (
            *(("stride_h", 1), ("stride_w", 1), ("pad_h", 0), ("pad_w", 0)),
            *(("dilation_h", 1), ("dilation_w", 1), ("groups", 1)),
        )
    ),
    *(
        (operation, {"groups": 3}, "groups: expected a divisor of 4 input channels, got 3")
        for operation in CONVOLUTIONS
    ),
    *(
        (operation, {"groups": 4}, "groups: expected a divisor of 6 output channels, got 4")
        for operation in CONVOLUTIONS
    ),
    ("conv2d", {"bias": None}, "bias: expected an array, as has_bias is not 0, got None"),
    ("conv2d", {"bias": ZEROS(5)}, "bias: expected the shape (6,), got (5,)"),
    ("conv2d", {"groups": 1}, "weight: expected 4 channels a group, got 2"),
    ("conv2d_backward_input", {"groups": 1}, "weight: expected 4 channels a group, got 2"),
    *(
        (operation, {"dilation_h": 7}, "kernel_h: expected one that spans at most 7 places, got 8")
        for operation in CONVOLUTIONS
    ),
    *(
        (operation, {"dilation_w": 5}, "kernel_w: expected one that spans at most 10 places, got 11")
        for operation in CONVOLUTIONS
    ),
    *(
        (operation, {"stride_h": 1}, "d_output: expected the shape (2, 6, 6, 6), got (2, 6, 3, 6)")
        for operation in CONVOLUTIONS[1:]
    ),
    ("topp_sample", {"top_p": float("nan")}, "top_p: expected a number, got nan"),
]


@pytest.mark.parametrize(("operation", "wrong", "said"), REFUSED)
def test_what_means_nothing_is_refused_with_what_was_expected(operation: str, wrong: dict[str, Any], said: str) -> None:
    error = error_of(ValueError, getattr(reference, operation), **arguments(operation) | wrong)
    assert str(error) == f"{operation}: {said}"


# What lies just inside of the borders above.
TAKEN: list[tuple[str, dict[str, Any]]] = [
    ("softmax_topk", {"k": 1}),
    ("softmax_topk", {"k": 7}),
    ("softmax_topk_backward", {"indices": np.array([[0, 1, 6]] * 4, np.int32)}),
    ("rope_freqs", {"head_dim": 4}),
    ("rope_freqs", {"base": 0.5}),
    ("rope_freqs", {"alpha": 0.5}),
    *(
        (operation, {"offset": o})
        for operation in ("rope_forward", "rope_backward", "rope_qk", "rope_qk_backward")
        for o in (0, 3)
    ),
    ("attention_forward", {"kv_len": 3}),
    ("attention_forward", {"kv_len": 7}),
    ("kv_cache_append", {"position": 0}),
    ("kv_cache_append", {"position": 4}),
    ("expert_sort", {"indices": np.array([[0, 4]])}),
    ("expert_dispatch_backward", {"position": np.array([[0, 9]])}),
    ("expert_combine", {"weights": ZEROS((1, 2)), "position": np.array([[0, 9]])}),
    ("aux_loss_forward", {"expert_indices": np.array([[0, 4]] * 6)}),
    ("cross_entropy_forward", {"targets": np.array([6, -1, 0, -7])}),
    ("cross_entropy_backward", {"targets": np.array([6, -1, 0, -7])}),
    ("adamw_step", {"step": 1}),
    ("multi_adamw", {"step": 1}),
    ("clip_scale", {"clip_norm": 1e-3}),
    ("embedding", {"indices": np.array([0, 5])}),
    ("scatter_add", {"indices": np.array([4, 1, 4, -9, 0, 4, 1, 5])}),
    ("sample", {"temperature": 0.0}),
    ("topk_sample", {"k": 1}),
    ("conv2d", {"dilation_h": 6}),
    ("conv2d", {"pad_h": 0, "pad_w": 0}),
    ("conv2d", {"bias": None, "has_bias": 0}),
    ("topp_sample", {"top_p": float("inf")}),
]


@pytest.mark.parametrize(("operation", "given"), TAKEN)
def test_the_last_of_what_means_something_is_taken(operation: str, given: dict[str, Any]) -> None:
    getattr(reference, operation)(**arguments(operation) | given)
