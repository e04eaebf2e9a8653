"""Products, convolution, pooling, normalisation and embedding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .builder import Builder
from .node import Node
from .refused import expect
from .windows import steps, window

Array = NDArray[Any]


def _held(builder: Builder, name: str, what: str) -> Array:
    """A parameter's numbers.  Raises NotApplicableError for one that is computed or left out."""
    array = builder.constant(name)
    expect(array is not None, f"{what} that is computed, or left out")
    assert array is not None
    return array


def gemm(builder: Builder, node: Node) -> None:
    """A dense layer: the factors alpha and beta go into weight and bias."""
    given = node.attributes
    expect(not given.get("transA", 0), "the first factor transposed")
    weight = _held(builder, node.inputs[1], "a second factor")
    weight = weight if given.get("transB", 0) else weight.T
    parameters = [builder.parameter(node.inputs[1], weight * _factor(weight, given.get("alpha", 1.0)))]
    if node.given(2):
        added = _held(builder, node.inputs[2], "an addend")
        expect(added.shape in ((), (1,), (1, 1), (len(weight),), (1, len(weight))), "an addend with a row per sample")
        bias = np.array(np.broadcast_to(added.reshape(-1), (len(weight),))) * _factor(weight, given.get("beta", 1.0))
        parameters.append(builder.parameter(node.inputs[2], bias))
    builder.add("dense", [builder.value(node.inputs[0])], node.outputs[0], parameters)


def _factor(like: Array, factor: float) -> Array:
    return np.asarray(factor, like.dtype)


def matmul(builder: Builder, node: Node) -> None:
    """A dense layer without bias, or a product of two values, the second a matrix."""
    first = builder.value(node.inputs[0])
    expect(len(builder.shape(node.inputs[0])) > 1, "a vector as first factor")
    weight = builder.constant(node.inputs[1])
    if weight is None:
        expect(len(builder.shape(node.inputs[1])) == 2, "a second factor that is no matrix")
        builder.add("matmul", [first, builder.value(node.inputs[1])], node.outputs[0], transposed=False)
        return
    expect(weight.ndim == 2, "a second factor that is no matrix")
    builder.add("dense", [first], node.outputs[0], [builder.parameter(node.inputs[1], weight.T)])


def conv(builder: Builder, node: Node) -> None:
    weight = _held(builder, node.inputs[1], "a weight")
    found = steps(node.attributes, len(builder.shape(node.inputs[0])))
    parameters = [builder.parameter(node.inputs[1], weight)]
    if node.given(2):
        parameters.append(builder.parameter(node.inputs[2], _held(builder, node.inputs[2], "a bias")))
    settings = {"kernel": weight.shape[2:], **found, "groups": int(node.attributes.get("group", 1))}
    builder.add("conv2d", [builder.value(node.inputs[0])], node.outputs[0], parameters, **settings)


def max_pool(builder: Builder, node: Node) -> None:
    expect(not node.wanted(1), "the places as a result")
    found = window(node.attributes)
    builder.add("max_pool2d", [builder.value(node.inputs[0])], node.outputs[0], **found)


def average_pool(builder: Builder, node: Node) -> None:
    counted = bool(node.attributes.get("count_include_pad", 0))
    found = window(node.attributes)
    builder.add("avg_pool2d", [builder.value(node.inputs[0])], node.outputs[0], **found, count_include_pad=counted)


def global_average_pool(builder: Builder, node: Node) -> None:
    shape = builder.shape(node.inputs[0])
    expect(len(shape) == 4, "not of planes")
    whole = {"kernel": shape[2:], "stride": shape[2:], "padding": (0, 0)}
    builder.add("avg_pool2d", [builder.value(node.inputs[0])], node.outputs[0], **whole)


def batch_normalization(builder: Builder, node: Node) -> None:
    """momentum is ONNX's the other way round; of a model that trains the running variance is not a sample's."""
    expect(not node.attributes.get("training_mode", 0), "trained: its running variance is not that of a sample")
    expect(not any(node.outputs[1:]), "running statistics as results")
    names = [
        builder.parameter(name, _held(builder, name, what))
        for name, what in zip(node.inputs[1:], ("a weight", "a bias", "a mean", "a variance"), strict=True)
    ]
    settings = {"eps": node.attributes.get("epsilon", 1e-5), "momentum": 1.0 - node.attributes.get("momentum", 0.9)}
    builder.add("batchnorm", [builder.value(node.inputs[0])], node.outputs[0], names, **settings)


def layer_normalization(builder: Builder, node: Node) -> None:
    shape = builder.shape(node.inputs[0])
    expect(node.attributes.get("axis", -1) in (-1, len(shape) - 1), "along more axes than the last")
    expect(not any(node.outputs[1:]), "statistics as results")
    weight = _held(builder, node.inputs[1], "a weight")
    bias = _held(builder, node.inputs[2], "a bias") if node.given(2) else np.zeros_like(weight)
    expect(weight.shape == bias.shape == shape[-1:], "one weight for several numbers of a row")
    names = [builder.parameter(node.inputs[1], weight)]
    names.append(builder.parameter(node.given(2) or f"{node.outputs[0]}.bias", bias))
    eps = float(node.attributes.get("epsilon", 1e-5))
    builder.add("layernorm", [builder.value(node.inputs[0])], node.outputs[0], names, eps=eps)


def cross_entropy(builder: Builder, node: Node) -> None:
    """Of logits (batch, classes) and class numbers; one that is negative does not count, as here."""
    expect(node.attributes.get("reduction", b"mean") == b"mean", "a sum, or a loss for each sample")
    expect(not node.given(2), "weights of classes")
    expect(node.attributes.get("ignore_index", -1) < 0, "a class that is ignored")
    expect(not node.wanted(1), "the logarithms as a result")
    expect(len(builder.shape(node.inputs[0])) == 2, "logits of more axes than two")
    values = [builder.value(name) for name in node.inputs[:2]]
    builder.add("softmax_cross_entropy", values, node.outputs[0], labels="index")


BUILDS: dict[str, Callable[[Builder, Node], None]] = {
    "Gemm": gemm,
    "MatMul": matmul,
    "Conv": conv,
    "MaxPool": max_pool,
    "AveragePool": average_pool,
    "GlobalAveragePool": global_average_pool,
    "BatchNormalization": batch_normalization,
    "LayerNormalization": layer_normalization,
    "SoftmaxCrossEntropyLoss": cross_entropy,
}
