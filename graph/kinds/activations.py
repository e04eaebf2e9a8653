"""Activation functions, softmax and dropout."""

from __future__ import annotations

from typing import ClassVar

from graph.attributes import Attribute
from graph.errors import refuse
from graph.records import Record
from reference.arrays import Array
from reference.namespace import Ops

from .context import Context
from .kind import Arrays, Gradients, Kind, Result, Saved, Shape, Shapes, flat, rows_of


class Elementwise(Kind):
    """An operation of the header on every element, and its backward, which reads the input or the output."""

    reads_output: ClassVar[bool] = False

    def operation(self, record: Record) -> str:
        return self.name

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        return inputs[0]

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        (x,) = inputs
        return getattr(ops, self.operation(record))(flat(x), **self._numbers(record)).reshape(x.shape), ()

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        read = output if self.reads_output else inputs[0]
        backward = getattr(ops, f"{self.operation(record)}_backward")
        return (backward(flat(read), flat(d_output), **self._numbers(record)).reshape(d_output.shape),), ()

    def _numbers(self, record: Record) -> dict[str, float]:
        return {"alpha": record.attributes["alpha"]} if "alpha" in record.attributes else {}


class ReLU(Elementwise):
    """output = max(input, 0)."""

    name = "relu"


class LeakyReLU(Elementwise):
    """output = input where it is above 0, else alpha * input."""

    name = "leaky_relu"
    attributes: ClassVar = (Attribute("alpha", "float", 0.01),)


class ELU(Elementwise):
    """output = input where it is above 0, else alpha * (exp(input) - 1)."""

    name = "elu"
    attributes: ClassVar = (Attribute("alpha", "float", 1.0),)


class Sigmoid(Elementwise):
    """output = 1 / (1 + exp(-input))."""

    name, reads_output = "sigmoid", True


class Tanh(Elementwise):
    """output = tanh(input)."""

    name, reads_output = "tanh", True


class SiLU(Elementwise):
    """output = input * sigmoid(input)."""

    name = "silu"


class GELU(Elementwise):
    """output = input * Phi(input), Phi by the error function or by its form with tanh."""

    name = "gelu"
    attributes: ClassVar = (Attribute("form", "str", "erf", choices=("erf", "tanh")),)

    def operation(self, record: Record) -> str:
        return "gelu_tanh" if record.attributes["form"] == "tanh" else "gelu"


class Softmax(Kind):
    """output = softmax(input / temperature) along the last axis."""

    name = "softmax"
    attributes: ClassVar = (Attribute("temperature", "float", 1.0, above=0), Attribute("axis", "int", -1))

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        (shape,) = inputs
        if record.attributes["axis"] not in (-1, len(shape) - 1) or len(shape) < 2:
            expected = f"-1 or {len(shape) - 1}, the last of two or more"
            raise refuse(f"{where}: attribute axis", expected, f"{record.attributes['axis']} of shape {shape}")
        return shape

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        (x,), temperature = inputs, record.attributes["temperature"]
        if temperature == 1:
            return ops.softmax(rows_of(x)).reshape(x.shape), ()
        return ops.softmax_temperature(rows_of(x), temperature=temperature).reshape(x.shape), ()

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        y, d, temperature = rows_of(output), rows_of(d_output), record.attributes["temperature"]
        if temperature == 1:
            d_x = ops.softmax_backward(y, d)
        else:
            d_x = ops.softmax_temperature_backward(y, d, temperature=temperature)
        return (d_x.reshape(d_output.shape),), ()


def stream_of(number: int, record: Record) -> int:
    """What a dropout draws by: its stream, or its number where none is stated."""
    stream = record.attributes["stream"]
    return number if stream is None else int(stream)


class Dropout(Kind):
    """While training: 0 with probability rate, else input / (1 - rate), drawn by context.philox_of. Else the input.

    stream: what it draws by in place of the record's number, so that a record keeps its draws at another place.
    """

    name = "dropout"
    attributes: ClassVar = (Attribute("rate", "float", least=0, below=1), Attribute("stream", "int", None, least=0))

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        return inputs[0]

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        (x,) = inputs
        if not context.training:
            return x, ()
        philox = context.philox(x, stream_of(context.number, record))
        return ops.dropout(flat(x), philox, rate=record.attributes["rate"]).reshape(x.shape), (philox,)

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        (philox,) = saved
        d_x = ops.dropout_backward(flat(d_output), philox, rate=record.attributes["rate"])
        return (d_x.reshape(d_output.shape),), ()
