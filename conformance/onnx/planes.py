"""Pooling and steps of sequences as ONNX's operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .graph import Graph, NotApplicableError, onnx

_WINDOW = ("kernel_h", "kernel_w", "stride_h", "stride_w", "pad_h", "pad_w")


def _window(graph: Graph) -> dict[str, Any]:
    kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w = (graph.arguments[name] for name in _WINDOW)
    pads = [pad_h, pad_w, pad_h, pad_w]
    return {"kernel_shape": [kernel_h, kernel_w], "strides": [stride_h, stride_w], "pads": pads}


def _max_pool2d(graph: Graph) -> None:
    planes = graph.arguments["input"]
    if np.isnan(planes).any() or np.isneginf(planes).any():
        raise NotApplicableError("ONNX does not say which is the largest of NaN, or of minus infinity and padding")
    _expect_no_ties(planes)
    output, places = graph.nodes("MaxPool", 2, graph.given("input"), **_window(graph))
    size = graph.constant(planes.shape[2] * planes.shape[3], np.int64)  # its places are counted in the whole array
    graph.result("output", output)
    graph.result("places", graph.node("Cast", graph.node("Mod", places, size), to=onnx().TensorProto.INT32))


def _expect_no_ties(planes: Any) -> None:
    height, width = planes.shape[2:]
    if any(len(np.unique(plane)) < plane.size for plane in planes.reshape(-1, height * width)):
        raise NotApplicableError("ONNX does not say which place is due of equal numbers")


def _max_pool2d_backward(graph: Graph) -> None:
    places = np.asarray(graph.arguments["places"])
    planes, count = places.shape[0] * places.shape[1], places.shape[2] * places.shape[3]
    height, width = graph.arguments["height"], graph.arguments["width"]
    flat = graph.constant([planes, count], np.int64)
    wide = graph.node("Cast", graph.given("places"), to=onnx().TensorProto.INT64)
    rows = (graph.node("Reshape", tensor, flat) for tensor in (wide, graph.given("d_output")))
    zeros = graph.constant(np.zeros((planes, height * width)), np.float32)
    added = graph.node("ScatterElements", zeros, *rows, axis=1, reduction="add")
    shape = graph.constant([*places.shape[:2], height, width], np.int64)
    graph.result("d_input", graph.node("Reshape", added, shape))


def _avg_pool2d(graph: Graph) -> None:
    counted = graph.arguments["count_include_pad"]
    pool = graph.node("AveragePool", graph.given("input"), count_include_pad=counted, **_window(graph))
    graph.result("output", pool)


def _slice_steps(graph: Graph) -> None:
    first, count = graph.arguments["first"], graph.arguments["count"]
    bounds = (graph.constant([number], np.int64) for number in (first, first + count, 1))
    graph.result("output", graph.node("Slice", graph.given("input"), *bounds))


def _slice_steps_backward(graph: Graph) -> None:
    first, steps = graph.arguments["first"], graph.arguments["steps"]
    behind = steps - first - graph.arguments["d_output"].shape[1]
    pads = graph.constant([0, first, 0, 0, behind, 0], np.int64)
    graph.result("d_input", graph.node("Pad", graph.given("d_output"), pads))


def _concat_steps(graph: Graph) -> None:
    graph.result("output", graph.node("Concat", graph.given("a"), graph.given("b"), axis=1))


def _concat_steps_backward(graph: Graph) -> None:
    steps = graph.constant([graph.arguments["steps_a"], graph.arguments["steps_b"]], np.int64)
    for name, part in zip(("d_a", "d_b"), graph.nodes("Split", 2, graph.given("d_output"), steps, axis=1), strict=True):
        graph.result(name, part)


OPERATORS: Mapping[str, Callable[[Graph], None]] = {
    "max_pool2d": _max_pool2d,
    "max_pool2d_backward": _max_pool2d_backward,
    "avg_pool2d": _avg_pool2d,
    "slice_steps": _slice_steps,
    "slice_steps_backward": _slice_steps_backward,
    "concat_steps": _concat_steps,
    "concat_steps_backward": _concat_steps_backward,
}
