"""Sums and products of equal shapes, a number times a value, and a vector added to every row or column."""

from __future__ import annotations

from typing import ClassVar

from graph.attributes import Attribute
from graph.errors import refuse
from graph.records import Record
from reference.arrays import Array
from reference.namespace import Ops

from .context import Context
from .kind import Arrays, Gradients, Kind, Names, Open, Result, Saved, Shape, Shapes, flat, rows_of, same


class Pairwise(Kind):
    """A function of two values of one shape."""

    def input_names(self, record: Record) -> Names:
        return Names(("a", "b"))

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        same(where, f"input {record.inputs[1]}", inputs[1], inputs[0], record.inputs[0])
        return inputs[0]

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        a, b = inputs
        return getattr(ops, self.name)(flat(a), flat(b)).reshape(a.shape), ()


class Add(Pairwise):
    """output = a + b."""

    name = "add"

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        return (d_output, d_output), ()


class Mul(Pairwise):
    """output = a * b, element by element."""

    name = "mul"

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        a, b = inputs
        d = flat(d_output)
        return (ops.mul(d, flat(b)).reshape(a.shape), ops.mul(d, flat(a)).reshape(a.shape)), ()


class Scale(Kind):
    """output = input * scale."""

    name = "scale"
    attributes: ClassVar = (Attribute("scale", "float"),)

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        return inputs[0]

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        (x,) = inputs
        return ops.scale(flat(x), scale=record.attributes["scale"]).reshape(x.shape), ()

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        return (ops.scale(flat(d_output), scale=record.attributes["scale"]).reshape(d_output.shape),), ()


class Broadcast(Kind):
    """A vector added to a matrix; it is a parameter, or a value where the record names none."""

    vector: ClassVar[str]
    axis: ClassVar[int]

    def input_names(self, record: Record) -> Names:
        return Names(("input",)) if record.parameters else Names(("input", self.vector))

    def parameter_names(self, record: Record) -> Names:
        return Names((self.vector,)) if record.parameters else Names(())

    def parameter_shapes(self, where: str, record: Record, inputs: Shapes) -> tuple[Open, ...]:
        if len(inputs[0]) < 2:
            raise refuse(f"{where}: input", "shape (rows, cols), the rows on one axis or more", inputs[0])
        return (self._due(inputs[0]),) if record.parameters else ()

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        vector = (*inputs, *parameters)[1]
        if vector != self._due(inputs[0]):
            raise refuse(f"{where}: {self.vector}", f"shape {self._due(inputs[0])}", vector)
        return inputs[0]

    def _due(self, shape: Shape) -> Shape:
        return (shape[self.axis],)

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        x, vector = (*inputs, *parameters)
        operation = getattr(ops, f"add_{self.vector}")
        return operation(self._matrix(x), vector).reshape(x.shape), ()

    def _matrix(self, x: Array) -> Array:
        return rows_of(x) if self.axis == -1 else x.reshape(x.shape[0], -1)

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        d_vector = getattr(ops, f"add_{self.vector}_backward")(self._matrix(d_output), None, beta=0.0)
        return ((d_output,), (d_vector,)) if record.parameters else ((d_output, d_vector), ())


class AddBias(Broadcast):
    """output = input + row, in every row. input: (..., cols), row: (cols,)."""

    name, vector, axis = "add_bias", "row", -1


class AddColumn(Broadcast):
    """output = input + column, in every column. input: (rows, ...), column: (rows,)."""

    name, vector, axis = "add_column", "column", 0
