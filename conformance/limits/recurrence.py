"""What a plain recurrent layer errs by, its steps taken together.

The noise number takes the errors of a row's elements as independent.  Each step multiplies a row by the same weights,
so that an error of one element is in all of them from the next step on, with signs that the weights tell, and is there
amplified again along the same directions: after 17 steps of ReLU, whose slope is 1, the standard deviation was five
times what independent errors come to.  So what an error becomes is followed here as it is, to first order: with S the
slopes of a step and own the variances of what it rounds itself, the covariance of a row's errors is

    forward     C_t = own_t + S_t W C_(t-1) W' S_t            W being w_h, and C_(-1) = 0: the state is given
    backward    C_t = own_t + S_t W' C_(t+1) W S_t            of d_pre, from the last step to the first

and that of two steps' errors is C_t times what leads from the one to the other.  An LSTM's and a GRU's gates lie below
1 and shrink what goes round; for them the errors of a row count as independent.

What a step has from those before it, it has in common with them: an average over the steps does not even it out.  What
it rounds itself is what it would give alone, from the state before it as it is due.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from reference.ops.blocks import product
from reference.ops.recurrent import rnn_step_back
from reference.ops.through_time import TANH, before, bias_gradient, projected, start, weights_gradients

from .noise import Noisy, exact

Array = NDArray[np.float64]


def follow_errors(operation: str, arguments: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Widen, in place, what is expected of a plain recurrent layer or its gradient; and of all, what steps share."""
    if operation not in (*_FOLLOWED, *_STATES) or arguments["input"].shape[1] < 2:
        return
    given = {name: exact(x) if isinstance(x, np.ndarray) else x for name, x in arguments.items()}
    with np.errstate(all="ignore"):
        if operation in _FOLLOWED:
            for name, variance in _FOLLOWED[operation](given).items():
                _widen(expected[name], variance)
        if operation in _STATES:
            _share_what_is_handed_on(operation, given, expected)


def _widen(result: Noisy, variance: Array) -> None:
    """What is more than independent errors come to, elements have in common."""
    more = np.where(np.isfinite(variance) & np.isfinite(result.variance), variance - result.variance, 0.0)
    more = np.maximum(more, 0.0)
    result.variance, result.shared = result.variance + more, result.shared + more


def _share_what_is_handed_on(operation: str, given: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Count as in common, in place, what the results of a step have from the steps before."""
    states, flag = _STATES[operation]
    batch, steps, _ = given["input"].shape
    alone = dict(given) | {flag: 1, "input": given["input"].reshape(batch * steps, 1, -1)}
    for state, name in states.items():
        result = exact(expected[name].v)
        first = start(given[state], given[flag], given["input"], given["w_h"])
        alone[state] = before(result, first).reshape(batch * steps, -1)
    results = getattr(reference, operation)(**alone)
    for result, one in zip(expected.values(), results if isinstance(results, tuple) else (results,), strict=True):
        own = one.variance.reshape(result.shape)
        known = np.isfinite(result.variance) & np.isfinite(own)
        handed_on = np.where(known, np.maximum(result.variance - own, 0.0), 0.0)
        result.shared = np.minimum(result.shared + handed_on, np.maximum(result.variance, result.shared))


def _forward(given: Mapping[str, Any]) -> dict[str, Array]:
    input, weights = given["input"], given["w_h"]
    pre = projected(input, given["w_x"], given["bias"] if given["has_bias"] else None)
    h, covariance = start(given["h0"], given["has_h0"], input, weights), 0.0
    variances = []
    for step in range(input.shape[1]):
        s = pre[:, step] + product(h, weights.T)
        y = np.tanh(s) if given["activation"] == TANH else np.maximum(s, 0.0)
        slope = 1 - y.v * y.v if given["activation"] == TANH else (s.v > 0).astype(np.float64)
        covariance = _own(y) + _through(covariance, weights.v.T, slope)
        variances.append(np.einsum("bii->bi", covariance))
        h = exact(y.v)
    return {"output": np.stack(variances, axis=1)}


def _backward(given: Mapping[str, Any]) -> dict[str, Array]:
    d_output, weights, slopes = given["d_output"], given["w_h"], _slopes(given["output"].v, given["activation"])
    through = rnn_step_back(given["output"], given["activation"])
    d_pres: list[Array] = []
    covariances: list[Array] = []
    carried: Any = None
    covariance: Any = 0.0
    for step in reversed(range(d_output.shape[1])):
        d_pre = through(step, d_output[:, step] if carried is None else d_output[:, step] + carried)[0]
        covariance = _own(d_pre) + _through(covariance, weights.v, slopes[:, step])
        carried = product(exact(d_pre.v), weights)
        d_pres.append(d_pre.v)
        covariances.append(covariance)
    d_x, along = exact(np.stack(d_pres[::-1], axis=1)), np.stack(covariances[::-1], axis=1)
    h = before(given["output"], start(given["h0"], given["has_h0"], given["input"], weights))
    between = _between_steps(along, weights.v, slopes)
    return _handed_on(given, d_x, h, along, between) | {"d_h0": carried.variance + _of_product(along[:, 0], weights.v)}


def _handed_on(
    given: Mapping[str, Any], d_x: Noisy, h: Any, along: Array, between: Array
) -> dict[str, Array]:  # fmt: skip
    """The variances of what is computed of all steps: that of its own roundings, and what d_pre's errors make."""
    old, beta = (given["d_w_x"], given["d_w_h"]), given["beta"]
    d_input, d_w_x, d_w_h = weights_gradients(given["input"], given["w_x"], h, d_x, d_x, old, beta)
    ones = np.ones((*d_x.shape[:2], 1))
    return {
        "d_input": d_input.variance + _of_product(along, given["w_x"].v),
        "d_w_x": d_w_x.variance + _of_sums(between, given["input"].v),
        "d_w_h": d_w_h.variance + _of_sums(between, h.v),
        "d_bias": bias_gradient(d_x, given["d_bias"], beta).variance + _of_sums(between, ones)[:, 0],
    }


def _slopes(output: Array, activation: int) -> Array:
    return np.asarray(1 - output * output if activation == TANH else output > 0, np.float64)


def _own(x: Noisy) -> Array:
    """The covariance of what a step rounds itself."""
    return x.variance[..., None] * np.eye(x.shape[-1])


def _through(covariance: Any, weights: Array, slope: Array) -> Any:
    """The covariance of row @ weights * slope."""
    if np.ndim(covariance) == 0:
        return covariance
    return slope[..., :, None] * (weights.T @ covariance @ weights) * slope[..., None, :]


def _of_product(covariance: Array, weights: Array) -> Array:
    """The variances of row @ weights."""
    return np.asarray(np.sum((covariance @ weights) * weights, axis=-2))


def _between_steps(along: Array, weights: Array, slopes: Array) -> Array:
    """[batch, step, other, element]: of every element the covariance of its errors at two steps."""
    steps = along.shape[1]
    between = np.zeros((along.shape[0], steps, steps, along.shape[-1]))
    for step in range(steps):
        led = along[:, step]
        for other in reversed(range(step + 1)):
            between[:, step, other] = between[:, other, step] = np.einsum("bii->bi", led)
            if other:
                led = slopes[:, other - 1, :, None] * (weights.T @ led)
    return between


def _of_sums(between: Array, factors: Array) -> Array:
    """The variances of the sums over rows and steps of element times factor."""
    total = np.zeros((between.shape[-1], factors.shape[-1]))
    for covariances, row in zip(between, factors, strict=True):
        for step, of_step in enumerate(covariances):
            total += of_step.T @ (row * row[step])
    return total


# Of the forward passes: which result each state is, and the number that says whether the first one is given.
_STATES = {
    "rnn_forward": ({"h0": "output"}, "has_h0"),
    "lstm_forward": ({"h0": "output", "c0": "cells"}, "has_state"),
    "gru_forward": ({"h0": "output"}, "has_h0"),
}
_FOLLOWED = {"rnn_forward": _forward, "rnn_backward": _backward}
