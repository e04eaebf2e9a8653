"""Sums over rows or columns, and the dense layer, arranged as libraries do: bias first or last, parts of sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import reference

from . import activations as arranged

Array = Any


def _added(sums: Array, old: Array, beta: float) -> Array:
    return sums + np.float32(beta) * old if beta else sums


def add_row_backward(d_output: Array, d_row: Array, beta: float) -> Array:
    """Rows one after the other, added to what is there."""
    start = np.float32(beta) * d_row[None] if beta else np.zeros_like(d_output[:1])
    return np.add.accumulate(np.concatenate([start, d_output]), axis=0)[-1]


def add_column_backward(d_output: Array, d_column: Array, beta: float) -> Array:
    """Every 32nd column by itself, and these sums one after the other, as lanes of a warp do."""
    width = -(-d_output.shape[1] // 32) * 32
    lanes = np.concatenate([d_output, np.zeros((len(d_output), width - d_output.shape[1]), np.float32)], axis=1)
    parts = np.add.accumulate(lanes.reshape(len(d_output), -1, 32), axis=1)[:, -1]
    return _added(np.add.accumulate(parts, axis=1)[:, -1], d_column, beta)


_FORWARD: tuple[Callable[[Array, float], Array], ...] = (
    lambda x, alpha: x,
    lambda x, alpha: np.maximum(x, np.float32(0)),
    lambda x, alpha: np.where(x > 0, x, np.float32(alpha) * x),
    arranged.elu,
    lambda x, alpha: arranged.sigmoid(x),
    lambda x, alpha: np.tanh(x),
    lambda x, alpha: arranged.gelu(x),
    lambda x, alpha: arranged.gelu_tanh(x),
)
_BACKWARD: tuple[Callable[[Array, Array, float], Array], ...] = (
    lambda x, d, alpha: d,
    lambda x, d, alpha: reference.relu_backward(x, d),
    lambda x, d, alpha: np.where(x > 0, d, np.float32(alpha) * d),
    arranged.elu_backward,
    lambda x, d, alpha: arranged.sigmoid_backward(arranged.sigmoid(x), d),
    lambda x, d, alpha: arranged.tanh_backward(np.tanh(x), d),
    lambda x, d, alpha: arranged.gelu_backward(x, d),
    lambda x, d, alpha: arranged.gelu_tanh_backward(x, d),
)


def dense(
    input: Array, weight: Array, bias: Array, activation: int, alpha: float, has_bias: int
) -> tuple[Array, Array]:
    """The bias is where each sum begins."""
    terms = input.T[:, :, None] * weight.T[:, None, :]
    start = np.broadcast_to(bias if has_bias else np.float32(0), terms[:1].shape)
    pre = np.add.accumulate(np.concatenate([start, terms]), axis=0)[-1]
    return pre, _FORWARD[activation](pre, alpha)


def dense_backward(
    input: Array, weight: Array, pre: Array, d_output: Array, d_weight: Array, d_bias: Array, activation: int,
    alpha: float, beta: float,
) -> tuple[Array, ...]:  # fmt: skip
    """d_bias as a product with ones; gradients of halves of the rows, added."""
    d_pre = _BACKWARD[activation](pre, d_output, alpha)
    half = len(input) // 2
    of_weight = d_pre[:half].T @ input[:half] + d_pre[half:].T @ input[half:]
    ones = np.ones((1, len(input)), np.float32)
    return d_pre, d_pre @ weight, _added(of_weight, d_weight, beta), _added((ones @ d_pre)[0], d_bias, beta)


BROADCAST = (add_row_backward, add_column_backward, dense, dense_backward)
