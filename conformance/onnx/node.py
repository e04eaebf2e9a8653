"""A node of an ONNX model with its arrays, and the call of an operation that it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from graph.onnx_import.refused import expect

__all__ = ["Call", "Node", "expect", "expect_float32"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Node:
    """One node of a test: its attributes, its inputs (None for one that is left out) and its outputs."""

    attributes: Mapping[str, Any]
    inputs: Sequence[Array | None]
    outputs: Sequence[Array]

    def given(self, place: int) -> Any:
        """Return an input, or None where there is none."""
        return self.inputs[place] if place < len(self.inputs) else None


@dataclass(frozen=True)
class Call:
    """A call of an operation, and what the test says of it: outputs by the header's names, not all of them."""

    operation: str
    arguments: Mapping[str, Any]
    due: Mapping[str, Array]


def expect_float32(node: Node) -> None:
    """Raise NotApplicableError where a node is of other types, or of whole numbers."""
    arrays = [each for each in (*node.inputs, *node.outputs) if each is not None and each.dtype.kind != "i"]
    kinds = sorted({array.dtype.name for array in arrays} - {"float32"})
    expect(not kinds, f"of {', '.join(kinds)}, the header's of float32")
    whole = all(each is None or each.dtype.kind == "i" for each in node.inputs)
    expect(not whole, "of whole numbers, the header's of float32")
