"""Activations, sums and products of tensors, and softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .builder import Builder
from .node import Node
from .refused import expect

Build = Callable[[Builder, Node], None]


def unary(kind: str, **numbers: float) -> Build:
    """numbers: the kind's attributes, which ONNX calls the same, with what holds there where one is left out."""

    def build(builder: Builder, node: Node) -> None:
        view = builder.view(node.inputs[0])
        given = {name: float(node.attributes.get(name, default)) for name, default in numbers.items()}
        builder.add(kind, [view.value], node.outputs[0], **given)
        builder.alias(node.outputs[0], type(view)(node.outputs[0], view.axes))

    return build


def gelu(builder: Builder, node: Node) -> None:
    form = "tanh" if node.attributes.get("approximate", b"none") == b"tanh" else "erf"
    builder.add("gelu", [builder.value(node.inputs[0])], node.outputs[0], form=form)


def swish(builder: Builder, node: Node) -> None:
    expect(node.attributes.get("alpha", 1.0) == 1, "alpha other than 1")
    unary("silu")(builder, node)


def softmax(builder: Builder, node: Node) -> None:
    rank = len(builder.shape(node.inputs[0]))
    expect(node.attributes.get("axis", -1) in (-1, rank - 1), "along another axis than the last")
    builder.add("softmax", [builder.value(node.inputs[0])], node.outputs[0])


def _operands(builder: Builder, node: Node) -> tuple[str, NDArray[Any] | None]:
    """The tensor that is computed, and the constant beside it if the other is one."""
    first, second = (builder.constant(name) for name in node.inputs)
    return (node.inputs[1], first) if first is not None else (node.inputs[0], second)


def add(builder: Builder, node: Node) -> None:
    """Of two values of one shape; or of a value and a constant that differs along the last axis only."""
    value, constant = _operands(builder, node)
    if constant is None:
        _pairwise(builder, node, "add")
        return
    _plus(builder, node, value, node.inputs[node.inputs[0] == value], constant)


def _plus(builder: Builder, node: Node, value: str, name: str, constant: NDArray[Any]) -> None:
    """Add a row; name: what it is called as a parameter."""
    shape = builder.shape(value)
    expect(len(shape) > 1 and np.broadcast_shapes(shape, constant.shape) == shape, "a constant larger than the value")
    expect(all(n == 1 for n in constant.shape[:-1]), "a constant that differs along another axis than the last")
    row = np.array(np.broadcast_to(constant.reshape(-1), shape[-1:]))
    builder.add("add_bias", [builder.value(value)], node.outputs[0], [builder.parameter(name, row)])


def subtract(builder: Builder, node: Node) -> None:
    """A constant taken from a value, or a value from a value."""
    value, constant = _operands(builder, node)
    if constant is None:
        negative = f"{node.outputs[0]}.negative"
        builder.add("scale", [builder.value(node.inputs[1])], negative, scale=-1.0)
        _same_shapes(builder, node)
        builder.add("add", [builder.value(node.inputs[0]), negative], node.outputs[0])
        return
    expect(value == node.inputs[0], "a value taken from a constant")
    _plus(builder, node, value, f"{node.inputs[1]}.negative", -constant)


def multiply(builder: Builder, node: Node) -> None:
    """Of two values of one shape, or of a value and a number."""
    value, constant = _operands(builder, node)
    if constant is None:
        _pairwise(builder, node, "mul")
        return
    _scaled(builder, node, value, constant, divided=False)


def divide(builder: Builder, node: Node) -> None:
    """A value by a number."""
    constant = builder.constant(node.inputs[1])
    expect(constant is not None, "by a value")
    assert constant is not None
    _scaled(builder, node, node.inputs[0], constant, divided=True)


def _scaled(builder: Builder, node: Node, value: str, constant: NDArray[Any], *, divided: bool) -> None:
    expect(constant.size == 1, "by a constant of several numbers")
    number = float(constant.reshape(-1)[0])
    expect(constant.ndim <= len(builder.shape(value)), "a constant with more axes than the value")
    expect(not divided or number != 0, "by 0")
    builder.add("scale", [builder.value(value)], node.outputs[0], scale=1.0 / number if divided else number)


def _same_shapes(builder: Builder, node: Node) -> None:
    expect(builder.shape(node.inputs[0]) == builder.shape(node.inputs[1]), "of values of several shapes")


def _pairwise(builder: Builder, node: Node, kind: str) -> None:
    _same_shapes(builder, node)
    builder.add(kind, [builder.value(name) for name in node.inputs], node.outputs[0])


def dropout(builder: Builder, node: Node) -> None:
    """A dropout record, which does nothing but in training: there it draws by Philox, each runtime otherwise."""
    expect(not node.wanted(1), "the mask as a result")
    held = builder.constant(node.given(1)) if node.given(1) else np.array(0.5)
    expect(held is not None, "a ratio that is computed")
    assert held is not None
    builder.add("dropout", [builder.value(node.inputs[0])], node.outputs[0], rate=float(held.reshape(())))


BUILDS: dict[str, Build] = {
    "Relu": unary("relu"),
    "LeakyRelu": unary("leaky_relu", alpha=0.01),
    "Elu": unary("elu", alpha=1.0),
    "Sigmoid": unary("sigmoid"),
    "Tanh": unary("tanh"),
    "Gelu": gelu,
    "Swish": swish,
    "Softmax": softmax,
    "Add": add,
    "Sub": subtract,
    "Mul": multiply,
    "Div": divide,
    "Dropout": dropout,
}
