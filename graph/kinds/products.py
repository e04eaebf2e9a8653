"""Matrix products: a dense layer, and a product of two."""

from __future__ import annotations

from typing import Any, ClassVar

from graph.attributes import Attribute
from graph.errors import refuse
from graph.records import Record
from reference.arrays import Array
from reference.namespace import Ops

from .context import Context
from .kind import Arrays, Gradients, Kind, Names, Open, Result, Saved, Shape, Shapes, rows_of

# dense's activations by their number in the header (ASSAYER_LINEAR ...).
ACTIVATIONS = ("linear", "relu", "leaky_relu", "elu", "sigmoid", "tanh", "gelu", "gelu_tanh")
# What alpha is where none is given, as in PyTorch: of leaky ReLU and ELU; nothing else reads it.
ALPHA = {"leaky_relu": 0.01}


def alpha_of(attributes: dict[str, Any]) -> float:
    """The slope below 0 of an activation."""
    alpha = attributes["alpha"]
    return ALPHA.get(attributes["activation"], 1.0) if alpha is None else float(alpha)


class Dense(Kind):
    """output = f(input . weight^T + bias): (..., units).

    input: (..., in), weight: (units, in), bias: (units,).
    """

    name = "dense"
    attributes: ClassVar = (
        Attribute("units", "int", None, least=1),
        Attribute("activation", "str", "linear", choices=ACTIVATIONS),
        Attribute("alpha", "float", None),
    )

    def complete(self, where: str, attributes: dict[str, Any]) -> dict[str, Any]:
        return attributes | {"alpha": alpha_of(attributes)}

    def parameter_names(self, record: Record) -> Names:
        return Names(("weight",), ("bias",))

    def parameter_shapes(self, where: str, record: Record, inputs: Shapes) -> tuple[Open, ...]:
        (shape,) = inputs
        if len(shape) < 2:
            raise refuse(f"{where}: input", "shape (..., in)", shape)
        units = record.attributes["units"]
        return ((units, shape[-1]), (units,))[: len(record.parameters)]

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        units = parameters[0][0]
        if len(parameters) > 1 and parameters[1] != (units,):
            raise refuse(f"{where}: parameter {record.parameters[1]}", f"shape ({units},)", parameters[1])
        return (*inputs[0][:-1], units)

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        (x,), weight = inputs, parameters[0]
        bias = parameters[1] if len(parameters) > 1 else None
        activation, alpha = _function(record)
        pre, output = ops.dense(
            rows_of(x), weight, bias, activation=activation, alpha=alpha, has_bias=int(bias is not None)
        )
        return output.reshape((*x.shape[:-1], weight.shape[0])), (pre,)

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        (x,), weight, (pre,) = inputs, parameters[0], saved
        activation, alpha = _function(record)
        _, d_x, d_weight, d_bias = ops.dense_backward(
            rows_of(x), weight, pre, rows_of(d_output), None, None, activation=activation, alpha=alpha, beta=0.0
        )
        return (d_x.reshape(x.shape),), (d_weight, d_bias)[: len(parameters)]


def _function(record: Record) -> tuple[int, float]:
    return ACTIVATIONS.index(record.attributes["activation"]), record.attributes["alpha"]


class MatMul(Kind):
    """output = a . b^T, or a . b where `transposed` is false.

    a: (..., k); b: (n, k), or (k, n): a parameter, or a value where the record names no parameter.
    """

    name = "matmul"
    attributes: ClassVar = (Attribute("transposed", "bool", True), Attribute("units", "int", None, least=1))

    def input_names(self, record: Record) -> Names:
        return Names(("a",)) if record.parameters else Names(("a", "b"))

    def parameter_names(self, record: Record) -> Names:
        return Names(("b",)) if record.parameters else Names(())

    def parameter_shapes(self, where: str, record: Record, inputs: Shapes) -> tuple[Open, ...]:
        if len(inputs[0]) < 2:
            raise refuse(f"{where}: a", "shape (..., k)", inputs[0])
        if not record.parameters:
            return ()
        due = (record.attributes["units"], inputs[0][-1])
        return (due if record.attributes["transposed"] else due[::-1],)

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        a, b = (*inputs, *parameters)
        transposed = record.attributes["transposed"]
        if len(b) != 2 or b[1 if transposed else 0] != a[-1]:
            raise refuse(f"{where}: b", f"shape (n, {a[-1]})" if transposed else f"shape ({a[-1]}, n)", b)
        return (*a[:-1], b[0 if transposed else 1])

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        a, b = (*inputs, *parameters)
        if record.attributes["transposed"]:
            product, units = ops.gemm(rows_of(a), b), b.shape[0]
        else:
            product, units = ops.gemm_nn(rows_of(a), b, None, alpha=1.0, beta=0.0), b.shape[1]
        return product.reshape((*a.shape[:-1], units)), ()

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        a, b = (*inputs, *parameters)
        rows, d = rows_of(a), rows_of(d_output)
        if record.attributes["transposed"]:
            d_a = ops.gemm_nn(d, b, None, alpha=1.0, beta=0.0)
            d_b = ops.gemm_tn(d, rows, None, alpha=1.0, beta=0.0)
        else:
            d_a = ops.gemm(d, b)
            d_b = ops.gemm_tn(rows, d, None, alpha=1.0, beta=0.0)
        d_a = d_a.reshape(a.shape)
        return ((d_a,), (d_b,)) if record.parameters else ((d_a, d_b), ())
