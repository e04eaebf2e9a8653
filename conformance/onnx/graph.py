"""One call as an ONNX graph: an array that is read is an input, a scalar is an attribute or a constant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.onnx_import.package import onnx
from graph.onnx_import.refused import NotApplicableError

__all__ = ["OPSET", "Graph", "NotApplicableError", "onnx"]

OPSET = 24  # the first with Swish
_IR_VERSION = 11  # the first that goes with it


class Graph:
    """A graph while nodes are added to it; a tensor is known by its name.

    arguments: the call's, by the header's names; inputs are called input.NAME and results output.NAME.
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.arguments = arguments
        self.inputs: dict[str, NDArray[Any]] = {}
        self.results: dict[str, str] = {}  # by the header's names
        self._constants: dict[str, NDArray[Any]] = {}
        self._nodes: list[tuple[str, tuple[str, ...], list[str], Mapping[str, Any]]] = []

    def given(self, name: str) -> str:
        """Return an argument that is an array, as an input of the model."""
        self.inputs[f"input.{name}"] = self.arguments[name]
        return f"input.{name}"

    def constant(self, value: Any, dtype: Any) -> str:
        """Return an array that is part of the model."""
        name = f"constant_{len(self._constants)}"
        self._constants[name] = np.asarray(value, dtype)
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of one result, and return that."""
        return self.nodes(operator, 1, *inputs, **attributes)[0]

    def nodes(self, operator: str, results: int, *inputs: str, **attributes: Any) -> list[str]:
        """Add a node of so many results, and return them."""
        names = [f"{operator.lower()}_{len(self._nodes)}_{place}" for place in range(results)]
        self._nodes.append((operator, inputs, names, attributes))
        return names

    def result(self, name: str, tensor: str) -> None:
        """Say which tensor is a result of the operation."""
        self.results[name] = tensor

    def model(self, due: Mapping[str, NDArray[Any]]) -> Any:
        """Return the checked model; due: each result, of the type and shape that it has."""
        helper, numpy_helper = onnx().helper, onnx().numpy_helper
        called = {tensor: f"output.{name}" for name, tensor in self.results.items()}
        nodes = [
            helper.make_node(
                kind, [called.get(i, i) for i in inputs], [called.get(o, o) for o in outputs], **attributes
            )
            for kind, inputs, outputs, attributes in self._nodes
        ]
        constants = [numpy_helper.from_array(array, name) for name, array in self._constants.items()]
        results = {f"output.{name}": due[name] for name in self.results}
        graph = helper.make_graph(nodes, "call", _declared(self.inputs), _declared(results), constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=_IR_VERSION)
        onnx().checker.check_model(model, full_check=True)
        return model


def _declared(arrays: Mapping[str, NDArray[Any]]) -> list[Any]:
    helper = onnx().helper
    return [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in arrays.items()
    ]
