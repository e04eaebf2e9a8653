"""One small graph of every kind, and arrays for it: what the general tests of kinds run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import graph
from reference import random

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """A graph, and the shapes of its inputs. positive: those that hold probabilities, labels: one-hot rows."""

    records: tuple[dict[str, Any], ...]
    shapes: Mapping[str, Shape]
    classes: Mapping[str, int]
    positive: tuple[str, ...] = ()

    @property
    def graph(self) -> graph.Graph:
        return graph.read([*self.records])

    def checked(self) -> graph.Checked:
        read = self.graph
        return graph.check(read, {**self.shapes, **graph.parameter_shapes(read, self.shapes)})

    def arrays(self, dtype: Any = np.float64) -> dict[str, Any]:
        """Numbers drawn by name, so that every run has the same."""
        return drawn(self.checked(), self.classes, self.positive, dtype)


def drawn(
    checked: graph.Checked, classes: Mapping[str, int], positive: tuple[str, ...] = (), dtype: Any = np.float64
) -> dict[str, Any]:
    """Arrays of every input and parameter, class numbers below `classes`, probabilities in the open interval."""
    found = {}
    for name in (*checked.graph.inputs, *checked.graph.parameters):
        shape, stream = checked.shapes[name], random.stream("graph", name)
        if name in checked.integers:
            found[name] = random.integers(stream, 0, classes[name], shape).astype(np.int32)
        elif name in positive or name.endswith("var"):
            found[name] = (0.1 + 0.8 * random.uniform(stream, shape)).astype(dtype)
        else:
            found[name] = random.normal(stream, shape).astype(dtype)
    return found


def _sample(*records: dict[str, Any], classes: Any = None, positive: tuple[str, ...] = (), **shapes: Shape) -> Sample:
    """Records, the last of which writes y; where it is no loss, mse of y and label t follow."""
    last = records[-1]
    if last["output"] != "loss":
        records = (*records, {"kind": "mse", "inputs": [last["output"], "t"], "output": "loss", "weight": 0.75})
    return Sample(records, shapes, classes or {}, positive)


def _one(kind: str, parameters: tuple[str, ...] = (), inputs: tuple[str, ...] = ("x",), **attributes: Any) -> Any:
    return {"kind": kind, "inputs": [*inputs], "parameters": [*parameters], "output": "y", **attributes}


def _loss(kind: str, **attributes: Any) -> Any:
    return {"kind": kind, "inputs": ["x", "t"], "output": "loss", **attributes}


_FLAT: dict[str, Shape] = {"x": (3, 5), "t": (3, 5)}
_PLANES: dict[str, Shape] = {"x": (2, 4, 7, 6)}
_SEQUENCE: dict[str, Shape] = {"x": (2, 4, 3)}
_STACK = tuple(f"{name}{layer}" for layer in (1, 2) for name in ("w", "u", "b"))

SAMPLES: dict[str, Sample] = {
    "dense": _sample(_one("dense", ("w", "b"), units=4, activation="gelu"), x=(3, 5), t=(3, 4)),
    "dense, no bias, three axes": _sample(
        _one("dense", ("w",), units=4, activation="leaky_relu", alpha=0.2), x=(2, 3, 5), t=(2, 3, 4)
    ),
    "matmul": _sample(_one("matmul", ("w",), units=4), x=(3, 5), t=(3, 4)),
    "matmul as stored": _sample(_one("matmul", ("w",), units=4, transposed=False), x=(3, 5), t=(3, 4)),
    "matmul of values": _sample(_one("matmul", inputs=("x", "z")), x=(3, 5), z=(4, 5), t=(3, 4)),
    "add_bias": _sample(_one("add_bias", ("b",)), **_FLAT),
    "add_bias of values": _sample(_one("add_bias", inputs=("x", "z")), z=(5,), **_FLAT),
    "add_column": _sample(_one("add_column", ("b",)), **_FLAT),
    "add": _sample(_one("add", inputs=("x", "z")), z=(3, 5), **_FLAT),
    "add of one value": _sample(_one("add", inputs=("x", "x")), **_FLAT),
    "mul": _sample(_one("mul", inputs=("x", "z")), z=(3, 5), **_FLAT),
    "mul of one value": _sample(_one("mul", inputs=("x", "x")), **_FLAT),
    "scale": _sample(_one("scale", scale=-1.5), **_FLAT),
    "relu": _sample(_one("relu"), **_FLAT),
    "leaky_relu": _sample(_one("leaky_relu"), **_FLAT),
    "elu": _sample(_one("elu", alpha=0.7), **_FLAT),
    "sigmoid": _sample(_one("sigmoid"), **_FLAT),
    "tanh": _sample(_one("tanh"), **_FLAT),
    "gelu": _sample(_one("gelu"), **_FLAT),
    "gelu by tanh": _sample(_one("gelu", form="tanh"), **_FLAT),
    "silu": _sample(_one("silu"), **_FLAT),
    "softmax": _sample(_one("softmax"), **_FLAT),
    "softmax with a temperature": _sample(_one("softmax", temperature=2.5, axis=2), x=(2, 3, 4), t=(2, 3, 4)),
    "dropout": _sample(_one("dropout", rate=0.4), x=(6, 7), t=(6, 7)),
    "conv2d": _sample(
        _one("conv2d", ("w", "b"), filters=6, kernel=(3, 2), stride=2, padding=[1, 0], groups=2),
        t=(2, 6, 4, 3),
        **_PLANES,
    ),
    "conv2d, dilated": _sample(_one("conv2d", ("w",), filters=3, kernel=2, dilation=(2, 3)), t=(2, 3, 5, 3), **_PLANES),
    "max_pool2d": _sample(_one("max_pool2d", kernel=(3, 2), stride=2, padding=(1, 1)), t=(2, 4, 4, 4), **_PLANES),
    "avg_pool2d": _sample(_one("avg_pool2d", kernel=3, stride=2, padding=1), t=(2, 4, 4, 3), **_PLANES),
    "avg_pool2d without padding": _sample(
        _one("avg_pool2d", kernel=2, stride=1, padding=1, count_include_pad=False), t=(2, 4, 8, 7), **_PLANES
    ),
    "flatten": _sample(_one("flatten"), t=(2, 168), **_PLANES),
    "reshape": _sample(_one("reshape", shape=(0, -1, 3)), t=(2, 56, 3), **_PLANES),
    "slice_steps": _sample(_one("slice_steps", first=1, count=2), t=(2, 2, 3), **_SEQUENCE),
    "concat_steps": _sample(_one("concat_steps", inputs=("x", "z")), z=(2, 2, 3), t=(2, 6, 3), **_SEQUENCE),
    "rnn": _sample(_one("rnn", ("w", "u", "b"), hidden=5), t=(2, 5), **_SEQUENCE),
    "rnn, two layers, ReLU": _sample(
        _one("rnn", _STACK, hidden=5, layers=2, activation="relu", return_sequences=True), t=(2, 4, 5), **_SEQUENCE
    ),
    "rnn from a state": _sample(
        _one("rnn", ("w", "u"), ("x", "h"), hidden=5, bias=False, return_sequences=True),
        h=(2, 5),
        t=(2, 4, 5),
        **_SEQUENCE,
    ),
    "lstm": _sample(_one("lstm", ("w", "u", "b"), hidden=5), t=(2, 5), **_SEQUENCE),
    "lstm from states, two layers": _sample(
        _one("lstm", _STACK, ("x", "h1", "c1", "h2", "c2"), hidden=5, layers=2, return_sequences=True),
        **dict.fromkeys(("h1", "c1", "h2", "c2"), (2, 5)),
        t=(2, 4, 5),
        **_SEQUENCE,
    ),
    "gru": _sample(_one("gru", ("w", "u", "b", "c"), hidden=5), t=(2, 5), **_SEQUENCE),
    "gru from a state": _sample(
        _one("gru", ("w", "u"), ("x", "h"), hidden=5, bias=False, return_sequences=True),
        h=(2, 5),
        t=(2, 4, 5),
        **_SEQUENCE,
    ),
    "layernorm": _sample(_one("layernorm", ("w", "b")), x=(2, 3, 6), t=(2, 3, 6)),
    "batchnorm": _sample(_one("batchnorm", ("w", "b", "mean", "var")), t=(2, 4, 7, 6), **_PLANES),
    "batchnorm of rows": _sample(_one("batchnorm", ("w", "b", "mean", "var"), momentum=0.3, eps=0.01), **_FLAT),
    "embedding": _sample(_one("embedding", ("w",), vocab_size=7, width=3), x=(2, 4), t=(2, 4, 3), classes={"x": 7}),
    "mse": _sample(_loss("mse", weight=0.5), **_FLAT),
    "bce": _sample(_loss("bce"), positive=("x", "t"), **_FLAT),
    "bce_logits": _sample(_loss("bce_logits", weight=2.0), positive=("t",), **_FLAT),
    "categorical_cross_entropy": _sample(_loss("categorical_cross_entropy"), positive=("x", "t"), **_FLAT),
    "softmax_cross_entropy": _sample(_loss("softmax_cross_entropy", temperature=2.5, weight=0.5), **_FLAT),
    "softmax_cross_entropy by class": _sample(
        _loss("softmax_cross_entropy", labels="index", temperature=0.5), x=(3, 4, 5), t=(3, 4), classes={"t": 5}
    ),
}
