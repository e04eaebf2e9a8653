"""Layer norm and batch norm."""

from __future__ import annotations

from math import prod
from typing import ClassVar

from graph.attributes import Attribute
from graph.errors import refuse
from graph.records import Record, place
from reference.arrays import Array
from reference.namespace import Ops

from .context import Context, copied
from .kind import Arrays, Gradients, Kind, Names, Open, Result, Saved, Shape, Shapes, rows_of


class LayerNorm(Kind):
    """Each row of the last axis less its mean, divided by the root of its variance + eps, times weight, plus bias."""

    name = "layernorm"
    attributes: ClassVar = (Attribute("eps", "float", 1e-5, least=0),)

    def parameter_names(self, record: Record) -> Names:
        return Names(("weight", "bias"))

    def parameter_shapes(self, where: str, record: Record, inputs: Shapes) -> tuple[Open, ...]:
        if len(inputs[0]) < 2:
            raise refuse(f"{where}: input", "shape (..., width)", inputs[0])
        return ((inputs[0][-1],),) * 2

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        return inputs[0]

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        output, mean, rstd = ops.layernorm(rows_of(inputs[0]), *parameters, eps=record.attributes["eps"])
        return output.reshape(inputs[0].shape), (mean, rstd)

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        rows, d = rows_of(inputs[0]), rows_of(d_output)
        d_x, d_weight, d_bias = ops.layernorm_backward(rows, parameters[0], *saved, d, None, None, beta=0.0)
        return (d_x.reshape(inputs[0].shape),), (d_weight, d_bias)


class BatchNorm(Kind):
    """Each channel by the mean and variance of the batch while training, by the running ones otherwise.

    input: (batch, channels, ...). momentum: the share of the new statistics, as in PyTorch; saved[2:] are the updated
    running mean and variance.
    """

    name = "batchnorm"
    attributes: ClassVar = (
        Attribute("eps", "float", 1e-5, least=0),
        Attribute("momentum", "float", 0.1, least=0, most=1),
    )
    state: ClassVar = frozenset({"running_mean", "running_var"})

    def parameter_names(self, record: Record) -> Names:
        return Names(("weight", "bias", "running_mean", "running_var"))

    def parameter_shapes(self, where: str, record: Record, inputs: Shapes) -> tuple[Open, ...]:
        if len(inputs[0]) < 2:
            raise refuse(f"{where}: input", "shape (batch, channels, ...)", inputs[0])
        return ((inputs[0][1],),) * 4

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        return inputs[0]

    def check_training(self, where: str, record: Record, inputs: Shapes) -> None:
        if record.parameters[2] == record.parameters[3]:
            raise refuse(f"{where}: parameters", "a running mean and another running variance", record.parameters[3])
        if prod(inputs[0]) == inputs[0][1]:
            raise refuse(f"{where}: input", "more than one number in a channel while training", inputs[0])

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        x, (weight, bias, mean, var) = _by_channel(inputs[0]), parameters
        eps = record.attributes["eps"]
        if not context.training:
            return ops.batchnorm_evaluation(x, weight, bias, mean, var, eps=eps).reshape(inputs[0].shape), ()
        self.check_training(place(context.number, record), record, [tuple(inputs[0].shape)])
        running = copied(ops, mean), copied(ops, var)
        momentum = record.attributes["momentum"]
        output, *saved = ops.batchnorm_training(x, weight, bias, *running, momentum=momentum, eps=eps)
        return output.reshape(inputs[0].shape), tuple(saved)

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        x, d, (mean, rstd) = _by_channel(inputs[0]), _by_channel(d_output), saved[:2]
        d_x, d_weight, d_bias = ops.batchnorm_backward(x, parameters[0], mean, rstd, d, None, None, beta=0.0)
        return (d_x.reshape(inputs[0].shape),), (d_weight, d_bias, None, None)

    def updated(self, record: Record, saved: Saved) -> dict[str, Array]:
        """The running statistics behind a training pass, by the parameters' names."""
        return dict(zip(record.parameters[2:], saved[2:], strict=True))


def _by_channel(x: Array) -> Array:
    """(batch, channels, ...) as (batch, channels, spatial)."""
    batch, channels = x.shape[:2]
    return x.reshape(batch, channels, x.size // (batch * channels))
