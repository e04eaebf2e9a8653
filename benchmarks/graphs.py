"""Graphs that are timed: a chain of many records, and a small network of convolutions with its peer in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import graph
from reference import random

SIDE, CLASSES, BATCH = 8, 10, 64  # of the digits that scikit-learn ships
OPTIMIZER = graph.Adam(1e-3)


def chain(count: int) -> list[dict[str, Any]]:
    """`count` records on values of (2, 8): a shared dense layer, tanh, a residual, a scale, over and over; a loss."""
    dense, scale = {"kind": "dense", "parameters": ["w", "b"]}, {"kind": "scale", "scale": 0.5}
    each: tuple[dict[str, Any], ...] = (dense, {"kind": "tanh"}, {"kind": "add"}, scale)
    records, last = [], "x"
    for number in range(count - 1):
        record, output = dict(each[number % 4]), f"v{number}"
        record["inputs"] = [last, f"v{number - 2}"] if record["kind"] == "add" else [last]
        records.append(record | {"output": output})
        last = output
    return [*records, {"kind": "mse", "inputs": [last, "t"], "output": "loss"}]


CHAIN_SHAPES = {"x": (2, 8), "t": (2, 8), "w": (8, 8), "b": (8,)}


def _one(kind: str, inputs: str, output: str, parameters: str = "", **attributes: Any) -> dict[str, Any]:
    return {"kind": kind, "inputs": inputs.split(), "parameters": parameters.split(), "output": output, **attributes}


_CNN = graph.read(
    [
        _one("conv2d", "x", "a1", "k1 c1", filters=16, kernel=3, padding=1),
        _one("relu", "a1", "h1"),
        _one("conv2d", "h1", "a2", "k2 c2", filters=32, kernel=3, padding=1),
        _one("relu", "a2", "h2"),
        _one("max_pool2d", "h2", "p", kernel=2),
        _one("flatten", "p", "f"),
        _one("dense", "f", "h3", "w1 b1", units=64, activation="relu"),
        _one("dense", "h3", "y", "w2 b2", units=CLASSES),
        _one("softmax_cross_entropy", "y t", "loss", labels="index"),
    ]
)


def cnn() -> tuple[graph.Checked, dict[str, Any]]:
    """The network for a batch of images, and its arrays: weights as He et al. (2015) draw them."""
    inputs = {"x": (BATCH, 1, SIDE, SIDE), "t": (BATCH,)}
    checked = graph.check(_CNN, inputs | graph.parameter_shapes(_CNN, inputs))
    arrays: dict[str, Any] = {"t": random.integers(random.stream("labels"), 0, CLASSES, (BATCH,)).astype(np.int32)}
    for name in ("x", *_CNN.parameters):
        shape = checked.shapes[name]
        deviation = 1.0 if name == "x" else (2.0 / np.prod(shape[1:])) ** 0.5 if len(shape) > 1 else 0.0
        arrays[name] = (random.normal(random.stream("cnn", name), shape) * deviation).astype(np.float32)
    return checked, arrays


def torch_cnn(torch: Any, arrays: dict[str, Any]) -> Callable[[], Any]:
    """The same steps in PyTorch, eager, Adam fused; each call gives the loss before it."""
    functional = torch.nn.functional
    p = {name: torch.tensor(arrays[name], requires_grad=True) for name in _CNN.parameters}
    x, t = torch.tensor(arrays["x"]), torch.tensor(arrays["t"]).long()
    optimizer = torch.optim.Adam(p.values(), lr=OPTIMIZER.lr, fused=True)

    def step() -> Any:
        optimizer.zero_grad(set_to_none=True)
        h = functional.relu(functional.conv2d(x, p["k1"], p["c1"], padding=1))
        h = functional.relu(functional.conv2d(h, p["k2"], p["c2"], padding=1))
        h = functional.max_pool2d(h, 2).flatten(1)
        h = functional.relu(functional.linear(h, p["w1"], p["b1"]))
        loss = functional.cross_entropy(functional.linear(h, p["w2"], p["b2"]), t)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step
