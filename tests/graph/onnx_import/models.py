"""Models of ONNX that the import is tried with: each a function of a builder, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference import random

Array = NDArray[Any]
OPSET = 20
BATCH, STEPS, WIDTH, HIDDEN = 3, 5, 4, 6


class Model:
    """A model while nodes are added to it."""

    def __init__(self, name: str) -> None:
        from onnx import helper

        self._helper, self.name = helper, name
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}
        self.inputs: dict[str, Array] = {}

    def given(self, name: str, *shape: int, below: int | None = None) -> str:
        """An input with samples; below: of class numbers."""
        seed = random.stream("onnx", self.name, name)
        numbers = random.normal(seed, shape).astype(np.float32)
        self.inputs[name] = numbers if below is None else random.integers(seed, 0, below, shape)
        return name

    def held(self, name: str, *shape: int, array: Array | None = None) -> str:
        """A constant."""
        drawn = random.normal(random.stream("onnx", self.name, name), shape).astype(np.float32) / 2
        self.constants[name] = drawn if array is None else array
        return name

    def node(self, operator: str, *inputs: str, outputs: tuple[str, ...] | None = None, **attributes: Any) -> str:
        """Add a node; return its first output that has a name."""
        outputs = outputs or (f"{operator.lower()}_{len(self.nodes)}",)
        self.nodes.append(self._helper.make_node(operator, [*inputs], [*outputs], **attributes))
        return next(name for name in outputs if name)

    def proto(self, *outputs: str) -> Any:
        """The model."""
        from onnx import numpy_helper

        declared = [
            self._helper.make_tensor_value_info(n, self._helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in self.inputs.items()
        ]
        results = [self._helper.make_empty_tensor_value_info(name) for name in outputs]
        constants = [numpy_helper.from_array(np.array(a), n) for n, a in self.constants.items()]
        graph = self._helper.make_graph(self.nodes, self.name, declared, results, constants)
        opsets = [self._helper.make_opsetid("", OPSET)]
        return self._helper.make_model(graph, opset_imports=opsets, ir_version=10)


def perceptron(m: Model) -> list[str]:
    x = m.node("Gemm", m.given("x", BATCH, 7), m.held("w1", 7, 9), m.held("b1", 9), alpha=0.5, beta=2.0)
    x = m.node("Gelu", x)
    x = m.node("Gemm", x, m.held("w2", 5, 9), transB=1)
    x = m.node("Add", m.node("MatMul", m.node("Elu", x, alpha=0.7), m.held("w3", 5, 5)), m.held("b3", 5))
    return [m.node("Softmax", x, axis=-1)]


def elements(m: Model) -> list[str]:
    x, y = m.given("x", BATCH, 8), m.given("y", BATCH, 8)
    half = m.held("half", array=np.float32([0.5]))
    both = m.node("Mul", m.node("Sigmoid", x), m.node("Tanh", y))
    leaky = m.node("LeakyRelu", m.node("Sub", both, y), alpha=0.25)
    more = m.node("Div", m.node("Mul", leaky, half), m.held("third", array=np.float32(3)))
    tanh = m.node("Gelu", m.node("Sub", more, m.held("row", 8)), approximate="tanh")
    return [m.node("Dropout", m.node("Identity", tanh)), m.node("Relu", m.node("Add", x, y))]


def planes(m: Model) -> list[str]:
    x = m.given("x", 2, 4, 9, 8)
    x = m.node("Conv", x, m.held("w1", 6, 2, 3, 3), m.held("b1", 6), pads=[1, 1, 1, 1], strides=[1, 2], group=2)
    scale, shift, mean = (m.held(n, 6) for n in ("scale", "shift", "mean"))
    var = m.held("var", array=random.uniform(5, 6).astype(np.float32) + np.float32(0.5))
    x = m.node("Relu", m.node("BatchNormalization", x, scale, shift, mean, var, epsilon=1e-3))
    x = m.node("MaxPool", x, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 0])
    x = m.node("Conv", x, m.held("w2", 5, 6, 2, 2), dilations=[2, 1])
    x = m.node("AveragePool", x, kernel_shape=[2, 2], pads=[1, 0, 1, 0], count_include_pad=1)
    pooled = m.node("GlobalAveragePool", x)
    return [m.node("Flatten", x), m.node("Reshape", pooled, m.held("shape", array=np.int64([0, -1])))]


def residual(m: Model) -> list[str]:
    x = m.given("x", BATCH, 6)
    for block in range(2):
        normed = m.node("LayerNormalization", x, m.held(f"g{block}", 6), m.held(f"h{block}", 6), axis=-1)
        x = m.node("Add", m.node("Tanh", normed), x)
    shared = m.held("shared", 6, 6)
    return [m.node("MatMul", m.node("MatMul", x, shared), shared)]


def _steps_first(m: Model) -> str:
    return m.node("Transpose", m.given("x", BATCH, STEPS, WIDTH), perm=[1, 0, 2])


def _weights(m: Model, gates: int) -> tuple[str, str, str]:
    rows = gates * HIDDEN
    return m.held("w", 1, rows, WIDTH), m.held("r", 1, rows, HIDDEN), m.held("b", 1, 2 * rows)


def _sequence(m: Model, y: str) -> str:
    return m.node("Transpose", m.node("Squeeze", y, m.held("one", array=np.int64([1]))), perm=[1, 0, 2])


def rnn(m: Model) -> list[str]:
    names = ("y", "y_h")
    y = m.node("RNN", _steps_first(m), *_weights(m, 1), outputs=names, hidden_size=HIDDEN, activations=["Relu"])
    return [_sequence(m, y), m.node("Squeeze", "y_h", m.held("zero", array=np.int64([0])))]


def lstm(m: Model) -> list[str]:
    h0, c0 = (m.node("Unsqueeze", m.given(n, BATCH, HIDDEN), m.held(f"{n}.at", array=np.int64([0]))) for n in "hc")
    w, r, b = _weights(m, 4)
    y = m.node("LSTM", _steps_first(m), w, r, b, "", h0, c0, outputs=("y", "y_h"), hidden_size=HIDDEN)
    return [_sequence(m, y), m.node("Squeeze", "y_h", m.held("zero", array=np.int64([0])))]


def gru(m: Model) -> list[str]:
    x = _steps_first(m)
    w, r, b = _weights(m, 3)
    zeros = m.node("ConstantOfShape", m.held("state", array=np.int64([1, BATCH, HIDDEN])))
    given = {"hidden_size": HIDDEN, "linear_before_reset": 1}
    y = m.node("GRU", x, w, r, b, "", zeros, outputs=("y",), **given)
    return [m.node("Gather", _sequence(m, y), m.held("last", array=np.int64(-1)), axis=1)]


def words(m: Model) -> list[str]:
    x = m.node("Gather", m.held("table", 11, WIDTH), m.given("words", BATCH, STEPS, below=11))
    bounds = [m.held(n, array=np.int64([v])) for n, v in (("from", 1), ("to", -1), ("axis", 1))]
    inner = m.node("Slice", x, *bounds)
    joined = m.node("Concat", inner, x, inner, axis=1)
    first, second = "first", "second"
    m.node("Split", joined, m.held("parts", array=np.int64([4, 7])), outputs=(first, second), axis=1)
    steps = m.node("Transpose", second, perm=[1, 0, 2])
    w, r, b = _weights(m, 4)
    state = m.node("LSTM", steps, w, r, b, outputs=("", "state"), hidden_size=HIDDEN)
    return [first, m.node("Squeeze", state, m.held("zero", array=np.int64([0])))]


def folded(m: Model) -> list[str]:
    """What exporters leave: shapes asked for, constants computed, numbers cast."""
    x = m.given("x", BATCH, 2, 4)
    batch = m.node("Gather", m.node("Shape", x), m.held("zero", array=np.int64(0)))
    batch = m.node("Unsqueeze", batch, m.held("at", array=np.int64([0])))
    shape = m.node("Concat", batch, m.held("rest", array=np.int64([-1])), axis=0)
    weight = m.node("Transpose", m.held("w", 5, 8))
    flat = m.node("Reshape", m.node("Cast", x, to=1), shape)
    return [m.node("Unsqueeze", m.node("MatMul", flat, weight), m.held("two", array=np.int64([1])))]


def loss(m: Model) -> list[str]:
    x = m.node("Gemm", m.given("x", BATCH, 4), m.held("w", 4, 6))
    return [m.node("SoftmaxCrossEntropyLoss", x, m.given("classes", BATCH, below=6), reduction="mean")]


MODELS: dict[str, Callable[[Model], list[str]]] = {
    made.__name__: made for made in (perceptron, elements, planes, residual, rnn, lstm, gru, words, folded, loss)
}
