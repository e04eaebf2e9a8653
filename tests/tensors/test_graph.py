"""What a graph's records compute, once more on the tape: recurrent layers through all their steps among them.

A graph's backwards are written by hand, kind by kind; the tape's are put together from derivatives of single functions.
In float64 both err, by what the judge's noise comes to in each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import graph
import reference
from conformance.limits.noise import exact, using
from reference.namespace import Wrapped
from tensors import Storage, Tensor
from tensors.functions import COMPOSED
from tensors.layout import dense
from tensors.tape import Variable, concat
from tests.graph.limits import FLOAT64, noisy, results
from tests.graph.samples import SAMPLES, Sample
from tests.tensors.noise import DOUBLES, Doubles, elements
from tests.tensors.test_formulations import largest_share

SEED = 3
Values = Mapping[str, Variable]


def flat(x: Variable) -> Variable:
    """Rows of one sample each."""
    return x.reshape((x.shape[0], x.size // x.shape[0]))


def parts(x: Variable, count: int) -> list[Variable]:
    """The gates, side by side in the last axis."""
    width = x.shape[-1] // count
    return [x[..., k * width : (k + 1) * width] for k in range(count)]


def rnn(v: Values, w: str = "w", u: str = "u", b: str = "b", f: str = "tanh", x: str = "x") -> list[Variable]:
    """The states of every step."""
    h, found = v["h"] if "h" in v else v[x][:, 0] @ (v[w].T * 0.0), []
    for step in range(v[x].shape[1]):
        pre = v[x][:, step] @ v[w].T + h @ v[u].T
        h = (pre + v[b] if b in v else pre).map(f)
        found.append(h)
    return found


def stacked(steps: list[Variable]) -> Variable:
    return concat([h.expand_dims(1) for h in steps], 1)


def two_layers(v: Values) -> Variable:
    below = dict(v) | {"below": stacked(rnn(v, "w1", "u1", "b1", "relu"))}
    return stacked(rnn(below, "w2", "u2", "b2", "relu", "below"))


def lstm(v: Values) -> Variable:
    h = c = v["x"][:, 0] @ (v["w"].T[:, :5] * 0.0)
    for step in range(v["x"].shape[1]):
        i, f, g, o = parts(v["x"][:, step] @ v["w"].T + v["b"] + h @ v["u"].T, 4)
        c = f.map("sigmoid") * c + i.map("sigmoid") * g.map("tanh")
        h = o.map("sigmoid") * c.map("tanh")
    return h


def gru(v: Values) -> Variable:
    h = v["h"] if "h" in v else v["x"][:, 0] @ (v["w"].T[:, :5] * 0.0)
    steps = []
    for step in range(v["x"].shape[1]):
        of_x, of_h = v["x"][:, step] @ v["w"].T, h @ v["u"].T
        if "b" in v:
            of_x, of_h = of_x + v["b"], of_h + v["c"]
        (x_r, x_z, x_n), (h_r, h_z, h_n) = parts(of_x, 3), parts(of_h, 3)
        r, z = (x_r + h_r).map("sigmoid"), (x_z + h_z).map("sigmoid")
        n = (x_n + r * h_n).map("tanh")
        h = (1.0 - z) * n + z * h
        steps.append(h)
    return stacked(steps) if "h" in v else h


def entropy(p: Variable, t: Variable) -> Variable:
    return -(t * p.map("log") + (1.0 - t) * (1.0 - p).map("log")).mean()


TAPED: dict[str, Callable[[Values], Variable]] = {
    "dense": lambda v: (v["x"] @ v["w"].T + v["b"]).map("gelu"),
    "matmul": lambda v: v["x"] @ v["w"].T,
    "matmul as stored": lambda v: v["x"] @ v["w"],
    "matmul of values": lambda v: v["x"] @ v["z"].T,
    "add_bias": lambda v: v["x"] + v["b"],
    "add_bias of values": lambda v: v["x"] + v["z"],
    "add_column": lambda v: v["x"] + v["b"].expand_dims(1),
    "add": lambda v: v["x"] + v["z"],
    "add of one value": lambda v: v["x"] + v["x"],
    "mul": lambda v: v["x"] * v["z"],
    "mul of one value": lambda v: v["x"] * v["x"],
    "scale": lambda v: v["x"] * -1.5,
    "relu": lambda v: v["x"].map("relu"),
    "sigmoid": lambda v: v["x"].map("sigmoid"),
    "tanh": lambda v: v["x"].map("tanh"),
    "gelu": lambda v: v["x"].map("gelu"),
    "gelu by tanh": lambda v: v["x"].map("gelu_tanh"),
    "silu": lambda v: v["x"].map("silu"),
    "softmax": lambda v: COMPOSED.softmax(v["x"]),
    "softmax with a temperature": lambda v: COMPOSED.softmax(v["x"] * 0.4),
    "flatten": lambda v: flat(v["x"]),
    "reshape": lambda v: v["x"].reshape((2, 56, 3)),
    "slice_steps": lambda v: v["x"][:, 1:3],
    "concat_steps": lambda v: concat([v["x"], v["z"]], 1),
    "rnn": lambda v: rnn(v)[-1],
    "rnn, two layers, ReLU": two_layers,
    "rnn from a state": lambda v: stacked(rnn(v)),
    "lstm": lstm,
    "gru": gru,
    "gru from a state": gru,
    "layernorm": lambda v: COMPOSED.layernorm(v["x"], v["w"], v["b"], 1e-5),
}
LOSSES: dict[str, Callable[[Values], Variable]] = {
    "mse": lambda v: (v["x"] - v["t"]).map("square").mean(),
    "bce": lambda v: entropy(v["x"], v["t"]),
    "bce_logits": lambda v: entropy(v["x"].map("sigmoid"), v["t"]),
}


def _error(y: Variable, t: Variable) -> Variable:
    """What follows a record that is no loss."""
    return (y - t).map("square").mean()


def on_the_tape(sample: Sample, name: str, arrays: Mapping[str, Any], make: Callable[[Any], Tensor]) -> dict[str, Any]:
    """The loss, and a gradient for every array that has one."""
    leaves = {key: Variable(make(array), requires_grad=key != "t") for key, array in arrays.items()}
    loss = LOSSES[name](leaves) if name in LOSSES else _error(TAPED[name](leaves), leaves["t"])
    loss.backward(make(np.asarray(sample.records[-1].get("weight", 1.0))))  # a record's loss is told without its weight
    gradients = {f"d {key}": elements(leaf.grad) for key, leaf in leaves.items() if leaf.grad is not None}
    return {"loss": elements(loss.value)} | gradients


def exactly() -> Callable[[Any], Tensor]:
    """What makes tensors of noise numbers, which have the same operations."""
    ops = Doubles(exact)
    return lambda array: Tensor.in_storage(Storage(exact(np.reshape(array, -1)), ops), dense(np.shape(array)))


def shares(name: str, ops: Any = reference) -> dict[str, float]:
    """Of each limit what the two are apart; ops: what the graph runs on."""
    sample = SAMPLES[name]
    checked, arrays = sample.checked(), sample.arrays()
    by_graph = results(graph.Run(checked, ops), arrays, SEED)
    by_tape = on_the_tape(sample, name, arrays, DOUBLES)
    of_graph = noisy(checked, arrays, SEED, FLOAT64)
    with using(FLOAT64), np.errstate(all="ignore"):
        of_tape = on_the_tape(sample, name, arrays, exactly())
    asked = {key for key in by_tape if key in by_graph}
    assert {"loss", *(f"d {each}" for each in checked.trainable)} <= asked
    found = {}
    for key in asked:
        shape = np.shape(by_tape[key])
        error = np.abs(by_graph[key].reshape(shape) - by_tape[key])
        found[key] = largest_share(error, of_graph[key].reshape(shape), of_tape[key])
    return found


@pytest.mark.parametrize("name", [*TAPED, *LOSSES])
def test_both_give_the_same_gradients(name: str) -> None:
    found = shares(name)
    assert len(found) > 1
    assert max(found.values()) <= 1, found


class Wrong(Wrapped):
    """The reference, every result of one operation wrong by one part in 2^32, which no rounding of float64 makes."""

    def __init__(self, wrong: str) -> None:
        super().__init__(reference)
        self._wrong = wrong

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        found = super()._call(operation, *args, **named)
        return tuple(one * (1 + 2.0**-32) for one in found) if operation == self._wrong else found


@pytest.mark.parametrize("name", ["rnn", "lstm", "gru", "layernorm"])
def test_a_wrong_backward_of_the_graph_s_is_seen(name: str) -> None:
    found = shares(name, Wrong(f"{name}_backward"))
    assert found.pop("loss") <= 1
    assert min(found.values()) > 1
