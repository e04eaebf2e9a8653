"""Nodes that read constants only: what they give is a constant too."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .builder import Builder
from .node import Node
from .package import onnx
from .refused import NotApplicableError

_DRAWN = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial")


def fold(builder: Builder, node: Node, opset: int) -> bool:
    """Compute a node's outputs by ONNX's own reference where all that it reads is constant; return whether it is."""
    if node.operator == "Shape":
        shape = np.array(builder.shape(node.inputs[0]), np.int64)
        first, last = node.attributes.get("start", 0), node.attributes.get("end")
        builder.constants[node.outputs[0]] = shape[first:last]
        return True
    given = [name for name in node.inputs if name]
    if node.operator in _DRAWN or any(builder.constant(name) is None for name in given):
        return False
    wanted = [name for name in node.proto.output if name]
    for name, array in zip(wanted, _evaluated(builder, node, given, opset), strict=True):
        builder.constants[name] = array
    return True


def _evaluated(builder: Builder, node: Node, given: list[str], opset: int) -> list[NDArray[Any]]:
    helper = onnx().helper
    held = {name: builder.constants[name] for name in given}
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in held.items()
    ]
    results = [helper.make_empty_tensor_value_info(name) for name in node.proto.output if name]
    graph = helper.make_graph([node.proto], "constant", declared, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    try:
        evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator(model)
        return [np.asarray(array) for array in evaluator.run(None, held)]
    except Exception as error:  # whatever an operator of ONNX's own reference makes of wrong constants
        raise NotApplicableError(f"it cannot be computed of its constants: {error}") from error
