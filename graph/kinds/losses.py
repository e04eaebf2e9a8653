"""Losses: a prediction and a label make one number, the mean of what each sample costs, (1,).

`weight` says what a loss counts in the sum that gradients are of; the value itself is that without the weight.
"""

from __future__ import annotations

from typing import ClassVar

from graph.attributes import Attribute
from graph.errors import refuse
from graph.records import Record
from reference.arrays import Array
from reference.namespace import Ops

from .context import Context, counted
from .kind import Arrays, Gradients, Kind, Names, Result, Saved, Shape, Shapes, flat, rows_of, same

WEIGHT = Attribute("weight", "float", 1.0)


class Loss(Kind):
    """A loss of numbers of one shape."""

    is_loss = True
    attributes: ClassVar[tuple[Attribute, ...]] = (WEIGHT,)
    without_gradient = frozenset({"label"})

    def input_names(self, record: Record) -> Names:
        return Names(("prediction", "label"))

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        prediction, label = inputs
        same(where, f"label {record.inputs[1]}", label, prediction, record.inputs[0])
        return (1,)

    def shaped(self, array: Array) -> Array:
        return flat(array)

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        return getattr(ops, f"{self.name}_forward")(*map(self.shaped, inputs)), ()

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        backward = getattr(ops, f"{self.name}_backward")
        return (
            backward(*map(self.shaped, inputs), scale=record.attributes["weight"]).reshape(inputs[0].shape),
            None,
        ), ()


class MSE(Loss):
    """The mean of (prediction - label)^2."""

    name = "mse"


class BCE(Loss):
    """The mean of -(t * log p + (1 - t) * log(1 - p)), either logarithm at least -100: p a probability, t the label."""

    name = "bce"


class BCELogits(Loss):
    """bce of sigmoid(prediction), nothing of which overflows."""

    name = "bce_logits"


class CategoricalCrossEntropy(Loss):
    """The mean over rows of the sum of -label * log p, a logarithm at least -100. Both: (..., classes)."""

    name = "categorical_cross_entropy"

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        if len(inputs[0]) < 2:
            raise refuse(f"{where}: prediction {record.inputs[0]}", "shape (..., classes)", inputs[0])
        return super().infer(where, record, inputs, parameters)

    def shaped(self, array: Array) -> Array:
        return rows_of(array)


class SoftmaxCrossEntropy(Loss):
    """Cross entropy of softmax(prediction / temperature), the mean over rows. prediction: (..., classes).

    labels: "dense", of the prediction's shape, or "index", class numbers (int32) of all its axes but the last; rows
    whose number is negative do not count.
    """

    name = "softmax_cross_entropy"
    attributes: ClassVar[tuple[Attribute, ...]] = (
        WEIGHT,
        Attribute("temperature", "float", 1.0, above=0),
        Attribute("labels", "str", "dense", choices=("dense", "index")),
    )

    def holds_integers(self, record: Record, name: str) -> bool:
        return name == "label" and _by_index(record)

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        prediction, label = inputs
        if len(prediction) < 2:
            raise refuse(f"{where}: prediction {record.inputs[0]}", "shape (..., classes)", prediction)
        if not _by_index(record):
            return super().infer(where, record, inputs, parameters)
        if label != prediction[:-1]:
            raise refuse(
                f"{where}: label {record.inputs[1]}", f"shape {prediction[:-1]}, one class number a row", label
            )
        return (1,)

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        (x, label), temperature = inputs, record.attributes["temperature"]
        x = rows_of(x)
        if not _by_index(record):
            loss, log_probs = ops.cross_entropy_dense_forward(x, rows_of(label), temperature=temperature)
            return loss, (log_probs,)
        cooled = x if temperature == 1 else ops.scale(flat(x), scale=1.0 / temperature).reshape(x.shape)
        loss, log_probs = ops.cross_entropy_forward(cooled, flat(label))
        return loss, (log_probs, counted(label))

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        (x, label), temperature, weight = inputs, record.attributes["temperature"], record.attributes["weight"]
        if _by_index(record):
            log_probs, rows = saved
            scale = weight / (max(rows, 1) * temperature)
            return (ops.cross_entropy_backward(log_probs, flat(label), scale=scale).reshape(x.shape), None), ()
        (log_probs,), label = saved, rows_of(label)
        d_x = ops.cross_entropy_dense_backward(log_probs, label, temperature=temperature, scale=weight)
        return (d_x.reshape(x.shape), None), ()


def _by_index(record: Record) -> bool:
    return bool(record.attributes["labels"] == "index")
