"""Other shapes, and parts of sequences."""

from __future__ import annotations

from math import prod
from typing import ClassVar

from graph.attributes import Attribute
from graph.errors import refuse
from graph.records import Record
from reference.arrays import Array
from reference.namespace import Ops

from .context import Context
from .kind import Arrays, Gradients, Kind, Names, Result, Saved, Shape, Shapes, of_rank

_STEPS = "batch, steps, width"


class Reshape(Kind):
    """The same numbers in another shape: 0 keeps the length of that axis, one -1 stands for what is left."""

    name = "reshape"
    attributes: ClassVar[tuple[Attribute, ...]] = (Attribute("shape", "ints", least=-1),)

    def asked(self, record: Record) -> Shape:
        return tuple(record.attributes["shape"])

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        (shape,), asked = inputs, self.asked(record)
        kept = [shape[axis] if length == 0 and axis < len(shape) else length for axis, length in enumerate(asked)]
        rest = prod(length for length in kept if length != -1)
        lengths = tuple(prod(shape) // rest if length == -1 and rest else length for length in kept)
        if kept.count(-1) > 1 or prod(lengths) != prod(shape) or not lengths:
            raise refuse(f"{where}: attribute shape", f"one of {prod(shape)} numbers, as {shape} has", asked)
        return lengths

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        (x,) = inputs
        return x.reshape(self.infer("reshape", record, [tuple(x.shape)], [])), ()

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        return (d_output.reshape(inputs[0].shape),), ()


class Flatten(Reshape):
    """(batch, ...) as (batch, everything else)."""

    name = "flatten"
    attributes: ClassVar[tuple[Attribute, ...]] = ()

    def asked(self, record: Record) -> Shape:
        return (0, -1)


class SliceSteps(Kind):
    """`count` steps of each sample from step `first` on. input: (batch, steps, width)."""

    name = "slice_steps"
    attributes: ClassVar = (Attribute("first", "int", least=0), Attribute("count", "int", 1, least=1))

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        batch, steps, width = of_rank(where, "input", inputs[0], _STEPS)
        first, count = record.attributes["first"], record.attributes["count"]
        if first + count > steps:
            raise refuse(f"{where}: attributes first + count", f"at most {steps} steps", first + count)
        return (batch, count, width)

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        return ops.slice_steps(inputs[0], first=record.attributes["first"], count=record.attributes["count"]), ()

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        steps = inputs[0].shape[1]
        return (ops.slice_steps_backward(d_output, steps=steps, first=record.attributes["first"]),), ()


class ConcatSteps(Kind):
    """Of each sample the steps of a, then those of b. a, b: (batch, steps, width)."""

    name = "concat_steps"

    def input_names(self, record: Record) -> Names:
        return Names(("a", "b"))

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        (batch, steps, width), b = of_rank(where, "a", inputs[0], _STEPS), of_rank(where, "b", inputs[1], _STEPS)
        if (b[0], b[2]) != (batch, width):
            raise refuse(f"{where}: input {record.inputs[1]}", f"shape ({batch}, steps, {width})", b)
        return (batch, steps + b[1], width)

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        return ops.concat_steps(*inputs), ()

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        steps_a, steps_b = (array.shape[1] for array in inputs)
        return tuple(ops.concat_steps_backward(d_output, steps_a=steps_a, steps_b=steps_b)), ()
