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
POOLING = ("max_pool2d", "max_pool2d_backward", "avg_pool2d", "avg_pool2d_backward")

# An operation, what is wrong of its sample arguments, and what is said of it behind the operation's name.
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("silu_backward", {"d_output": ZEROS(1)}, "d_output: expected the shape of input, (9,), got (1,)"),
    ("swiglu", {"up": ZEROS(1)}, "up: expected the shape of gate, (9,), got (1,)"),
    ("swiglu_backward", {"up": ZEROS(1)}, "up: expected the shape of gate, (9,), got (1,)"),
    ("swiglu_backward", {"d_output": ZEROS(1)}, "d_output: expected the shape of gate, (9,), got (1,)"),
    ("add", {"b": ZEROS(1)}, "b: expected the shape of a, (9,), got (1,)"),
    ("mul", {"b": ZEROS(1)}, "b: expected the shape of a, (9,), got (1,)"),
    *(
        (f"{name}_backward", {"d_output": ZEROS(1)}, f"d_output: expected the shape of {of}, (9,), got (1,)")
        for name, of in (
            *(("relu", "input"), ("leaky_relu", "input"), ("elu", "input"), ("sigmoid", "output")),
            *(("tanh", "output"), ("gelu", "input"), ("gelu_tanh", "input")),
        )
    ),
    ("softmax_temperature", {"temperature": 0.0}, "temperature: expected temperature > 0, got 0.0"),
    ("softmax_temperature", {"temperature": np.nan}, "temperature: expected temperature > 0, got nan"),
    ("softmax_temperature_backward", {"temperature": -1.0}, "temperature: expected temperature > 0, got -1.0"),
    (
        "softmax_temperature_backward",
        {"d_output": ZEROS((1, 7))},
        "d_output: expected the shape of output, (4, 7), got (1, 7)",
    ),
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
    ("add_row", {"row": ZEROS(1)}, "row: expected the shape (6,), got (1,)"),
    ("add_column", {"column": ZEROS(1)}, "column: expected the shape (4,), got (1,)"),
    ("dense", {"weight": ZEROS((3, 1))}, "weight: expected 6 columns, got 1"),
    ("dense", {"bias": ZEROS(1)}, "bias: expected the shape (3,), got (1,)"),
    ("dense", {"bias": None}, "bias: expected an array, as has_bias is not 0, got None"),
    ("dense", {"activation": -1}, "activation: expected 0 (linear) to 7 (GELU by tanh), got -1"),
    ("dense_backward", {"weight": ZEROS((3, 1))}, "weight: expected 6 columns, got 1"),
    ("dense_backward", {"activation": 8}, "activation: expected 0 (linear) to 7 (GELU by tanh), got 8"),
    ("dense_backward", {"d_output": ZEROS((1, 3))}, "d_output: expected the shape of pre, (4, 3), got (1, 3)"),
    (
        "dense_backward",
        {"pre": ZEROS((4, 1)), "d_output": ZEROS((4, 1))},
        "pre: expected the shape (4, 3), got (4, 1)",
    ),
    ("map_strided", {"input_offset": 4}, "input: expected every element inside its 27 places, got 4 to 27"),
    ("map_strided", {"input_offset": -1}, "input: expected every element inside its 27 places, got -1 to 22"),
    ("map_strided", {"output_strides": (0, 5, 1)}, "output: expected a place for each element, got shared ones"),
    ("map_strided", {"shape": (2, 3.5, 4)}, "shape: expected whole numbers, got (2, 3.5, 4)"),
    ("map_strided", {"shape": (2, -3, 4)}, "shape: expected lengths from 0 up, got (2, -3, 4)"),
    ("map_strided", {"function": 23}, "function: expected 0 <= function < 23, got 23"),
    ("zip_strided", {"b_strides": (1, 1)}, "b_strides: expected 3 of them, got 2"),
    ("zip_strided", {"function": -1}, "function: expected 0 <= function < 16, got -1"),
    ("reduce_strided", {"output_strides": (1,) * 4}, "output_strides: expected at most 3 axes, those of shape, got 4"),
    ("reduce_strided", {"function": 5}, "function: expected 0 <= function < 5, got 5"),
    ("matmul_strided", {"a_strides": (1,)}, "a_strides: expected 4 of them, got 1"),
    ("matmul_strided", {"b_strides": (1, 1), "shape": (0, 3, 5, 4)}, "b_strides: expected 4 of them, got 2"),
    ("matmul_strided", {"shape": (5, 4)}, "shape: expected at least 3 axes: M, N and K, got 2"),
    ("layernorm", {"weight": ZEROS(1)}, "weight: expected shape (6,), got (1,)"),
    ("layernorm", {"bias": ZEROS(1)}, "bias: expected shape (6,), got (1,)"),
    ("layernorm_backward", {"weight": ZEROS(1)}, "weight: expected shape (6,), got (1,)"),
    ("layernorm_backward", {"d_output": ZEROS((1, 6))}, "d_output: expected the shape of input, (4, 6), got (1, 6)"),
    ("layernorm_backward", {"mean": ZEROS(1)}, "mean: expected shape (4,), got (1,)"),
    ("layernorm_backward", {"rstd": ZEROS(1)}, "rstd: expected shape (4,), got (1,)"),
    (
        "batchnorm_training",
        {"input": ZEROS((3, 2))},
        "input: expected shape (batch, channels, spatial), got (3, 2)",
    ),
    (
        "batchnorm_training",
        {"input": ZEROS((1, 2, 1))},
        "input: expected more than one number in a channel, got (1, 2, 1)",
    ),
    ("batchnorm_training", {"weight": ZEROS(1)}, "weight: expected shape (2,), got (1,)"),
    ("batchnorm_training", {"running_mean": ZEROS(1)}, "running_mean: expected shape (2,), got (1,)"),
    ("batchnorm_training", {"running_var": ZEROS(3)}, "running_var: expected shape (2,), got (3,)"),
    ("batchnorm_evaluation", {"bias": ZEROS(1)}, "bias: expected shape (2,), got (1,)"),
    ("batchnorm_backward", {"rstd": ZEROS(1)}, "rstd: expected shape (2,), got (1,)"),
    (
        "batchnorm_backward",
        {"d_output": ZEROS((3, 2, 1))},
        "d_output: expected the shape of input, (3, 2, 5), got (3, 2, 1)",
    ),
    ("attention_softmax", {"scores": ZEROS((2, 5))}, "scores: expected four axes, got (2, 5)"),
    ("attention_softmax", {"mask": ZEROS(5)}, "mask: expected shape (2, 5), got (5,)"),
    ("attention_softmax", {"mask": None}, "mask: expected shape (2, 5), got ()"),
    (
        "attention_softmax_backward",
        {"d_scores": ZEROS((2, 3, 4, 1))},
        "d_scores: expected the shape of weights, (2, 3, 4, 5), got (2, 3, 4, 1)",
    ),
    ("dropout", {"rate": 1.0}, "rate: expected 0 <= rate < 1, got 1.0"),
    ("dropout", {"rate": -0.5}, "rate: expected 0 <= rate < 1, got -0.5"),
    ("dropout", {"philox": ZEROS(1, np.uint64)}, "philox: expected shape (2,), got (1,)"),
    ("dropout_backward", {"rate": 1.0}, "rate: expected 0 <= rate < 1, got 1.0"),
    ("rnn_forward", {"input": ZEROS((2, 5))}, "input: expected three axes, (batch, steps, input_dim), got (2, 5)"),
    ("rnn_forward", {"w_x": ZEROS((4, 1))}, "w_x: expected shape (4, 5), got (4, 1)"),
    ("rnn_forward", {"bias": None}, "bias: expected shape (4,), got ()"),
    ("rnn_forward", {"h0": ZEROS((1, 4))}, "h0: expected shape (2, 4), got (1, 4)"),
    ("rnn_forward", {"activation": 4}, "activation: expected 1 (ReLU) or 5 (tanh), got 4"),
    ("rnn_backward", {"output": ZEROS((2, 1, 4))}, "output: expected shape (2, 3, 4), got (2, 1, 4)"),
    ("rnn_backward", {"activation": 0}, "activation: expected 1 (ReLU) or 5 (tanh), got 0"),
    ("lstm_forward", {"w_h": ZEROS((4, 4))}, "w_h: expected shape (16, 4), got (4, 4)"),
    ("lstm_forward", {"c0": ZEROS((1, 4))}, "c0: expected shape (2, 4), got (1, 4)"),
    ("lstm_backward", {"gates": ZEROS((2, 3, 4))}, "gates: expected shape (2, 3, 16), got (2, 3, 4)"),
    ("lstm_backward", {"cells": ZEROS((2, 3, 1))}, "cells: expected shape (2, 3, 4), got (2, 3, 1)"),
    ("gru_forward", {"b_h": ZEROS(1)}, "b_h: expected shape (12,), got (1,)"),
    ("gru_backward", {"d_output": ZEROS((2, 3, 1))}, "d_output: expected shape (2, 3, 4), got (2, 3, 1)"),
    ("grouped_gemm", {"offsets": np.array([0, 2, 1, 6])}, "offsets: " + OFFSETS.format("[0 2 1 6]")),
    ("grouped_gemm_swiglu", {"offsets": np.array([0, 2, 1, 6])}, "offsets: " + OFFSETS.format("[0 2 1 6]")),
    ("gemm_swiglu", {"B_up": ZEROS((1, 6))}, "B_up: expected the shape of B_gate, (5, 6), got (1, 6)"),
    (
        "grouped_gemm_swiglu",
        {"B_up": ZEROS((3, 1, 4))},
        "B_up: expected the shape of B_gate, (3, 5, 4), got (3, 1, 4)",
    ),
    ("topk_router", {"top_k": 0}, "top_k: expected 1 <= top_k <= 5 experts, got 0"),
    ("topk_router", {"top_k": 6}, "top_k: expected 1 <= top_k <= 5 experts, got 6"),
    (
        "topk_router_backward",
        {"indices": np.full((6, 2), 5, np.int32)},
        "indices[0, 0]: expected 0 <= value < 5, got 5",
    ),
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
    ("attention_forward", {"V": ZEROS((2, 7, 2, 1))}, "V: expected the shape of K, (2, 7, 2, 6), got (2, 7, 2, 1)"),
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
    ("fused_cross_entropy", {"targets": np.array([2, -1, 7, 0])}, "targets[2]: expected values below 7, got 7"),
    *(
        (f"{loss}_{way}", {"target": ZEROS(1)}, f"target: expected the shape of {first}, (9,), got (1,)")
        for loss, first in (("mse", "prediction"), ("bce", "probability"), ("bce_logits", "logits"))
        for way in ("forward", "backward")
    ),
    *(
        (operation, {"labels": ZEROS((4, 1))}, f"labels: expected the shape of {first}, (4, 7), got (4, 1)")
        for operation, first in (
            ("categorical_cross_entropy_forward", "probabilities"),
            ("categorical_cross_entropy_backward", "probabilities"),
            ("cross_entropy_dense_forward", "logits"),
            ("cross_entropy_dense_backward", "log_probs"),
        )
    ),
    *(
        (f"cross_entropy_dense_{way}", {"temperature": t}, f"temperature: expected temperature > 0, got {t}")
        for way in ("forward", "backward")
        for t in (0.0, -0.5)
    ),
    ("adamw_step", {"step": 0}, "step: expected step >= 1, got 0"),
    *(
        ("adamw_step", {name: ZEROS(1)}, f"{name}: expected the shape of param, (9,), got (1,)")
        for name in ("grad", "m", "v")
    ),
    ("sgd_step", {"grad": ZEROS(1)}, "grad: expected the shape of param, (9,), got (1,)"),
    *(
        ("momentum_step", {name: ZEROS(1)}, f"{name}: expected the shape of param, (9,), got (1,)")
        for name in ("grad", "velocity")
    ),
    *(("momentum_step", {"nesterov": n}, f"nesterov: expected 0 or 1, got {n}") for n in (-1, 2)),
    ("adam_step", {"step": 0}, "step: expected step >= 1, got 0"),
    *(
        ("adam_step", {name: ZEROS(1)}, f"{name}: expected the shape of param, (9,), got (1,)")
        for name in ("grad", "m", "v")
    ),
    ("multi_adamw", {"step": 0}, "step: expected step >= 1, got 0"),
    *(
        ("multi_adamw", {name: [ZEROS((3, 2)), ZEROS(1)]}, f"{name}: expected the shape of params, (5,), got (1,)")
        for name in ("grads", "ms", "vs")
    ),
    ("grad_clip", {"clip_norm": 0.0}, "clip_norm: expected clip_norm > 0, got 0.0"),
    ("clip_scale", {"clip_norm": 0.0}, "clip_norm: expected clip_norm > 0, got 0.0"),
    ("clip_scale", {"clip_norm": -1.0}, "clip_norm: expected clip_norm > 0, got -1.0"),
    ("embedding", {"indices": np.array([0, 6])}, "indices[1]: expected 0 <= value < 6, got 6"),
    ("embedding", {"indices": np.array([-1, 0])}, "indices[0]: expected 0 <= value < 6, got -1"),
    ("scatter_add", {"indices": np.array([4, 1, 4, -1, 0, 4, 1, 6])}, "indices[7]: expected values below 6, got 6"),
    *(
        (operation, {f"{name}_{side}": value}, said.format(f"{name}_{side}"))
        for operation in POOLING
        for side in "hw"
        for name, value, said in (
            ("kernel", 0, "{}: expected at least 1, got 0"),
            ("stride", 0, "{}: expected at least 1, got 0"),
            ("pad", -1, "{}: expected 0 or up to half of the kernel, got -1"),
            ("pad", 2, "{}: expected 0 or up to half of the kernel, got 2"),
        )
    ),
    *((operation, {"kernel_h": 10}, "kernel_h: expected at most the padded size, 9, got 10") for operation in POOLING),
    *((operation, {"kernel_w": 9}, "kernel_w: expected at most the padded size, 8, got 9") for operation in POOLING),
    *(
        (operation, {"count_include_pad": 2}, "count_include_pad: expected 0 or 1, got 2")
        for operation in ("avg_pool2d", "avg_pool2d_backward")
    ),
    *(
        (operation, {"width": 7}, "d_output: expected the shape (2, 3, 4, 8), got (2, 3, 4, 7)")
        for operation in ("max_pool2d_backward", "avg_pool2d_backward")
    ),
    (
        "max_pool2d_backward",
        {"places": ZEROS((2, 3, 4, 1), np.int32)},
        "places: expected the shape of d_output, (2, 3, 4, 7), got (2, 3, 4, 1)",
    ),
    (
        "max_pool2d_backward",
        {"places": np.full((2, 3, 4, 7), 42)},
        "places[0, 0, 0, 0]: expected 0 <= value < 42, got 42",
    ),
    ("slice_steps", {"first": -1}, "first: expected first >= 0, got -1"),
    ("slice_steps", {"count": 0}, "count: expected at least 1, got 0"),
    ("slice_steps", {"first": 4}, "first + count: expected at most 7 steps, got 8"),
    ("slice_steps_backward", {"first": -1}, "first: expected first >= 0, got -1"),
    ("slice_steps_backward", {"first": 4}, "first + count: expected at most 7 steps, got 8"),
    ("concat_steps", {"b": ZEROS((1, 4, 5))}, "b: expected the batch and the width of a, (2, 4, 5), got (1, 4, 5)"),
    ("concat_steps", {"b": ZEROS((2, 4, 1))}, "b: expected the batch and the width of a, (2, 4, 5), got (2, 4, 1)"),
    ("concat_steps_backward", {"steps_a": 0}, "steps_a: expected at least 1, got 0"),
    ("concat_steps_backward", {"steps_b": 0}, "steps_b: expected at least 1, got 0"),
    ("concat_steps_backward", {"steps_a": 4}, "d_output: expected 4 + 4 steps, got 7"),
    ("concat_steps_backward", {"steps_a": 2}, "d_output: expected 2 + 4 steps, got 7"),
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
    ("fused_cross_entropy", {"targets": np.array([6, -1, 0, -7])}),
    ("adamw_step", {"step": 1}),
    ("momentum_step", {"nesterov": 0}),
    ("adam_step", {"step": 1}),
    ("multi_adamw", {"step": 1}),
    ("clip_scale", {"clip_norm": 1e-3}),
    ("embedding", {"indices": np.array([0, 5])}),
    ("scatter_add", {"indices": np.array([4, 1, 4, -9, 0, 4, 1, 5])}),
    ("max_pool2d", {"pad_h": 0}),
    ("max_pool2d", {"kernel_h": 9, "kernel_w": 8}),
    ("max_pool2d_backward", {"places": np.full((2, 3, 4, 7), 41)}),
    ("avg_pool2d", {"count_include_pad": 1}),
    ("avg_pool2d_backward", {"count_include_pad": 1}),
    ("slice_steps", {"first": 0, "count": 7}),
    ("slice_steps_backward", {"first": 3}),
    ("sample", {"temperature": 0.0}),
    ("topk_sample", {"k": 1}),
    ("conv2d", {"dilation_h": 6}),
    ("conv2d", {"pad_h": 0, "pad_w": 0}),
    ("conv2d", {"bias": None, "has_bias": 0}),
    ("dense", {"bias": None, "has_bias": 0}),
    ("dense", {"activation": 0}),
    ("dense_backward", {"activation": 7}),
    ("topp_sample", {"top_p": float("inf")}),
]


@pytest.mark.parametrize(("operation", "given"), TAKEN)
def test_the_last_of_what_means_something_is_taken(operation: str, given: dict[str, Any]) -> None:
    getattr(reference, operation)(**arguments(operation) | given)
