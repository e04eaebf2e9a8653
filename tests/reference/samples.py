"""One set of arguments per operation, by the header's names: small, without symmetry, different at every size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import reference
from bindings import read_header
from reference import random
from reference.ops import sixteen


class Draw:
    """Random arrays of one dtype, each from its own stream."""

    def __init__(self, name: str, dtype: Any) -> None:
        self.name, self.dtype, self.drawn = name, dtype, 0

    def _seed(self) -> int:
        self.drawn += 1
        return random.stream("samples", self.name, self.drawn)

    def normal(self, *shape: int) -> Any:
        return random.normal(self._seed(), shape).astype(self.dtype)

    def positive(self, *shape: int) -> Any:
        """Between 0.25 and 1.25."""
        return (random.uniform(self._seed(), shape) + 0.25).astype(self.dtype)

    def probability(self, *shape: int) -> Any:
        """Between 0.125 and 0.875."""
        return (0.75 * random.uniform(self._seed(), shape) + 0.125).astype(self.dtype)

    def integers(self, high: int, *shape: int, low: int = 0) -> Any:
        return random.integers(self._seed(), low, high, shape).astype(np.int32)

    def permutation(self, *shape: int) -> Any:
        return random.permutation(self._seed(), int(np.prod(shape))).astype(np.int32).reshape(shape)

    def seeds(self, n: int) -> Any:
        return random.words(self._seed(), 0, n)

    def scalar(self, *values: float) -> Any:
        return np.array(values, self.dtype)


def _gemm(draw: Draw, A: tuple[int, int], B: tuple[int, int]) -> dict[str, Any]:
    return {"A": draw.normal(*A), "B": draw.normal(*B), "C": draw.normal(3, 5), "alpha": 0.75, "beta": -0.5}


def _attention(draw: Draw, heads: int = 4, kv_heads: int = 2) -> dict[str, Any]:
    shapes = {"Q": (2, 5, heads, 6), "K": (2, 5, kv_heads, 6), "V": (2, 5, kv_heads, 6)}
    return {name: draw.normal(*shape) for name, shape in shapes.items()} | {"scale": 0.4}


def _attention_backward(draw: Draw) -> dict[str, Any]:
    given = _attention(draw)
    output, lse = reference.attention_forward(given["Q"], given["K"], given["V"], 5, given["scale"])
    return given | {"output": output, "lse": lse, "d_output": draw.normal(*output.shape)}


def _attention_softmax(draw: Draw) -> dict[str, Any]:
    """A mask that leaves the second sequence its first three keys, and a first query ahead of all keys."""
    mask = np.where(np.arange(5) < [[5], [3]], draw.normal(2, 5), draw.dtype(-np.inf))
    numbers = {"scale": 0.4, "has_mask": 1, "causal": 1, "offset": -1}
    return {"scores": draw.normal(2, 3, 4, 5), "mask": mask.astype(draw.dtype), **numbers}


def _chosen(draw: Draw) -> dict[str, Any]:
    weights, indices = reference.softmax_topk(draw.normal(4, 7), 3)
    return {"weights": weights, "indices": indices, "d_weights": draw.normal(4, 3), "cols": 7}


def _routed(draw: Draw) -> dict[str, Any]:
    weights, indices, probs, _, f_counts, _ = reference.topk_router(draw.normal(6, 5), 2, 0.5)
    routed = {"weights": weights, "indices": indices, "probs": probs, "f_counts": f_counts}
    return {**routed, "d_weights": draw.normal(6, 2), "alpha": 3.0, "scale": 0.7}


def _pooled(draw: Draw) -> dict[str, Any]:
    _, places = reference.max_pool2d(draw.normal(2, 3, 7, 6), **_WINDOW)
    return {"d_output": draw.normal(*places.shape), "places": places, "height": 7, "width": 6, **_WINDOW}


def _log_probs(draw: Draw) -> Any:
    return reference.cross_entropy_forward(draw.normal(4, 7), np.zeros(4, np.int32))[1]


def _recurrent(draw: Draw, parts: int, *states: str) -> dict[str, Any]:
    """What a recurrent layer reads of 2 samples of 3 steps, 4 wide inside and 5 wide outside."""
    shapes = {"input": (2, 3, 5), "w_x": (parts * 4, 5), "w_h": (parts * 4, 4)} | dict.fromkeys(states, (2, 4))
    return {name: draw.normal(*shape) for name, shape in shapes.items()}


def _rnn(draw: Draw) -> dict[str, Any]:
    return _recurrent(draw, 1, "h0") | {"bias": draw.normal(4), "activation": 5, "has_bias": 1, "has_h0": 1}


def _rnn_backward(draw: Draw) -> dict[str, Any]:
    given = _recurrent(draw, 1, "h0")
    output = reference.rnn_forward(**given, bias=None, activation=5, has_bias=0, has_h0=1)
    old = {"d_w_x": draw.normal(4, 5), "d_w_h": draw.normal(4, 4), "d_bias": draw.normal(4)}
    return given | old | {"output": output, "d_output": draw.normal(2, 3, 4), "activation": 5, "has_h0": 1, "beta": 0.5}


def _lstm(draw: Draw) -> dict[str, Any]:
    return _recurrent(draw, 4, "h0", "c0") | {"bias": draw.normal(16), "has_bias": 1, "has_state": 1}


def _lstm_backward(draw: Draw) -> dict[str, Any]:
    given = _recurrent(draw, 4, "h0", "c0")
    results = reference.lstm_forward(**given, bias=None, has_bias=0, has_state=1)
    old = {"d_w_x": draw.normal(16, 5), "d_w_h": draw.normal(16, 4), "d_bias": draw.normal(16)}
    forward = dict(zip(("output", "cells", "gates"), results, strict=True))
    return given | forward | old | {"d_output": draw.normal(2, 3, 4), "has_state": 1, "beta": 0.5}


def _gru(draw: Draw) -> dict[str, Any]:
    biases = {"b_x": draw.normal(12), "b_h": draw.normal(12)}
    return _recurrent(draw, 3, "h0") | biases | {"has_bias": 1, "has_h0": 1}


def _gru_backward(draw: Draw) -> dict[str, Any]:
    given = _recurrent(draw, 3, "h0")
    output, gates = reference.gru_forward(**given, b_x=None, b_h=None, has_bias=0, has_h0=1)
    old = {"d_w_x": draw.normal(12, 5), "d_w_h": draw.normal(12, 4), "d_b_x": draw.normal(12), "d_b_h": draw.normal(12)}
    forward = {"output": output, "gates": gates}
    return given | forward | old | {"d_output": draw.normal(2, 3, 4), "has_h0": 1, "beta": 0.5}


def _adamw(draw: Draw, *shape: int) -> dict[str, Any]:
    return {
        "param": draw.normal(*shape),
        "grad": draw.normal(*shape),
        "m": draw.normal(*shape),
        "v": draw.positive(*shape),
    }


def _multi_adamw(draw: Draw) -> dict[str, Any]:
    several = [_adamw(draw, *shape) for shape in ((3, 2), (5,))]
    return {f"{name}s": [one[name] for one in several] for name in several[0]} | {
        "weight_decays": draw.scalar(0.125, 0.0),
        "grad_scale": draw.scalar(0.5),
        **_HYPER,
    }


def _normed(draw: Draw) -> dict[str, Any]:
    """A norm's input, weight and what its forward pass has stored."""
    x, weight = draw.normal(4, 6), draw.normal(6)
    _, mean, rstd = reference.layernorm(x, weight, weight, 0.01)
    return {"input": x, "weight": weight, "mean": mean, "rstd": rstd}


def _channels(draw: Draw, *names: str) -> dict[str, Any]:
    """A batch of images with two channels, and numbers of theirs, none of them negative."""
    return {"input": draw.normal(3, 2, 5)} | {name: draw.positive(2) for name in names}


def _batch_normed(draw: Draw) -> dict[str, Any]:
    given = _channels(draw, "weight")
    rest = given["weight"]
    _, mean, rstd, *_ = reference.batchnorm_training(given["input"], rest, rest, rest, rest, 0.1, 0.01)
    return given | {"mean": mean, "rstd": rstd}


def _input_and_gradient(draw: Draw) -> dict[str, Any]:
    return {"input": draw.normal(9), "d_output": draw.normal(9)}


_STEPS = {"stride_h": 2, "stride_w": 1, "pad_h": 1, "pad_w": 2, "dilation_h": 1, "dilation_w": 2, "groups": 2}


def _convolution(draw: Draw) -> dict[str, Any]:
    """Planes of 5 x 6 and their results of 3 x 6, kernels of 2 x 3, 4 channels to 6 in two groups."""
    return {"input": draw.normal(2, 4, 5, 6), "weight": draw.normal(6, 2, 2, 3), "d_output": draw.normal(2, 6, 3, 6)}


def _of_convolution(draw: Draw, *names: str) -> dict[str, Any]:
    made = _convolution(draw)
    return {name: made[name] for name in names} | _STEPS


def _strides(*, of: str, offset: int, strides: tuple[int, ...]) -> dict[str, Any]:
    return {f"{of}_strides": np.array(strides, np.int64), f"{of}_offset": offset}


def _tensors(draw: Draw, *inputs: str, **scalars: float) -> dict[str, Any]:
    """Tensors of 2 x 3 x 4: the first input turned, the second the same along its middle axis, the output in a gap."""
    made: dict[str, Any] = {"shape": np.array((2, 3, 4), np.int64), "output": draw.normal(32)}
    lies = [{"offset": 1, "strides": (1, 8, 2)}, {"offset": 7, "strides": (-4, 0, 1)}]
    for name, laid in zip(inputs, lies, strict=False):
        made |= {name: draw.normal(27)} | _strides(of=name, **laid)
    return made | _strides(of="output", offset=2, strides=(15, 5, 1)) | scalars


def _reduced(draw: Draw) -> dict[str, Any]:
    return _tensors(draw, "input", function=0, start=0.5) | _strides(of="output", offset=31, strides=(-20, -5))


def _multiplied(draw: Draw) -> dict[str, Any]:
    """Two products of 3 x 4 and 4 x 5."""
    made: dict[str, Any] = {"shape": np.array((2, 3, 5, 4), np.int64), "output": draw.normal(40)}
    a = {"a": draw.normal(26)} | _strides(of="a", offset=1, strides=(12, 4, 0, 1))
    b = {"b": draw.normal(40)} | _strides(of="b", offset=0, strides=(20, 0, 1, 5))
    return made | a | b | _strides(of="output", offset=3, strides=(15, 1, 3))


_HYPER = {"lr": 0.01, "beta1": 0.9, "beta2": 0.95, "eps": 0.03, "step": 3}
_WINDOW = {"kernel_h": 3, "kernel_w": 2, "stride_h": 2, "stride_w": 1, "pad_h": 1, "pad_w": 1}
_OFFSETS = np.array([0, 2, 2, 6], np.int32)  # the middle expert owns no row

SAMPLES: dict[str, Callable[[Draw], dict[str, Any]]] = {
    "silu": lambda d: {"input": d.normal(9)},
    "silu_backward": lambda d: {"input": d.normal(9), "d_output": d.normal(9)},
    "swiglu": lambda d: {"gate": d.normal(9), "up": d.normal(9)},
    "swiglu_backward": lambda d: {"gate": d.normal(9), "up": d.normal(9), "d_output": d.normal(9)},
    "add": lambda d: {"a": d.normal(9), "b": d.normal(9)},
    "mul": lambda d: {"a": d.normal(9), "b": d.normal(9)},
    "scale": lambda d: {"input": d.normal(9), "scale": 0.3},
    "softmax": lambda d: {"input": d.normal(4, 7)},
    "softmax_backward": lambda d: {"output": reference.softmax(d.normal(4, 7)), "d_output": d.normal(4, 7)},
    "softmax_topk": lambda d: {"input": d.normal(4, 7), "k": 3},
    "softmax_topk_backward": _chosen,
    "rmsnorm": lambda d: {"input": d.normal(4, 6), "weight": d.normal(6), "eps": 0.01},
    "rmsnorm_backward": lambda d: {
        "input": d.normal(4, 6),
        "weight": d.normal(6),
        "d_output": d.normal(4, 6),
        "d_weight": d.normal(6),
        "eps": 0.01,
        "beta": 0.5,
    },
    "rmsnorm_residual": lambda d: {
        "input": d.normal(4, 6),
        "residual": d.normal(4, 6),
        "weight": d.normal(6),
        "eps": 0.01,
    },
    "rmsnorm_residual_backward": lambda d: {
        "residual_out": d.normal(4, 6),
        "weight": d.normal(6),
        "d_output": d.normal(4, 6),
        "d_residual_out": d.normal(4, 6),
        "d_weight": d.normal(6),
        "eps": 0.01,
        "beta": 0.5,
    },
    "gemm": lambda d: {"A": d.normal(3, 4), "B": d.normal(5, 4)},
    "router_gemm": lambda d: {"A": d.normal(3, 4), "B": d.normal(5, 4)},
    "gemm_beta": lambda d: _gemm(d, (3, 4), (5, 4)),
    "gemm_nn": lambda d: _gemm(d, (3, 4), (4, 5)),
    "gemm_tn": lambda d: _gemm(d, (4, 3), (4, 5)),
    "gemm_tt": lambda d: _gemm(d, (4, 3), (5, 4)),
    "batched_gemm": lambda d: {"A": d.normal(2, 3, 4), "B": d.normal(2, 5, 4)},
    "grouped_gemm": lambda d: {"A": d.normal(6, 4), "B": d.normal(3, 5, 4), "offsets": _OFFSETS},
    "grouped_gemm_nn": lambda d: {"A": d.normal(6, 4), "B": d.normal(3, 4, 5), "offsets": _OFFSETS},
    "gemm_swiglu": lambda d: {"A": d.normal(4, 6), "B_gate": d.normal(5, 6), "B_up": d.normal(5, 6)},
    "grouped_gemm_swiglu": lambda d: {
        "A": d.normal(6, 4),
        "B_gate": d.normal(3, 5, 4),
        "B_up": d.normal(3, 5, 4),
        "offsets": _OFFSETS,
    },
    "grouped_gemm_tn": lambda d: {
        "A": d.normal(6, 4),
        "B": d.normal(6, 5),
        "offsets": _OFFSETS,
        "C": d.normal(3, 4, 5),
        "beta": 0.5,
    },
    "rope_freqs": lambda d: {"max_seq_len": 7, "head_dim": 6, "base": 100.0, "alpha": 4.0},
    "rope_forward": lambda d: {"input": d.normal(2, 5, 3, 6), "freqs": d.normal(8, 3), "offset": 2},
    "rope_backward": lambda d: {"d_output": d.normal(2, 5, 3, 6), "freqs": d.normal(8, 3), "offset": 2},
    "rope_qk": lambda d: {"q": d.normal(2, 5, 4, 6), "k": d.normal(2, 5, 2, 6), "freqs": d.normal(8, 3), "offset": 2},
    "rope_qk_backward": lambda d: {
        "d_q_out": d.normal(2, 5, 4, 6),
        "d_k_out": d.normal(2, 5, 2, 6),
        "freqs": d.normal(8, 3),
        "offset": 2,
    },
    "attention_scores": lambda d: {"Q": d.normal(2, 5, 3, 6), "K": d.normal(2, 5, 6), "scale": 0.4},
    "attention_output": lambda d: {
        "weights": reference.softmax(d.normal(2, 3, 5, 5)),
        "V": d.normal(2, 5, 6),
    },
    "flash_attention": _attention,
    "attention_forward": lambda d: {
        "Q": d.normal(2, 3, 4, 6),
        "K": d.normal(2, 7, 2, 6),
        "V": d.normal(2, 7, 2, 6),
        "kv_len": 5,
        "scale": 0.4,
    },
    "attention_backward": _attention_backward,
    "kv_cache_append": lambda d: {"input": d.normal(2, 3, 2, 4), "cache": d.normal(2, 7, 2, 4), "position": 2},
    "expert_sort": lambda d: {"indices": d.integers(4, 6, 2), "n_experts": 5},
    "expert_dispatch": lambda d: {"input": d.normal(5, 4), "position": d.permutation(5, 2)},
    "expert_dispatch_backward": lambda d: {"d_output": d.normal(10, 4), "position": d.permutation(5, 2)},
    "expert_combine": lambda d: {"input": d.normal(10, 4), "weights": d.normal(5, 2), "position": d.permutation(5, 2)},
    "expert_combine_backward": lambda d: {
        "input": d.normal(10, 4),
        "weights": d.normal(5, 2),
        "position": d.permutation(5, 2),
        "d_output": d.normal(5, 4),
    },
    "aux_loss_forward": lambda d: {
        "router_probs": reference.softmax(d.normal(6, 5)),
        "expert_indices": reference.softmax_topk(d.normal(6, 5), 2)[1],
        "alpha": 0.3,
    },
    "topk_router": lambda d: {"logits": d.normal(6, 5), "top_k": 2, "alpha": 0.5},
    "topk_router_backward": _routed,
    "aux_loss_backward": lambda d: {
        "f_counts": d.scalar(3.0, 0.0, 5.0, 2.0),
        "batch_seq": 5,
        "alpha": 0.3,
        "scale": 0.7,
    },
    "cross_entropy_forward": lambda d: {"logits": d.normal(4, 7), "targets": np.array([2, -1, 6, 0], np.int32)},
    "cross_entropy_backward": lambda d: {
        "log_probs": _log_probs(d),
        "targets": np.array([2, -1, 6, 0], np.int32),
        "scale": 0.3,
    },
    "fused_cross_entropy": lambda d: {
        "logits": d.normal(4, 7),
        "targets": np.array([2, -1, 6, 0], np.int32),
        "scale": 0.3,
    },
    "mse_forward": lambda d: {"prediction": d.normal(9), "target": d.normal(9)},
    "mse_backward": lambda d: {"prediction": d.normal(9), "target": d.normal(9), "scale": 0.7},
    "bce_forward": lambda d: {"probability": d.probability(9), "target": d.probability(9)},
    "bce_backward": lambda d: {"probability": d.probability(9), "target": d.probability(9), "scale": 0.7},
    "bce_logits_forward": lambda d: {"logits": d.normal(9), "target": d.probability(9)},
    "bce_logits_backward": lambda d: {"logits": d.normal(9), "target": d.probability(9), "scale": 0.7},
    "categorical_cross_entropy_forward": lambda d: {"probabilities": d.probability(4, 7), "labels": d.positive(4, 7)},
    "categorical_cross_entropy_backward": lambda d: {
        **{"probabilities": d.probability(4, 7), "labels": d.positive(4, 7)},
        "scale": 0.7,
    },
    "cross_entropy_dense_forward": lambda d: {"logits": d.normal(4, 7), "labels": d.positive(4, 7), "temperature": 0.8},
    "cross_entropy_dense_backward": lambda d: {
        **{"log_probs": _log_probs(d), "labels": d.positive(4, 7)},
        **{"temperature": 0.8, "scale": 0.7},
    },
    "adamw_step": lambda d: _adamw(d, 9) | {**_HYPER, "weight_decay": 0.125},
    "sgd_step": lambda d: {"param": d.normal(9), "grad": d.normal(9), "lr": 0.02, "weight_decay": 0.125},
    "momentum_step": lambda d: {
        **{name: d.normal(9) for name in ("param", "grad", "velocity")},
        **{"lr": 0.02, "momentum": 0.75, "weight_decay": 0.125, "nesterov": 1},
    },
    "adam_step": lambda d: _adamw(d, 9) | {**_HYPER, "weight_decay": 0.125},
    "multi_adamw": _multi_adamw,
    "zero_grad": lambda d: {"size": 5},
    "grad_clip": lambda d: {"grad": d.normal(9), "clip_norm": 0.5},
    "multi_sum_squares": lambda d: {"inputs": [d.normal(3, 2), d.normal(5)]},
    "multi_nonfinite": lambda d: {"inputs": [d.normal(3, 2), d.normal(5)]},
    "multi_sum_squares_nonfinite": lambda d: {"inputs": [d.normal(3, 2), d.normal(5)]},
    "clip_scale": lambda d: {"sum_squares": d.scalar(9.0), "clip_norm": 0.5},
    "multi_scale": lambda d: {"arrays": [d.normal(3, 2), d.normal(5)], "scale": d.scalar(0.3)},
    "embedding": lambda d: {"weight": d.normal(6, 3), "indices": d.integers(6, 8)},
    "scatter_add": lambda d: {
        "grad_output": d.normal(8, 3),
        "indices": np.array([4, 1, 4, -1, 0, 4, 1, 5], np.int32),
        "grad_weight": d.normal(6, 3),
    },
    "max_pool2d": lambda d: {"input": d.normal(2, 3, 7, 6), **_WINDOW},
    "max_pool2d_backward": _pooled,
    "avg_pool2d": lambda d: {"input": d.normal(2, 3, 7, 6), **_WINDOW, "count_include_pad": 0},
    "avg_pool2d_backward": lambda d: {
        "d_output": d.normal(2, 3, 4, 7),
        "height": 7,
        "width": 6,
        **_WINDOW,
        "count_include_pad": 0,
    },
    "slice_steps": lambda d: {"input": d.normal(2, 7, 3), "first": 1, "count": 4},
    "slice_steps_backward": lambda d: {"d_output": d.normal(2, 4, 3), "steps": 7, "first": 1},
    "map_strided": lambda d: _tensors(d, "input", function=11),
    "zip_strided": lambda d: _tensors(d, "a", "b", function=2),
    "reduce_strided": _reduced,
    "matmul_strided": _multiplied,
    "concat_steps": lambda d: {"a": d.normal(2, 3, 5), "b": d.normal(2, 4, 5)},
    "concat_steps_backward": lambda d: {"d_output": d.normal(2, 7, 5), "steps_a": 3, "steps_b": 4},
    "conv2d": lambda d: _of_convolution(d, "input", "weight") | {"bias": d.normal(6), "has_bias": 1},
    "conv2d_backward_input": lambda d: (
        _of_convolution(d, "weight", "d_output") | {"in_channels": 4, "height": 5, "width": 6}
    ),
    "conv2d_backward_weight": lambda d: (
        _of_convolution(d, "input", "d_output")
        | {"d_weight": d.normal(6, 2, 2, 3), "kernel_h": 2, "kernel_w": 3, "beta": 0.5}
    ),
    "conv2d_backward_bias": lambda d: {"d_output": d.normal(2, 6, 3, 5), "d_bias": d.normal(6), "beta": 0.5},
    "add_row": lambda d: {"input": d.normal(4, 6), "row": d.normal(6)},
    "add_row_backward": lambda d: {"d_output": d.normal(4, 6), "d_row": d.normal(6), "beta": 0.5},
    "add_column": lambda d: {"input": d.normal(4, 6), "column": d.normal(4)},
    "add_column_backward": lambda d: {"d_output": d.normal(4, 6), "d_column": d.normal(4), "beta": 0.5},
    "dense": lambda d: {
        "input": d.normal(4, 6),
        "weight": d.normal(3, 6),
        "bias": d.normal(3),
        **{"activation": 3, "alpha": 0.7, "has_bias": 1},
    },
    "dense_backward": lambda d: {
        "input": d.normal(4, 6),
        "weight": d.normal(3, 6),
        "pre": d.normal(4, 3),
        "d_output": d.normal(4, 3),
        "d_weight": d.normal(3, 6),
        "d_bias": d.normal(3),
        **{"activation": 3, "alpha": 0.7, "beta": 0.5},
    },
    "argmax": lambda d: {"logits": d.normal(4, 9)},
    "sample": lambda d: {"logits": d.normal(4, 9), "seeds": d.seeds(4), "temperature": 0.8},
    "topk_sample": lambda d: {"logits": d.normal(4, 9), "seeds": d.seeds(4), "k": 4, "temperature": 0.8},
    "topp_sample": lambda d: {"logits": d.normal(4, 9), "seeds": d.seeds(4), "top_p": 0.6, "temperature": 0.8},
    "layernorm": lambda d: {"input": d.normal(4, 6), "weight": d.normal(6), "bias": d.normal(6), "eps": 0.01},
    "layernorm_backward": lambda d: {
        **_normed(d),
        "d_output": d.normal(4, 6),
        "d_weight": d.normal(6),
        "d_bias": d.normal(6),
        "beta": 0.5,
    },
    "batchnorm_training": lambda d: {
        **_channels(d, "weight", "bias", "running_mean", "running_var"),
        "momentum": 0.2,
        "eps": 0.01,
    },
    "batchnorm_evaluation": lambda d: {
        **_channels(d, "weight", "bias", "running_mean", "running_var"),
        "eps": 0.01,
    },
    "batchnorm_backward": lambda d: {
        **_batch_normed(d),
        "d_output": d.normal(3, 2, 5),
        "d_weight": d.normal(2),
        "d_bias": d.normal(2),
        "beta": 0.5,
    },
    "dropout": lambda d: {"input": d.normal(9), "philox": d.seeds(2), "rate": 0.25},
    "dropout_backward": lambda d: {"d_output": d.normal(9), "philox": d.seeds(2), "rate": 0.25},
    "relu": lambda d: {"input": d.normal(9)},
    "relu_backward": _input_and_gradient,
    "leaky_relu": lambda d: {"input": d.normal(9), "alpha": 0.3},
    "leaky_relu_backward": lambda d: _input_and_gradient(d) | {"alpha": 0.3},
    "elu": lambda d: {"input": d.normal(9), "alpha": 1.5},
    "elu_backward": lambda d: _input_and_gradient(d) | {"alpha": 1.5},
    "sigmoid": lambda d: {"input": d.normal(9)},
    "sigmoid_backward": lambda d: {"output": reference.sigmoid(d.normal(9)), "d_output": d.normal(9)},
    "tanh": lambda d: {"input": d.normal(9)},
    "tanh_backward": lambda d: {"output": reference.tanh(d.normal(9)), "d_output": d.normal(9)},
    "gelu": lambda d: {"input": d.normal(9)},
    "gelu_backward": _input_and_gradient,
    "gelu_tanh": lambda d: {"input": d.normal(9)},
    "gelu_tanh_backward": _input_and_gradient,
    "attention_softmax": _attention_softmax,
    "attention_softmax_backward": lambda d: {
        "weights": reference.softmax(d.normal(24, 5)).reshape(2, 3, 4, 5),
        "d_scores": d.normal(2, 3, 4, 5),
        "scale": 0.4,
    },
    "softmax_temperature": lambda d: {"input": d.normal(4, 7), "temperature": 0.7},
    "softmax_temperature_backward": lambda d: {
        "output": reference.softmax(d.normal(4, 7)),
        "d_output": d.normal(4, 7),
        "temperature": 0.7,
    },
    "rnn_forward": _rnn,
    "rnn_backward": _rnn_backward,
    "lstm_forward": _lstm,
    "lstm_backward": _lstm_backward,
    "gru_forward": _gru,
    "gru_backward": _gru_backward,
}
_ONLY = {
    **dict.fromkeys(("cast_to", "cast_from"), lambda d: {"input": d.normal(9)}),
    "multi_adamw": lambda d: _multi_adamw(d) | {"copies": [d.normal(3, 2), d.normal(5)], "seed": 9},
}


def _sixteen(operation: str) -> Callable[[Draw], dict[str, Any]]:
    """The float32 operation's sample, in the types that are declared."""
    types = {p.name: p.type.dtype for p in read_header().operations[operation].parameters if p.type.is_half}
    sample = (SAMPLES | _ONLY)[operation.rpartition("_")[0]]

    def drawn(draw: Draw) -> dict[str, Any]:
        given = sample(Draw(draw.name, np.float32))
        for name in types.keys() & given.keys():
            value, dtype = given[name], types[name]
            given[name] = [v.astype(dtype) for v in value] if isinstance(value, list) else value.astype(dtype)
        return given

    return drawn


SAMPLES |= {operation: _sixteen(operation) for operation in sixteen.OPERATIONS}


def arguments(operation: str, dtype: Any = np.float64) -> dict[str, Any]:
    """Sample arguments by name, floating-point arrays of the given dtype, those of 16 bits as declared."""
    return SAMPLES[operation](Draw(operation, dtype))
