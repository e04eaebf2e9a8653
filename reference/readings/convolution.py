"""Wrong readings of the convolutions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from reference.arrays import Array, accumulate
from reference.ops import convolution as ops

from .reading import Given, Reading, as_stored, bfloat16, fed, giving, tf32

Change = Callable[[Given], Given]  # of a call's arguments: those that are another


def _places(g: Given, axis: str, kernel: int, outputs: int) -> Array:
    """What each tap meets, (kernel, outputs); where that is outside of the plane too."""
    taps = np.arange(kernel)[:, None] * g[f"dilation_{axis}"]
    return np.arange(outputs) * g[f"stride_{axis}"] - g[f"pad_{axis}"] + taps


def _inside(places: Array, length: int) -> Array:
    return (places >= 0) & (places < length)


def _met(g: Given, kernel: tuple[int, ...], outputs: tuple[int, ...], is_padded: bool = True) -> Array:
    """(batch, in_channels, kernel_h, kernel_w, out_h, out_w): 0 outside, or where not is_padded what is at the edge."""
    x = g["input"]
    rows, columns = _places(g, "h", kernel[0], outputs[0]), _places(g, "w", kernel[1], outputs[1])
    down, across = (np.clip(p, 0, n - 1) for p, n in ((rows, x.shape[2]), (columns, x.shape[3])))
    met = x[:, :, down[:, None, :, None], across[None, :, None, :]]
    inside = _inside(rows, x.shape[2])[:, None, :, None] & _inside(columns, x.shape[3])[None, :, None, :]
    return np.where(inside, met, x.dtype.type(0)) if is_padded else met


def _by_group(x: Array, groups: int, axis: int) -> list[Array]:
    return np.split(x, groups, axis=axis)


def _summed(met: Array, weight: Array, bias: Array | None, groups: int) -> Array:
    pairs = zip(_by_group(met, groups, 1), _by_group(weight, groups, 0), strict=True)
    sums = np.concatenate([np.einsum("bcijyx,ocij->boyx", m, w) for m, w in pairs], axis=1)
    return sums if bias is None else sums + bias.reshape(1, -1, 1, 1)


def _conv2d(g: Given, shape: tuple[int, ...], is_padded: bool = True) -> Array:
    met = _met(g, g["weight"].shape[2:], shape[2:], is_padded)
    return _summed(met, g["weight"], g["bias"] if g["has_bias"] else None, g["groups"])


def _d_input(g: Given, shape: tuple[int, ...], taps: slice = slice(None)) -> Array:
    """Tap by tap: what each hands back is added where it was read."""
    weight, d_output = g["weight"], g["d_output"]
    rows, columns = (_places(g, axis, weight.shape[i], d_output.shape[i]) for axis, i in (("h", 2), ("w", 3)))
    d_input = np.zeros(shape, d_output.dtype)
    for i, j in _taps(weight)[taps]:
        pairs = zip(_by_group(d_output, g["groups"], 1), _by_group(weight[:, :, i, j], g["groups"], 0), strict=True)
        back = np.concatenate([np.einsum("boyx,oc->bcyx", d, w) for d, w in pairs], axis=1)
        down, across = _inside(rows[i], shape[2]), _inside(columns[j], shape[3])
        place: Any = (slice(None), slice(None), rows[i][down][:, None], columns[j][across][None, :])
        np.add.at(d_input, place, back[:, :, down][:, :, :, across])
    return d_input


def _taps(weight: Array) -> list[tuple[int, ...]]:
    return list(np.ndindex(*weight.shape[2:]))


def _d_weight(g: Given, shape: tuple[int, ...]) -> Array:
    d_output = g["d_output"]
    met = _met(g, shape[2:], d_output.shape[2:])
    pairs = zip(_by_group(d_output, g["groups"], 1), _by_group(met, g["groups"], 1), strict=True)
    sums = [np.einsum("boyx,bcijyx->ocij", d, m) for d, m in pairs]
    return accumulate(np.concatenate(sums, axis=0), g["d_weight"], g["beta"])


def _kept(g: Given) -> Array | float:
    return g["beta"] * g["d_weight"] if g["beta"] else 0.0


BY_STEPS: tuple[tuple[Callable[..., Any], Callable[..., Array]], ...] = (
    (ops.conv2d, _conv2d),
    (ops.conv2d_backward_input, _d_input),
    (ops.conv2d_backward_weight, _d_weight),
)


def _stepping(operation: Callable[..., Any], own: Callable[..., Array], change: Change) -> Callable[..., Any]:
    """An operation with other steps, and the shape that it has to have."""
    return giving(operation, lambda r, g: own(g | change(g), r.shape))


def _of_steps(name: str, why: str, change: Change) -> Iterator[Reading]:
    return (Reading(op.__name__, name, why, _stepping(op, own, change)) for op, own in BY_STEPS)


def _flipped(g: Given) -> Array:
    return g["weight"][:, :, ::-1, ::-1]


def _other_storage(g: Given) -> Array:
    """The memory of the kernels taken for columns of rows."""
    weight = g["weight"]
    return np.swapaxes(as_stored(weight, *weight.shape[:2], weight.shape[3], weight.shape[2]), 2, 3)


def _interleaved(x: Array, groups: int, axis: int) -> Array:
    """Channels dealt out to the groups by turns."""
    order = np.arange(x.shape[axis]).reshape(-1, groups).T.reshape(-1)
    return np.take(x, order, axis=axis)


def _channels_last(g: Given) -> Array:
    batch, channels, height, width = g["input"].shape
    return as_stored(g["input"], batch, height, width, channels).transpose(0, 3, 1, 2)


def _of_columns(r: Array, g: Given) -> Array:
    """The bias by the column of an output."""
    bias = g["bias"]
    if not g["has_bias"]:
        return r
    return r - bias.reshape(1, -1, 1, 1) + bias[np.arange(r.shape[3]) % len(bias)]


def _bias_of_first_group(r: Array, g: Given) -> Array:
    """The bias by the filter's number in its group."""
    if not g["has_bias"]:
        return r
    bias, each = g["bias"], len(g["bias"]) // g["groups"]
    return r + (bias[np.arange(len(bias)) % each] - bias).reshape(1, -1, 1, 1)


def _but_the_last_sample(x: Array) -> Array:
    """The last of several samples is as good as not there."""
    kept = np.arange(len(x)) < max(1, len(x) - 1)
    return np.where(kept.reshape(-1, 1, 1, 1), x, x.dtype.type(0))


def _first_group(x: Array, groups: int, axis: int) -> Array:
    first = _by_group(x, groups, axis)[0]
    return np.concatenate([first] * groups, axis=axis)


def _without(name: str) -> Change:
    return lambda g: {f"{name}_{axis}": 1 if name in ("stride", "dilation") else 0 for axis in "hw"}


def _exchanged(first: str, second: str) -> Change:
    return lambda g: {first: g[second], second: g[first]}


def _stride_and_dilation(g: Given) -> Given:
    return {f"{name}_{axis}": g[f"{other}_{axis}"] for name, other in _BOTH for axis in "hw"}


_BOTH = (("stride", "dilation"), ("dilation", "stride"))
_TF32 = "Tensor cores round what they multiply to 10 bits."
_BFLOAT16 = "What is multiplied was stored in 16 bits."
_LAST_SAMPLE = "Each sample's gradient is assigned where it should be added."
_MULTIPLIED: Mapping[Callable[..., Any], tuple[str, ...]] = {
    ops.conv2d: ("input", "weight"),
    ops.conv2d_backward_input: ("weight", "d_output"),
    ops.conv2d_backward_weight: ("input", "d_output"),
}


def _rounded(operation: Callable[..., Any], rounding: Callable[[Array], Array]) -> Callable[..., Any]:
    return fed(operation, **{name: lambda g, name=name: rounding(g[name]) for name in _MULTIPLIED[operation]})


READINGS = (
    *_of_steps("padding behind alone", "Windows begin at the planes' first elements.", _without("pad")),
    *_of_steps("dilation of rows for columns", "One for both axes.", lambda g: {"dilation_w": g["dilation_h"]}),
    *_of_steps("dilation of columns for rows", "One for both axes.", lambda g: {"dilation_h": g["dilation_w"]}),
    *_of_steps("dilation ignored", "Taps stand side by side.", _without("dilation")),
    *_of_steps("stride ignored", "Neighbouring windows are one element apart.", _without("stride")),
    *_of_steps("stride and dilation exchanged", "Which one spreads the taps is mixed up.", _stride_and_dilation),
    *_of_steps(
        "stride of rows for columns", "One stride is taken for both axes.", lambda g: {"stride_w": g["stride_h"]}
    ),
    *_of_steps("padding of rows for columns", "One padding for both axes.", lambda g: {"pad_w": g["pad_h"]}),
    *_of_steps("dilations exchanged", "Width before height.", _exchanged("dilation_h", "dilation_w")),
    *_of_steps("paddings exchanged", "Width before height.", _exchanged("pad_h", "pad_w")),
    *(Reading(op.__name__, "factors in TF32", _TF32, _rounded(op, tf32), says="TF32|10 bits") for op in _MULTIPLIED),
    *(
        Reading(op.__name__, "factors in bfloat16", _BFLOAT16, _rounded(op, bfloat16), says="bfloat16")
        for op in _MULTIPLIED
    ),
    Reading(
        "conv2d", "kernel flipped", "Convolution in the sense of signal processing.", fed(ops.conv2d, weight=_flipped)
    ),
    Reading(
        "conv2d",
        "edges repeated",
        "Padding holds the nearest element of the plane.",
        giving(ops.conv2d, lambda r, g: _conv2d(g, r.shape, is_padded=False)),
    ),
    Reading("conv2d", "kernels stored by columns", "Width before height.", fed(ops.conv2d, weight=_other_storage)),
    Reading(
        "conv2d",
        "channels last",
        "The planes of a sample lie element by element.",
        fed(ops.conv2d, input=_channels_last),
    ),
    Reading(
        "conv2d",
        "first group for all",
        "Every filter reads the first channels.",
        fed(ops.conv2d, input=lambda g: _first_group(g["input"], g["groups"], 1)),
    ),
    Reading(
        "conv2d",
        "input channels dealt out to groups",
        "Channel c belongs to group c modulo groups.",
        fed(ops.conv2d, input=lambda g: _interleaved(g["input"], g["groups"], 1)),
    ),
    Reading("conv2d", "no bias", "The bias is left to another operation.", fed(ops.conv2d, has_bias=lambda g: 0)),
    Reading(
        "conv2d",
        "bias of the first group for all",
        "Where a group begins is left out of the bias's index.",
        giving(ops.conv2d, _bias_of_first_group),
    ),
    Reading("conv2d", "bias by column", "The bias is added along the last axis.", giving(ops.conv2d, _of_columns)),
    Reading(
        "conv2d",
        "first sample for all",
        "The batch is not advanced.",
        fed(ops.conv2d, input=lambda g: np.repeat(g["input"][:1], len(g["input"]), axis=0)),
    ),
    Reading(
        "conv2d_backward_input",
        "kernel not turned",
        "The gradient correlates with the kernel as it is.",
        fed(ops.conv2d_backward_input, weight=_flipped),
    ),
    Reading(
        "conv2d_backward_input",
        "last tap alone",
        "Windows that overlap overwrite each other.",
        giving(ops.conv2d_backward_input, lambda r, g: _d_input(g, r.shape, slice(-1, None))),
    ),
    Reading(
        "conv2d_backward_input",
        "first group for all",
        "Every group's channels get what the first filters give.",
        fed(ops.conv2d_backward_input, weight=lambda g: _first_group(g["weight"], g["groups"], 0)),
    ),
    Reading(
        "conv2d_backward_input",
        "kernels stored by columns",
        "Width before height.",
        fed(ops.conv2d_backward_input, weight=_other_storage),
    ),
    Reading(
        "conv2d_backward_weight",
        "last sample alone",
        _LAST_SAMPLE,
        fed(
            ops.conv2d_backward_weight,
            input=lambda g: g["input"][-1:],
            d_output=lambda g: g["d_output"][-1:],
        ),
    ),
    Reading(
        "conv2d_backward_weight",
        "mean over the batch",
        "The loss's own mean is taken once more.",
        fed(
            ops.conv2d_backward_weight, d_output=lambda g: g["d_output"] / g["d_output"].dtype.type(len(g["d_output"]))
        ),
    ),
    Reading(
        "conv2d_backward_weight",
        "kernel flipped",
        "The gradient of a convolution in the sense of signal processing.",
        giving(
            ops.conv2d_backward_weight, lambda r, g: _d_weight(g | {"beta": 0.0}, r.shape)[:, :, ::-1, ::-1] + _kept(g)
        ),
    ),
    Reading(
        "conv2d_backward_weight",
        "first group for all",
        "Every filter's gradient comes of the first channels.",
        fed(ops.conv2d_backward_weight, input=lambda g: _first_group(g["input"], g["groups"], 1)),
    ),
    *(
        Reading(op.__name__, "beta ignored", "The gradient is assigned.", fed(op, beta=lambda g: 0.0))
        for op in (ops.conv2d_backward_weight, ops.conv2d_backward_bias)
    ),
    *(
        Reading(
            op.__name__,
            "beta taken for a switch",
            "Where beta is not 0 the gradient is added to what is there.",
            fed(op, beta=lambda g: 1.0 if g["beta"] else 0.0),
        )
        for op in (ops.conv2d_backward_weight, ops.conv2d_backward_bias)
    ),
    *(
        Reading(
            op.__name__,
            "last sample missing",
            "The batch is cut into parts of whole samples, and the rest is left.",
            fed(op, d_output=lambda g: _but_the_last_sample(g["d_output"])),
        )
        for op in (ops.conv2d_backward_weight, ops.conv2d_backward_bias)
    ),
    Reading(
        "conv2d_backward_bias",
        "last sample alone",
        _LAST_SAMPLE,
        fed(ops.conv2d_backward_bias, d_output=lambda g: g["d_output"][-1:]),
    ),
    Reading(
        "conv2d_backward_bias",
        "mean over the outputs",
        "What is averaged is the sum over samples, rows and columns.",
        fed(
            ops.conv2d_backward_bias,
            d_output=lambda g: g["d_output"] / g["d_output"].dtype.type(g["d_output"][:, 0].size),
        ),
    ),
    Reading(
        "conv2d_backward_bias",
        "first row alone",
        "The sum over rows is left out.",
        fed(ops.conv2d_backward_bias, d_output=lambda g: g["d_output"][:, :, :1]),
    ),
)
