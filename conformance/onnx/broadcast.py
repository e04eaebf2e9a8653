"""A row or a column added to a matrix, and the dense layer, as ONNX's operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .graph import Graph

Build = Callable[[Graph], None]


def _add_row(graph: Graph) -> None:
    graph.result("output", graph.node("Add", graph.given("input"), graph.given("row")))


def _add_column(graph: Graph) -> None:
    column = graph.node("Unsqueeze", graph.given("column"), graph.constant([1], np.int64))
    graph.result("output", graph.node("Add", graph.given("input"), column))


def _summed(name: str, axis: int) -> Build:
    def build(graph: Graph) -> None:
        total = graph.node("ReduceSum", graph.given("d_output"), graph.constant([axis], np.int64), keepdims=0)
        if beta := graph.arguments["beta"]:
            old = graph.node("Mul", graph.given(name), graph.constant(beta, np.float32))
            total = graph.node("Add", total, old)
        graph.result(name, total)

    return build


# By the header's numbers: the operator, and whether it takes alpha.
_ACTIVATIONS: tuple[tuple[str, Mapping[str, Any], bool], ...] = (
    ("Identity", {}, False),
    ("Relu", {}, False),
    ("LeakyRelu", {}, True),
    ("Elu", {}, True),
    ("Sigmoid", {}, False),
    ("Tanh", {}, False),
    ("Gelu", {"approximate": "none"}, False),
    ("Gelu", {"approximate": "tanh"}, False),
)


def _dense(graph: Graph) -> None:
    bias = [graph.given("bias")] if graph.arguments["has_bias"] else []
    pre = graph.node("Gemm", graph.given("input"), graph.given("weight"), *bias, transB=1)
    operator, settings, takes_alpha = _ACTIVATIONS[graph.arguments["activation"]]
    alpha = {"alpha": graph.arguments["alpha"]} if takes_alpha else {}
    graph.result("pre", pre)
    graph.result("output", graph.node(operator, pre, **settings, **alpha))


OPERATORS: Mapping[str, Build] = {
    "add_row": _add_row,
    "add_row_backward": _summed("d_row", 0),
    "add_column": _add_column,
    "add_column_backward": _summed("d_column", 1),
    "dense": _dense,
}
