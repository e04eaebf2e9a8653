"""Recurrent layers, batch first: the plain one (Elman 1990), LSTM and GRU, each with its gradient through all steps.

LSTM: Hochreiter and Schmidhuber 1997 with the forget gate of Gers, Schmidhuber and Cummins 2000; GRU: Cho et al. 2014,
its reset gate applied behind the product.  Gates stand in the order of the header.

input: (batch, steps, input_dim), output and cells: (batch, steps, hidden_dim), gates: (batch, steps, 4 * hidden_dim);
weights: (rows, input_dim) and (rows, hidden_dim), biases: (rows,), states: (batch, hidden_dim), rows being hidden_dim
times 1, 4 or 3.  An array that is not read may be None.  Every function raises ValueError for another shape.
"""

from __future__ import annotations

import numpy as np

from reference.arrays import Array, ieee

from .blocks import product
from .elementwise import logistic
from .through_time import (
    TANH,
    Step,
    before,
    bias_gradient,
    check_activation,
    check_shapes,
    parts_of,
    projected,
    start,
    steps_back,
    stored,
    weights_gradients,
)


@ieee
def rnn_forward(
    input: Array,
    w_x: Array,
    w_h: Array,
    bias: Array | None,
    h0: Array | None,
    activation: int,
    has_bias: int,
    has_h0: int,
) -> Array:
    """f(w_x . x + w_h . h + bias) of every step, h that of the step before it; f is tanh or ReLU."""
    check_shapes("rnn_forward", 1, input, w_x, w_h, {"h0": h0} if has_h0 else {}, {"bias": bias} if has_bias else {})
    check_activation("rnn_forward", activation)
    pre, h, outputs = projected(input, w_x, bias if has_bias else None), start(h0, has_h0, input, w_h), []
    for step in range(input.shape[1]):
        s = pre[:, step] + product(h, w_h.T)
        h = stored(np.tanh(s) if activation == TANH else np.maximum(s, 0.0))
        outputs.append(h)
    return np.stack(outputs, axis=1)


@ieee
def rnn_backward(
    input: Array, w_x: Array, w_h: Array, h0: Array | None, output: Array, d_output: Array,
    d_w_x: Array | None, d_w_h: Array | None, d_bias: Array | None, activation: int, has_h0: int, beta: float,
) -> tuple[Array, ...]:  # fmt: skip
    """d_input, d_w_x, d_w_h, d_bias, d_h0; the weights' and the bias' are added to beta times the ones given."""
    operation, sequences = "rnn_backward", {"output": output, "d_output": d_output}
    check_shapes(operation, 1, input, w_x, w_h, {"h0": h0} if has_h0 else {}, {}, sequences)
    check_activation(operation, activation)
    h = before(output, start(h0, has_h0, input, w_h))
    d_x, d_h, d_h0 = steps_back(rnn_step_back(output, activation), d_output, w_h)
    d_input, d_w_x, d_w_h = weights_gradients(input, w_x, h, d_x, d_h, (d_w_x, d_w_h), beta)
    return d_input, d_w_x, d_w_h, bias_gradient(d_x, d_bias, beta), d_h0


@ieee
def lstm_forward(
    input: Array, w_x: Array, w_h: Array, bias: Array | None, h0: Array | None, c0: Array | None,
    has_bias: int, has_state: int,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """output, cells and gates: c = f * c + i * g, output = o * tanh(c), of every step."""
    states = {"h0": h0, "c0": c0} if has_state else {}
    check_shapes("lstm_forward", 4, input, w_x, w_h, states, {"bias": bias} if has_bias else {})
    pre, results = projected(input, w_x, bias if has_bias else None), []
    h, c = start(h0, has_state, input, w_h), start(c0, has_state, input, w_h)
    for step in range(input.shape[1]):
        i, f, g, o = parts_of(pre[:, step] + product(h, w_h.T), 4)
        i, f, g, o = logistic(i), logistic(f), np.tanh(g), logistic(o)
        c = stored(f * c + i * g)
        h = stored(o * np.tanh(c))
        results.append((h, c, np.concatenate([i, f, g, o], axis=-1)))
    output, cells, gates = (np.stack(steps, axis=1) for steps in zip(*results, strict=True))
    return output, cells, gates


@ieee
def lstm_backward(
    input: Array, w_x: Array, w_h: Array, h0: Array | None, c0: Array | None, output: Array, cells: Array, gates: Array,
    d_output: Array, d_w_x: Array | None, d_w_h: Array | None, d_bias: Array | None, has_state: int, beta: float,
) -> tuple[Array, ...]:  # fmt: skip
    """d_input, d_w_x, d_w_h, d_bias, d_h0, d_c0; what is updated is added to beta times the one given."""
    sequences, states = {"output": output, "cells": cells, "d_output": d_output}, {"h0": h0, "c0": c0}
    check_shapes("lstm_backward", 4, input, w_x, w_h, states if has_state else {}, {}, sequences, gates)
    step_back = LstmStepBack(cells, gates, before(cells, start(c0, has_state, input, w_h)))
    h = before(output, start(h0, has_state, input, w_h))
    d_x, d_h, d_h0 = steps_back(step_back, d_output, w_h)
    d_input, d_w_x, d_w_h = weights_gradients(input, w_x, h, d_x, d_h, (d_w_x, d_w_h), beta)
    return d_input, d_w_x, d_w_h, bias_gradient(d_x, d_bias, beta), d_h0, step_back.d_c


@ieee
def gru_forward(
    input: Array,
    w_x: Array,
    w_h: Array,
    b_x: Array | None,
    b_h: Array | None,
    h0: Array | None,
    has_bias: int,
    has_h0: int,
) -> tuple[Array, Array]:
    """output and gates: h = (1 - z) * n + z * h of every step; gates holds r, z, n and w_h's part of n."""
    biases = {"b_x": b_x, "b_h": b_h} if has_bias else {}
    check_shapes("gru_forward", 3, input, w_x, w_h, {"h0": h0} if has_h0 else {}, biases)
    pre, h, results = projected(input, w_x, b_x if has_bias else None), start(h0, has_h0, input, w_h), []
    for step in range(input.shape[1]):
        of_h = product(h, w_h.T) + b_h if has_bias else product(h, w_h.T)
        (x_r, x_z, x_n), (h_r, h_z, h_n) = parts_of(pre[:, step], 3), parts_of(of_h, 3)
        r, z = logistic(x_r + h_r), logistic(x_z + h_z)
        n = np.tanh(x_n + r * h_n)
        h = stored((1.0 - z) * n + z * h)
        results.append((h, np.concatenate([r, z, n, h_n], axis=-1)))
    output, gates = (np.stack(steps, axis=1) for steps in zip(*results, strict=True))
    return output, gates


@ieee
def gru_backward(
    input: Array, w_x: Array, w_h: Array, h0: Array | None, output: Array, gates: Array, d_output: Array,
    d_w_x: Array | None, d_w_h: Array | None, d_b_x: Array | None, d_b_h: Array | None, has_h0: int, beta: float,
) -> tuple[Array, ...]:  # fmt: skip
    """d_input, d_w_x, d_w_h, d_b_x, d_b_h, d_h0; what is updated is added to beta times the one given."""
    sequences = {"output": output, "d_output": d_output}
    check_shapes("gru_backward", 3, input, w_x, w_h, {"h0": h0} if has_h0 else {}, {}, sequences, gates)
    h = before(output, start(h0, has_h0, input, w_h))
    d_x, d_h, d_h0 = steps_back(gru_step_back(gates, h), d_output, w_h)
    d_input, d_w_x, d_w_h = weights_gradients(input, w_x, h, d_x, d_h, (d_w_x, d_w_h), beta)
    return d_input, d_w_x, d_w_h, bias_gradient(d_x, d_b_x, beta), bias_gradient(d_h, d_b_h, beta), d_h0


def rnn_step_back(output: Array, activation: int) -> Step:
    """d_pre of each step of the plain layer."""

    def step_back(step: int, d_h: Array) -> tuple[Array, Array, Array]:
        y = output[:, step]
        d_pre = d_h * (1.0 - y * y) if activation == TANH else np.where(y <= 0, 0.0, d_h)
        return d_pre, d_pre, 0.0

    return step_back


class LstmStepBack:
    """d_pre of each step of an LSTM; d_c is the gradient of the cell before the last step that was asked for."""

    def __init__(self, cells: Array, gates: Array, cells_before: Array) -> None:
        self._cells, self._gates, self._before = cells, gates, cells_before
        self.d_c: Array = 0.0

    def __call__(self, step: int, d_h: Array) -> tuple[Array, Array, Array]:
        i, f, g, o = parts_of(self._gates[:, step], 4)
        t = np.tanh(self._cells[:, step])
        d = d_h * o * (1.0 - t * t) + self.d_c
        d_i, d_f = d * g * (i * (1.0 - i)), d * self._before[:, step] * (f * (1.0 - f))
        d_g, d_o = d * i * (1.0 - g * g), d_h * t * (o * (1.0 - o))
        self.d_c = stored(d * f)
        d_pre = np.concatenate([d_i, d_f, d_g, d_o], axis=-1)
        return d_pre, d_pre, 0.0


def gru_step_back(gates: Array, h: Array) -> Step:
    """d_pre_x and d_pre_h of each step of a GRU; h: the states before the steps."""

    def step_back(step: int, d_h: Array) -> tuple[Array, Array, Array]:
        r, z, n, h_n = parts_of(gates[:, step], 4)
        d_n = d_h * (1.0 - z) * (1.0 - n * n)
        d_r, d_z = d_n * h_n * (r * (1.0 - r)), d_h * (h[:, step] - n) * (z * (1.0 - z))
        d_pre_x, d_pre_h = np.concatenate([d_r, d_z, d_n], axis=-1), np.concatenate([d_r, d_z, d_n * r], axis=-1)
        return d_pre_x, d_pre_h, d_h * z

    return step_back
