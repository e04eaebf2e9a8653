"""Convolutions as ONNX's operators, and a node of these as a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graph.onnx_import.windows import by_sides, steps

from .graph import Graph
from .node import Call, Node, expect, expect_float32

_NAMES = {"strides": "stride", "dilations": "dilation"}


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    pairs = {name: (given[f"{own}_h"], given[f"{own}_w"]) for name, own in _NAMES.items()}
    return {**pairs, "pads": (given["pad_h"], given["pad_w"]) * 2, "group": given["groups"]}


def conv2d(graph: Graph) -> None:
    added = [graph.given("bias")] if graph.arguments["has_bias"] else []
    factors = (graph.given("input"), graph.given("weight"))
    graph.result("output", graph.node("Conv", *factors, *added, **_settings(graph.arguments)))


def conv2d_backward_input(graph: Graph) -> None:
    """What the stride leaves of the input is the output's padding of the transposed convolution."""
    given = graph.arguments
    left = []
    for axis, size, place in (("h", "height", 2), ("w", "width", 3)):
        span = given[f"dilation_{axis}"] * (given["weight"].shape[place] - 1) + 1
        read = (given["d_output"].shape[place] - 1) * given[f"stride_{axis}"] + span - 2 * given[f"pad_{axis}"]
        left.append(given[size] - read)
    factors = (graph.given("d_output"), graph.given("weight"))
    result = graph.node("ConvTranspose", *factors, **_settings(given), output_padding=left)
    graph.result("d_input", result)


def conv2d_backward_bias(graph: Graph) -> None:
    axes = graph.constant([0, 2, 3], np.int64)
    total = graph.node("ReduceSum", graph.given("d_output"), axes, keepdims=0)
    if beta := graph.arguments["beta"]:
        old = graph.node("Mul", graph.given("d_bias"), graph.constant(beta, np.float32))
        total = graph.node("Add", total, old)
    graph.result("d_bias", total)


def _steps(node: Node, axes: int) -> dict[str, Any]:
    """The header's numbers of a node."""
    return {**by_sides(steps(node.attributes, axes)), "groups": int(node.attributes.get("group", 1))}


def conv(node: Node) -> Call:
    """conv2d, with a bias or without."""
    expect_float32(node)
    x, weight, bias = (node.given(place) for place in range(3))
    added = np.zeros(len(weight), np.float32) if bias is None else bias
    arguments = {"input": x, "weight": weight, "bias": added, **_steps(node, x.ndim), "has_bias": int(bias is not None)}
    return Call("conv2d", arguments, {"output": node.outputs[0]})


def conv_transpose(node: Node) -> Call:
    """conv2d_backward_input, of which the result is as large as a convolution's input."""
    expect_float32(node)
    d_output, weight = node.given(0), node.given(1)
    found = _steps(node, d_output.ndim)
    expect(node.given(2) is None, "a bias")
    [due] = node.outputs
    for axis, place in (("h", 2), ("w", 3)):
        span = found[f"dilation_{axis}"] * (weight.shape[place] - 1) + 1
        framed = due.shape[place] + 2 * found[f"pad_{axis}"]
        outputs = (framed - span) // found[f"stride_{axis}"] + 1
        expect(outputs == d_output.shape[place], "more rows or columns than a convolution reads")
    sizes = {"in_channels": due.shape[1], "height": due.shape[2], "width": due.shape[3]}
    return Call("conv2d_backward_input", {"weight": weight, "d_output": d_output, **sizes, **found}, {"d_input": due})
