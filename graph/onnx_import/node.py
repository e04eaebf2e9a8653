"""A node of a model, apart from the package that read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .package import onnx


@dataclass(frozen=True)
class Node:
    """inputs, outputs: names of tensors, "" for one that is left out, or that nothing reads.

    attributes: as onnx.helper gives them.
    """

    number: int
    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    proto: Any

    def given(self, place: int) -> str:
        """The name of an input, "" where there is none."""
        return self.inputs[place] if place < len(self.inputs) else ""

    def wanted(self, place: int) -> str:
        """The name of an output, "" where there is none."""
        return self.outputs[place] if place < len(self.outputs) else ""

    def __str__(self) -> str:
        return f"node {self.number} ({self.operator} -> {', '.join(filter(None, self.outputs))})"


def nodes(model: Any) -> Iterator[Node]:
    """Yield the nodes of a model's main graph that something reads; ONNX has them in an order of evaluation."""
    read = {name for proto in model.graph.node for name in proto.input} | {out.name for out in model.graph.output}
    for number, proto in enumerate(model.graph.node):
        attributes = {each.name: onnx().helper.get_attribute_value(each) for each in proto.attribute}
        operator = f"{proto.domain}.{proto.op_type}" if proto.domain not in ("", "ai.onnx") else proto.op_type
        if any(outputs := tuple(name if name in read else "" for name in proto.output)):
            yield Node(number, operator, tuple(proto.input), outputs, attributes, proto)
