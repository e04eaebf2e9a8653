"""Convolutions in a layer of a residual network: samples and filters are drawn, sums run along whole axes."""

from __future__ import annotations

from conformance.catalogue.cases.convolution import LAYER
from conformance.catalogue.cases.spec import nan

from .call import FullCall

_FEWER = {**LAYER, "height": 28, "width": 28}
_BIAS = {"batch": 16, "out_channels": 64, "out_h": 56, "out_w": 56}
_WHY_FEWER = "planes of 28 x 28: those of 56 x 56 have the judge hold 64 x 9 columns of 50,176 outputs"

CALLS = (
    FullCall(
        "conv2d",
        {**LAYER, "has_bias": 1},
        {"batch": 2, "out_channels": 5},
        scaled={"out_channels": ("weight", "bias", "output")},
    ),
    FullCall("conv2d_backward_input", LAYER, {"batch": 1}, scaled={"batch": ("d_output", "d_input")}),
    FullCall(
        "conv2d_backward_weight",
        {**_FEWER, "beta": 0.0},
        {"out_channels": 5},
        {"d_weight": nan},
        {"out_channels": ("d_output", "d_weight")},
        why=_WHY_FEWER,
    ),
    FullCall(
        "conv2d_backward_bias",
        {**_BIAS, "beta": 1.0},
        {"out_channels": 5},
        scaled={"out_channels": ("d_output", "d_bias")},
    ),
)
