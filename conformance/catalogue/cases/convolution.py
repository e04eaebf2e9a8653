"""Cases of the convolutions: kernels, strides, padding, dilations and groups that no axis shares with the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from conformance.catalogue.design.levels import FINITE
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts

from .data import Array, Draw
from .spec import Maker, Sizes, Spec, nan, sizes

Pair = tuple[int, int]
Row = dict[str, Any]


def _row(
    batch: int, channels: Pair, planes: Pair, kernel: Pair, stride: Pair = (1, 1), pad: Pair = (0, 0),
    dilation: Pair = (1, 1), groups: int = 1,
) -> Row:  # fmt: skip
    """The sizes of a call in the header's order; channels: of input and output."""
    pairs = {"kernel": kernel, "stride": stride, "pad": pad, "dilation": dilation}
    steps = {f"{name}_{axis}": pair[i] for name, pair in pairs.items() for i, axis in enumerate("hw")}
    first = {"batch": batch, "in_channels": channels[0], "height": planes[0], "width": planes[1]}
    return {**first, "out_channels": channels[1], **steps, "groups": groups}


_GROUPED = _row(2, (4, 6), (8, 9), (2, 3), (1, 2), (2, 1), (2, 1), 2)
_STRIDED = _row(1, (2, 4), (9, 8), (3, 2), (2, 3), (1, 0))
_SAME = _row(2, (3, 5), (5, 7), (3, 3), pad=(1, 1))
EVERY = [
    _row(1, (1, 1), (1, 1), (1, 1)),
    _SAME,
    _STRIDED,
    _GROUPED,
    _row(1, (6, 6), (7, 6), (3, 3), (1, 1), (1, 1), groups=6),
    _row(3, (5, 33), (4, 5), (1, 1)),
    _row(1, (33, 3), (3, 4), (3, 4)),
    _row(2, (2, 3), (3, 2), (2, 2), pad=(3, 4)),  # windows that hold nothing but zeros
    _row(1, (2, 2), (11, 13), (2, 3), (4, 5), (0, 1)),  # elements that no window reads
    _row(1, (2, 3), (3, 4), (5, 6), pad=(1, 1)),  # kernels that only fit by the padding
]
TAILS = [
    _row(1, (65, 17), (6, 6), (3, 3), pad=(1, 1)),
    _row(2, (3, 70), (9, 19), (3, 2), (1, 1), (0, 1)),
    _row(1, (2, 3), (40, 33), (5, 5)),
    _row(1, (2, 130), (4, 9), (1, 3), (1, 2), dilation=(1, 3)),
    _row(1, (1, 2), (3, 131), (3, 3), (1, 1), (1, 1)),
    _row(5, (29, 3), (3, 3), (3, 3), (2, 2), (1, 1)),
    _row(1, (115, 3), (3, 4), (3, 3), pad=(0, 1)),  # sums of 1,035 terms
    _row(1, (3, 115), (3, 4), (3, 3), pad=(0, 1)),
    _row(1, (1, 2), (2, 1034), (2, 3)),
    _row(1, (1, 2), (1, 1034), (1, 1030)),
    _row(1, (2, 300), (4, 5), (2, 2)),  # so many channels of few outputs that these alone can be shared out
    _row(1, (2, 300), (5, 5), (2, 2), (2, 2)),
    _row(1, (2, 307), (5, 5), (2, 2), (2, 2)),  # and the last of them are fewer than the others
    _row(1, (1, 300), (32, 32), (1, 1), (2, 2)),  # blocks of both, in more threads than one
    _row(1, (2, 3), (3, 3), (1, 1), (1, 2)),  # two windows with a column between
    _row(6, (6, 9), (13, 14), (2, 2), groups=3),  # samples enough for several sums of each group's weights
]
SOME = [_SAME, _GROUPED, _row(1, (9, 4), (6, 6), (3, 3), (2, 1), (1, 0))]
FEW = [_row(2, (2, 3), (4, 5), (1, 2)), _row(2, (2, 4), (5, 4), (2, 1), (2, 1), (1, 1), groups=2)]
INSIDE = [_row(2, (2, 3), (4, 5), (1, 2)), _row(2, (2, 4), (5, 4), (2, 1), (2, 1), groups=2)]  # nothing past an edge
MIXED = {"exact": SOME, "range": SOME, "swamp": SOME, "cancel": SOME}


def _with(rows: Mapping[str, list[Row]], **scalar: float) -> dict[str, list[Row]]:
    return {data: [{**row, **scalar} for row in found] for data, found in rows.items()}


_ORDINARY = {"plain": EVERY, "tails": TAILS, **MIXED}
_PLAIN_WEIGHT: dict[str, str | Maker] = {"weight": "plain"}


def _by_channel(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """A NaN in the first channel, an infinity in the second: a gradient of weights sums over all else."""
    values = draw.normal(shape)
    values[0, 0, -1, 0], values[-1, 1, 1, 1] = np.nan, np.inf
    return values


_SPECIAL_INPUT: dict[str, str | Maker] = {"input": _by_channel, "d_output": "plain", "d_weight": nan}
_SPECIAL_GRADIENT: dict[str, str | Maker] = {"input": "plain", "d_output": _by_channel, "d_weight": nan}
_BIAS_SIZES = "batch out_channels out_h out_w beta"
_BIAS = sizes(
    _BIAS_SIZES,
    *((1, 1, 1, 1, 0.0), (2, 3, 4, 5, 0.0), (3, 33, 1, 1, 0.0), (1, 5, 7, 65, 0.0), (33, 2, 1, 3, 0.0)),
)
_BIAS_TAILS = sizes(_BIAS_SIZES, (2, 3, 33, 129, 0.0), (1, 130, 3, 3, 0.0), (17, 4, 1, 257, 0.0), (2, 1030, 2, 1, 0.0))
_SOME_BIAS = sizes(_BIAS_SIZES, (2, 3, 4, 5, 0.0), (5, 2, 9, 33, 0.0))
_BIAS_DATA = {
    **{"plain": _BIAS, "tails": _BIAS_TAILS, "special": sizes(_BIAS_SIZES, (2, 7, 1, 2, 0.0))},
    **dict.fromkeys(("exact", "range", "swamp", "cancel"), _SOME_BIAS),
}

SPECS = (
    Spec("conv2d", _with(_ORDINARY, has_bias=1)),
    Spec("conv2d", _with({"plain": EVERY}, has_bias=0), {"bias": nan}, why="without_bias"),
    Spec("conv2d", _with({"special": FEW}, has_bias=1), _PLAIN_WEIGHT),
    Spec("conv2d", _with({"special": INSIDE}, has_bias=1), why="inside"),
    Spec("conv2d_backward_input", _ORDINARY),
    Spec("conv2d_backward_input", {"special": FEW}, _PLAIN_WEIGHT),
    Spec("conv2d_backward_weight", _with(_ORDINARY, beta=0.0), {"d_weight": nan}),
    Spec("conv2d_backward_weight", _with({"special": FEW}, beta=0.0), _SPECIAL_INPUT),
    Spec("conv2d_backward_weight", _with({"special": INSIDE}, beta=0.0), _SPECIAL_GRADIENT, why="inside"),
    *(Spec("conv2d_backward_weight", _with({"accumulate": SOME}, beta=beta)) for beta in (1.0, -0.5)),
    Spec("conv2d_backward_bias", _BIAS_DATA, {"d_bias": nan}),
    *(Spec("conv2d_backward_bias", _with({"accumulate": _SOME_BIAS}, beta=beta)) for beta in (1.0, -0.5)),
)

# A layer of a residual network on pictures of 224 x 224 (He et al. 2016): 64 channels in planes of 56 x 56.
LAYER = _row(16, (64, 64), (56, 56), (3, 3), pad=(1, 1))
_NEUTRAL = {"pad_h": 0, "pad_w": 0}
FACTS = (
    Facts(
        "conv2d",
        {**LAYER, "has_bias": 1},
        multiplies=True,
        factors=("input", "weight"),
        neutral={**_NEUTRAL, "has_bias": 1},
    ),
    Facts("conv2d_backward_input", LAYER, multiplies=True, neutral=_NEUTRAL),
    Facts(
        "conv2d_backward_weight",
        {**LAYER, "beta": 0.0},
        multiplies=True,
        factors=("input", "d_output"),
        neutral=_NEUTRAL,
    ),
    Facts("conv2d_backward_bias", {"batch": 16, "out_channels": 64, "out_h": 56, "out_w": 56, "beta": 0.0}),
)

_FACTORS = {
    "batch": (1, 2, 3, 7),
    "channels": (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 129),  # of a group
    "filters": (1, 2, 3, 4, 5, 7, 8, 9, 13, 14, 15, 17, 31, 33, 63, 65, 129),
    "groups": (1, 2, 3, 8),
    "rows": (1, 2, 3, 4, 7, 9, 14, 16, 31, 33, 65),  # of outputs
    "columns": (1, 2, 3, 4, 7, 9, 14, 16, 17, 31, 33, 65, 129, 257),
    "kernel_h": (1, 2, 3, 5, 7),
    "kernel_w": (1, 2, 3, 4, 9),
    "stride_h": (1, 2, 3),
    "stride_w": (1, 2, 5),
    "pad_h": (0, 1, 2, 6),
    "pad_w": (0, 1, 3, 5),
    "dilation_h": (1, 2, 3),
    "dilation_w": (1, 2, 4),
    "rest": (0, 1, 2),  # rows and columns that no window reads, where the stride leaves some
}
_FOLLOWING: dict[str, tuple[int, ...]] = dict.fromkeys(("in_channels", "height", "width", "out_channels"), ())


def _derive(row: Mapping[str, Any]) -> dict[str, Any]:
    """The planes that give so many outputs, and more where they would have less than one row."""
    made = {
        name: value for name, value in row.items() if name not in ("channels", "filters", "rows", "columns", "rest")
    }
    made |= {"in_channels": row["channels"] * row["groups"], "out_channels": row["filters"] * row["groups"]}
    for axis, size, outputs in (("h", "height", "rows"), ("w", "width", "columns")):
        span = row[f"dilation_{axis}"] * (row[f"kernel_{axis}"] - 1) + 1
        unread = min(row["rest"], row[f"stride_{axis}"] - 1)
        made[size] = max(1, (row[outputs] - 1) * row[f"stride_{axis}"] + span + unread - 2 * row[f"pad_{axis}"])
    return made


def _work(row: Sizes) -> float:
    """Multiplications; a place that a stride leaves out counts, as backward passes may meet it."""
    planes = row["batch"] * (row["height"] + 2 * row["pad_h"]) * (row["width"] + 2 * row["pad_w"])
    weights = row["out_channels"] * row["in_channels"] // row["groups"] * row["kernel_h"] * row["kernel_w"]
    return float(planes * weights)


_FINITE: dict[str, str | Maker] = {value: value for value in FINITE}
_FINITE_ARRAYS = {
    "conv2d": {"weight": _FINITE},
    "conv2d_backward_input": {"weight": _FINITE},
    "conv2d_backward_weight": {"d_output": _FINITE},
}
_SCALARS = {"conv2d": {"has_bias": (1, 0)}}
DESIGNS = tuple(
    Design(name, sizes=_FACTORS | _FOLLOWING, scalars=_SCALARS.get(name, {}), arrays=arrays, derive=_derive, work=_work)
    for name, arrays in _FINITE_ARRAYS.items()
)
