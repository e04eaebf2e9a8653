"""Choices of a graph that lie within the noise: of them honest runs may make either, and gradients part there.

A step that has one says nothing of what comes behind it.  Which side of 0 a ReLU's input lies on, and which number of a
window is the largest; what a recurrent layer's ReLU chooses shows only where it let a number pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from conformance.limits.namespaces import OnNumbers
from conformance.limits.noise import Noisy

_BENT = (1, 2)  # ASSAYER_RELU and ASSAYER_LEAKY_RELU: activations whose slope jumps at 0
_RELU = 1


class Watched(OnNumbers):
    """The reference on noise numbers; near: choices within the noise so far."""

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        results = super()._call(operation, *args, **named)
        if operation in _CHOOSING:
            function = operations.OPERATIONS[operation]
            self.near += _CHOOSING[operation](operations.signature(function).named(args, named), results)
        return results


def _about_zero(x: Any) -> int:
    """How many numbers may lie on the other side of 0."""
    if not isinstance(x, Noisy):
        return 0
    return int(np.count_nonzero((x.variance > 0) & (np.abs(x.v) <= x.reach)))


def _of_windows(given: Mapping[str, Any]) -> int:
    """How many windows have a second number that may be their largest."""
    x = given["input"]
    if not isinstance(x, Noisy):
        return 0
    by = given["kernel_h"], given["kernel_w"], given["stride_h"], given["stride_w"], given["pad_h"], given["pad_w"]
    lowest, highest = (_windows(x.v + sign * x.reach, *by) for sign in (-1, 1))
    first = np.argmax(_windows(x.v, *by), axis=-1)[..., None]
    surely = np.take_along_axis(lowest, first, axis=-1)
    np.put_along_axis(highest, first, -np.inf, axis=-1)
    erring = _windows(x.variance, *by, fill=0.0) > 0  # of numbers that are exact the order is, too
    either = np.take_along_axis(erring, first, axis=-1) | erring
    return int(np.count_nonzero(np.any((highest >= surely) & either, axis=-1)))


def _windows(
    v: NDArray[Any], kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, pad_h: int, pad_w: int,
    fill: float = -np.inf,
) -> NDArray[Any]:  # fmt: skip
    """The numbers of every window along the last axis."""
    padded = np.pad(v, ((0, 0), (0, 0), (pad_h, pad_h), (pad_w, pad_w)), constant_values=fill)
    every = np.lib.stride_tricks.sliding_window_view(padded, (kernel_h, kernel_w), axis=(2, 3))
    found = every[:, :, ::stride_h, ::stride_w]
    return found.reshape(*found.shape[:4], -1).copy()


def _let_pass(x: Any) -> int:
    """How many numbers that a ReLU let pass it may have stopped."""
    return int(np.count_nonzero((x.v > 0) & (x.v <= x.reach))) if isinstance(x, Noisy) else 0


# By operation: how many choices of a call lie within the noise, given its arguments and results.
_CHOOSING: dict[str, Callable[[Mapping[str, Any], Any], int]] = {
    "relu_backward": lambda given, _: _about_zero(given["input"]),
    "leaky_relu_backward": lambda given, _: _about_zero(given["input"]),
    "dense_backward": lambda given, _: _about_zero(given["pre"]) if int(given["activation"]) in _BENT else 0,
    "max_pool2d": lambda given, _: _of_windows(given),
    "rnn_forward": lambda given, results: _let_pass(results) if int(given["activation"]) == _RELU else 0,
}
