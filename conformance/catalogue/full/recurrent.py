"""Recurrent layers: samples are drawn, steps and units stand whole; weights have their gradients of all samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.catalogue.cases.recurrent import GIVEN, GRU_FIRST, LSTM_FIRST, OLD, RNN_FIRST, TANH
from conformance.limits.noise.counted import counted_matmul, counted_sum
from reference.arrays import accumulate
from reference.ops.recurrent import LstmStepBack, gru_step_back, rnn_step_back
from reference.ops.through_time import Step, before, start, steps_back

from .call import FullCall, Placed

Array = Any
CarriedOut = Callable[..., tuple[Array, ...]]
_SIZES = {"batch": 512, "steps": 16, "input_dim": 64, "hidden_dim": 256}
_SAMPLES = {"batch": 7}


def rnn_backward(places: Placed) -> CarriedOut:
    """Weights and bias sum over the samples."""

    def function(
        input: Array, w_x: Array, w_h: Array, h0: Array, output: Array, d_output: Array,
        d_w_x: Array, d_w_h: Array, d_bias: Array, activation: int, has_h0: int, beta: float,
    ) -> tuple[Array, ...]:  # fmt: skip
        h = before(output, start(h0, has_h0, input, w_h))
        sums = _Sums(places, rnn_step_back(output, activation), d_output, w_h)
        return (*sums.of_weights(input, w_x, h, d_w_x, d_w_h, beta), sums.of_bias(sums.d_x, d_bias, beta), sums.d_h0)

    return function


def lstm_backward(places: Placed) -> CarriedOut:
    """Weights and bias sum over the samples."""

    def function(
        input: Array, w_x: Array, w_h: Array, h0: Array, c0: Array, output: Array, cells: Array, gates: Array,
        d_output: Array, d_w_x: Array, d_w_h: Array, d_bias: Array, has_state: int, beta: float,
    ) -> tuple[Array, ...]:  # fmt: skip
        h, c = (before(x, start(s, has_state, input, w_h)) for x, s in ((output, h0), (cells, c0)))
        step_back = LstmStepBack(cells, gates, c)
        sums = _Sums(places, step_back, d_output, w_h)
        d_weights = sums.of_weights(input, w_x, h, d_w_x, d_w_h, beta)
        return (*d_weights, sums.of_bias(sums.d_x, d_bias, beta), sums.d_h0, step_back.d_c)

    return function


def gru_backward(places: Placed) -> CarriedOut:
    """Weights and biases sum over the samples."""

    def function(
        input: Array, w_x: Array, w_h: Array, h0: Array, output: Array, gates: Array, d_output: Array,
        d_w_x: Array, d_w_h: Array, d_b_x: Array, d_b_h: Array, has_h0: int, beta: float,
    ) -> tuple[Array, ...]:  # fmt: skip
        h = before(output, start(h0, has_h0, input, w_h))
        sums = _Sums(places, gru_step_back(gates, h), d_output, w_h)
        biases = sums.of_bias(sums.d_x, d_b_x, beta), sums.of_bias(sums.d_h, d_b_h, beta)
        return (*sums.of_weights(input, w_x, h, d_w_x, d_w_h, beta), *biases, sums.d_h0)

    return function


class _Sums:
    """The gradients of all steps of the drawn samples, and sums in which a sample's terms stand as often as it does."""

    def __init__(self, places: Placed, step_back: Step, d_output: Array, w_h: Array) -> None:
        self._places, self._steps = places["batch"], d_output.shape[1]
        self.d_x, self.d_h, self.d_h0 = steps_back(step_back, d_output, w_h)

    def of_weights(
        self, input: Array, w_x: Array, h: Array, d_w_x: Array, d_w_h: Array, beta: float
    ) -> tuple[Array, Array, Array]:
        counts = np.repeat(self._places.counts, self._steps)
        fresh = (counted_matmul(_flat(d).T, _flat(x), counts) for d, x in ((self.d_x, input), (self.d_h, h)))
        of_w_x, of_w_h = (accumulate(d, old, beta) for d, old in zip(fresh, (d_w_x, d_w_h), strict=True))
        return (_flat(self.d_x) @ w_x).reshape(*input.shape), of_w_x, of_w_h

    def of_bias(self, d_pre: Array, old: Array, beta: float) -> Array:
        terms = (self._places.member[:, None] * self._steps + np.arange(self._steps)).ravel()
        return accumulate(counted_sum(_flat(d_pre), terms), old, beta)


def _flat(sequence: Array) -> Array:
    return sequence.reshape(-1, sequence.shape[-1])


def _backward(operation: str, carried_out: Callable[[Placed], CarriedOut], finish: Any, **sizes: Any) -> FullCall:
    inputs = GIVEN[operation] | OLD
    return FullCall(operation, {**_SIZES, **sizes}, _SAMPLES, inputs, finish=finish, carried_out=carried_out)


CALLS = (
    FullCall("rnn_forward", {**_SIZES, "activation": TANH, "has_bias": 1, "has_h0": 1}, _SAMPLES, GIVEN["rnn_forward"]),
    FullCall("lstm_forward", {**_SIZES, "has_bias": 1, "has_state": 1}, _SAMPLES, GIVEN["lstm_forward"]),
    FullCall("gru_forward", {**_SIZES, "has_bias": 1, "has_h0": 1}, _SAMPLES, GIVEN["gru_forward"]),
    _backward("rnn_backward", rnn_backward, RNN_FIRST, activation=TANH, has_h0=1, beta=1.0),
    _backward("lstm_backward", lstm_backward, LSTM_FIRST, has_state=1, beta=0.0),
    _backward("gru_backward", gru_backward, GRU_FIRST, has_h0=1, beta=0.0),
)
