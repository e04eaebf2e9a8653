"""Convolution in planes and its gradients: cross-correlation, NCHW, zeros past the edges, in groups of channels.

Each is a product of matrices: weights, and columns that hold what every tap of the kernel meets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reference.arrays import Array, accumulate, check, ieee

from .blocks import product


class Axis(NamedTuple):
    """One axis of the planes: its length, and how the kernel goes along it."""

    length: int
    kernel: int
    stride: int
    pad: int
    dilation: int

    @property
    def outputs(self) -> int:
        return (self.framed - self.span - 1) // self.stride + 1

    @property
    def span(self) -> int:
        """How far the kernel's last tap lies from its first."""
        return self.dilation * (self.kernel - 1)

    @property
    def met(self) -> list[slice]:
        """The places that each tap meets as the kernel goes along the frame."""
        last = (self.outputs - 1) * self.stride
        return [slice(tap * self.dilation, tap * self.dilation + last + 1, self.stride) for tap in range(self.kernel)]

    @property
    def back(self) -> Axis:
        """The axis of a frame on which the kernel meets each place once with every tap."""
        return Axis(self.length + self.span, self.kernel, 1, 0, self.dilation)

    @property
    def framed(self) -> int:
        """The length with the padding."""
        return self.length + 2 * self.pad


def axes(
    operation: str, sizes: tuple[int, int], kernel: tuple[int, int],
    stride_h: int, stride_w: int, pad_h: int, pad_w: int, dilation_h: int, dilation_w: int,
) -> tuple[Axis, Axis]:  # fmt: skip
    """Return both axes.  Raises ValueError where a kernel does not fit, or a number is out of its range."""
    named = {"h": (stride_h, pad_h, dilation_h), "w": (stride_w, pad_w, dilation_w)}
    for name, (stride, pad, dilation) in named.items():
        check(stride >= 1, operation, f"stride_{name}", "at least 1", stride)
        check(pad >= 0, operation, f"pad_{name}", "at least 0", pad)
        check(dilation >= 1, operation, f"dilation_{name}", "at least 1", dilation)
    down, across = (Axis(*one) for one in zip(sizes, kernel, *zip(*named.values(), strict=True), strict=True))
    for name, axis in (("kernel_h", down), ("kernel_w", across)):
        places = axis.span + 1
        check(places <= axis.framed, operation, name, f"one that spans at most {axis.framed} places", places)
    return down, across


def check_groups(operation: str, groups: int, in_channels: int, weight_shape: tuple[int, ...]) -> None:
    """Raise ValueError where the channels cannot be cut into groups, or the weight is that of other channels."""
    check(groups >= 1, operation, "groups", "at least 1", groups)
    check(in_channels % groups == 0, operation, "groups", f"a divisor of {in_channels} input channels", groups)
    out_channels, each = weight_shape[:2]
    check(out_channels % groups == 0, operation, "groups", f"a divisor of {out_channels} output channels", groups)
    check(each == in_channels // groups, operation, "weight", f"{in_channels // groups} channels a group", each)


def _zeros_beside(x: Array, axis: int, length: int) -> Array:
    shape = list(x.shape)
    shape[axis] = length
    return np.zeros(tuple(shape), x.dtype)


def _framed(x: Array, axis: int, before: int, length: int) -> Array:
    """x along an axis with zeros around it, `before` of them before it; where that is negative, x is cut off."""
    first = max(-before, 0)
    x = x[(slice(None),) * axis + (slice(first, max(first, length - before)),)]
    after = length - max(before, 0) - x.shape[axis]
    parts = [_zeros_beside(x, axis, max(before, 0)), x, _zeros_beside(x, axis, after)]
    whole = [part for part in parts if part.shape[axis]]
    return np.concatenate(whole, axis=axis) if len(whole) > 1 else whole[0]


def _spread(x: Array, axis: int, stride: int) -> Array:
    """x along an axis with stride - 1 zeros behind each element."""
    if stride == 1:
        return x
    shape = (*x.shape[: axis + 1], stride - 1, *x.shape[axis + 1 :])
    apart = x.reshape(*shape[: axis + 1], 1, *shape[axis + 2 :])
    spread = np.concatenate([apart, np.zeros(shape, x.dtype)], axis=axis + 1)
    return spread.reshape(*shape[:axis], shape[axis] * stride, *shape[axis + 2 :])


def _columns(x: Array, groups: int, down: Axis, across: Axis) -> Array:
    """What each tap meets: (groups, channels of one * kernel_h * kernel_w, batch * outputs), of planes with frames."""
    taps = np.stack([x[:, :, i, j] for i in down.met for j in across.met], axis=2)
    batch, channels, kernel, height, width = taps.shape
    ahead = taps.reshape(batch, channels * kernel, height * width).transpose(1, 0, 2)
    return ahead.reshape(groups, channels // groups * kernel, batch * height * width)


def _by_group(x: Array, groups: int) -> Array:
    """(batch, channels, height, width) as (groups, channels of one, batch * height * width)."""
    batch, channels, height, width = x.shape
    ahead = x.reshape(batch, channels, height * width).transpose(1, 0, 2)
    return ahead.reshape(groups, channels // groups, batch * height * width)


def _planes(by_group: list[Array], batch: int, height: int, width: int) -> Array:
    """The inverse of _by_group."""
    whole = np.concatenate(by_group, axis=0)
    apart = whole.reshape(whole.shape[0], batch, height, width)
    return np.stack([apart[:, b] for b in range(batch)])


def _windows(input: Array, groups: int, down: Axis, across: Axis) -> Array:
    framed = _framed(_framed(input, 2, down.pad, down.framed), 3, across.pad, across.framed)
    return _columns(framed, groups, down, across)


@ieee
def conv2d(
    input: Array, weight: Array, bias: Array | None, stride_h: int, stride_w: int, pad_h: int, pad_w: int,
    dilation_h: int, dilation_w: int, groups: int, has_bias: int,
) -> Array:  # fmt: skip
    """Cross-correlation: (batch, out_channels, out_h, out_w), with out_h and out_w as the header has them.

    input: (batch, in_channels, height, width), weight: (out_channels, in_channels / groups, kernel_h, kernel_w),
    bias: (out_channels,), not read where has_bias is 0.
    """
    check_groups("conv2d", groups, input.shape[1], weight.shape)
    steps = (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w)
    down, across = axes("conv2d", input.shape[2:], weight.shape[2:], *steps)
    columns = _windows(input, groups, down, across)
    matrices = weight.reshape(groups, weight.shape[0] // groups, columns.shape[1])
    sums = [product(matrices[g], columns[g]) for g in range(groups)]
    output = _planes(sums, input.shape[0], down.outputs, across.outputs)
    if not has_bias:
        return output
    if bias is None:
        raise ValueError("conv2d: bias: expected an array, as has_bias is not 0, got None")
    check(bias.shape == weight.shape[:1], "conv2d", "bias", f"the shape {weight.shape[:1]}", bias.shape)
    return output + bias.reshape(1, -1, 1, 1)


@ieee
def conv2d_backward_input(
    weight: Array, d_output: Array, in_channels: int, height: int, width: int, stride_h: int, stride_w: int, pad_h: int,
    pad_w: int, dilation_h: int, dilation_w: int, groups: int,
) -> Array:  # fmt: skip
    """d_input of conv2d: (batch, in_channels, height, width).

    What a place is read by: d_output, its elements a stride apart, met by the kernel from its last tap to its first.
    weight: (out_channels, in_channels / groups, kernel_h, kernel_w), d_output: (batch, out_channels, out_h, out_w).
    """
    operation = "conv2d_backward_input"
    check_groups(operation, groups, in_channels, weight.shape)
    steps = (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w)
    both = axes(operation, (height, width), weight.shape[2:], *steps)
    _check_outputs(operation, d_output, weight.shape[0], both)
    met = d_output
    for place, axis in enumerate(both, start=2):
        met = _framed(_spread(met, place, axis.stride), place, axis.span - axis.pad, axis.back.length)
    columns = _columns(met, groups, *(axis.back for axis in both))
    out_channels, each = weight.shape[:2]
    turned = np.flip(weight, (2, 3)).reshape(groups, out_channels // groups, each, -1).transpose(0, 2, 1, 3)
    matrices = turned.reshape(groups, each, columns.shape[1])
    sums = [product(matrices[g], columns[g]) for g in range(groups)]
    return _planes(sums, d_output.shape[0], height, width)


@ieee
def conv2d_backward_weight(
    input: Array, d_output: Array, d_weight: Array | None, kernel_h: int, kernel_w: int, stride_h: int, stride_w: int,
    pad_h: int, pad_w: int, dilation_h: int, dilation_w: int, groups: int, beta: float,
) -> Array:  # fmt: skip
    """d_weight of conv2d, added to beta times the one given (not read where beta is 0).

    input: (batch, in_channels, height, width), d_output: (batch, out_channels, out_h, out_w),
    d_weight: (out_channels, in_channels / groups, kernel_h, kernel_w).
    """
    operation = "conv2d_backward_weight"
    in_channels, out_channels = input.shape[1], d_output.shape[1]
    shape = (out_channels, in_channels // max(groups, 1), kernel_h, kernel_w)
    check_groups(operation, groups, in_channels, shape)
    steps = (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w)
    both = axes(operation, input.shape[2:], (kernel_h, kernel_w), *steps)
    _check_outputs(operation, d_output, out_channels, both)
    columns, rows = _windows(input, groups, *both), _by_group(d_output, groups)
    sums = [product(rows[g], columns[g].T) for g in range(groups)]
    return accumulate(np.concatenate(sums, axis=0).reshape(shape), d_weight, beta)


@ieee
def conv2d_backward_bias(d_output: Array, d_bias: Array | None, beta: float) -> Array:
    """The sum of d_output (batch, out_channels, out_h, out_w) of each channel, added to beta times d_bias."""
    return accumulate(np.sum(_by_group(d_output, 1)[0], axis=-1), d_bias, beta)


def _check_outputs(operation: str, d_output: Array, channels: int, both: tuple[Axis, Axis]) -> None:
    expected = (len(d_output), channels, *(axis.outputs for axis in both))
    check(d_output.shape == expected, operation, "d_output", f"the shape {expected}", d_output.shape)
