"""How a node of convolution or pooling moves its window, as pairs of rows and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .refused import expect

Pair = tuple[int, int]
_AUTOMATIC = "padding that follows from the sizes"
_UNEVEN = "more padding on one side"


def _pair(given: Any) -> Pair:
    first, second = given
    return int(first), int(second)


def _padding(attributes: Mapping[str, Any]) -> Pair:
    expect(attributes.get("auto_pad", b"NOTSET") in (b"NOTSET", b"VALID"), _AUTOMATIC)
    pads = [*attributes.get("pads", [0] * 4)]
    expect(pads[:2] == pads[2:], _UNEVEN)
    return _pair(pads[:2])


def steps(attributes: Mapping[str, Any], axes: int) -> dict[str, Pair]:
    """Stride, padding and dilation of a convolution.  axes: of its input.  Raises NotApplicableError."""
    expect(axes == 4, "not of planes")
    stride, dilation = (_pair(attributes.get(name, [1, 1])) for name in ("strides", "dilations"))
    return {"stride": stride, "padding": _padding(attributes), "dilation": dilation}


def window(attributes: Mapping[str, Any]) -> dict[str, Pair]:
    """Kernel, stride and padding of a pooling.  Raises NotApplicableError."""
    expect(len(attributes["kernel_shape"]) == 2, "not of planes")
    expect(not attributes.get("ceil_mode", 0), "windows that are not filled, at the end")
    expect(set(attributes.get("dilations", [1])) == {1}, "dilated windows")
    kernel, padding = _pair(attributes["kernel_shape"]), _padding(attributes)
    expect(all(2 * pad <= size for pad, size in zip(padding, kernel, strict=True)), "padded by more than half a window")
    return {"kernel": kernel, "stride": _pair(attributes.get("strides", [1, 1])), "padding": padding}


def by_sides(pairs: Mapping[str, Pair]) -> dict[str, int]:
    """The header's scalars: stride = (2, 1) as stride_h = 2 and stride_w = 1."""
    short = {"padding": "pad"}
    return {f"{short.get(name, name)}_{side}": pair[i] for name, pair in pairs.items() for i, side in enumerate("hw")}
