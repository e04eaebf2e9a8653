"""Rows of a table by their number."""

from __future__ import annotations

from typing import ClassVar

from graph.attributes import Attribute
from graph.records import Record
from reference.arrays import Array
from reference.namespace import Ops

from .context import Context
from .kind import Arrays, Gradients, Kind, Names, Open, Result, Saved, Shape, Shapes, flat, rows_of


class Embedding(Kind):
    """output[i] = weight[indices[i]]. indices: int32 of any shape, weight: (vocab_size, width)."""

    name = "embedding"
    attributes: ClassVar = (Attribute("vocab_size", "int", None, least=1), Attribute("width", "int", None, least=1))
    integers = without_gradient = frozenset({"indices"})

    def input_names(self, record: Record) -> Names:
        return Names(("indices",))

    def parameter_names(self, record: Record) -> Names:
        return Names(("weight",))

    def parameter_shapes(self, where: str, record: Record, inputs: Shapes) -> tuple[Open, ...]:
        return ((record.attributes["vocab_size"], record.attributes["width"]),)

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        return (*inputs[0], parameters[0][1])

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        (indices,), (weight,) = inputs, parameters
        return ops.embedding(weight, flat(indices)).reshape((*indices.shape, weight.shape[1])), ()

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        (indices,), (weight,) = inputs, parameters
        none = ops.zero_grad(size=weight.size).reshape(weight.shape)
        return (None,), (ops.scatter_add(rows_of(d_output), flat(indices), none),)
