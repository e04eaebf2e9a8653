"""Recurrent layers as ONNX's operators, and a node of these as a call.

ONNX has steps before samples, and an axis of directions; LSTM's gates as i, o, f, c and GRU's as z, r, h.  Of an LSTM's
and a GRU's results it has the states alone, and of the cells the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .graph import Graph, NotApplicableError
from .node import Call, Node, expect, expect_float32

Array = NDArray[Any]
_RELU, _TANH = 1, 5  # the header's ASSAYER_RELU and ASSAYER_TANH
# Which of the header's gates each of ONNX's is.
_PLAIN, _LSTM, _GRU = (0,), (0, 3, 1, 2), (1, 0, 2)


# ---- operations as nodes ---------------------------------------------------------------------------------------------
def _rnn_forward(graph: Graph) -> None:
    given, first = graph.arguments, graph.constant([0], np.int64)
    read = ["input", "w_x", "w_h", *["bias"] * bool(given["has_bias"]), *["h0"] * bool(given["has_h0"])]
    if given["activation"] == _RELU and not all(np.isfinite(given[name]).all() for name in read):
        raise NotApplicableError("ONNX does not say what ReLU makes of a NaN")
    hidden = given["w_h"].shape[1]
    inputs = [graph.node("Transpose", graph.given("input"), perm=(1, 0, 2))]
    inputs += [graph.node("Unsqueeze", graph.given(name), first) for name in ("w_x", "w_h")]
    inputs.append("")
    if given["has_bias"]:
        both = graph.node("Concat", graph.given("bias"), graph.constant(np.zeros(hidden), np.float32), axis=0)
        inputs[-1] = graph.node("Unsqueeze", both, first)
    if given["has_h0"]:
        inputs += ["", graph.node("Unsqueeze", graph.given("h0"), first)]
    activation = "Tanh" if given["activation"] == _TANH else "Relu"
    states = graph.node("RNN", *inputs, hidden_size=hidden, activations=[activation])
    steps = graph.node("Squeeze", states, graph.constant([1], np.int64))
    graph.result("output", graph.node("Transpose", steps, perm=(1, 0, 2)))


def _kept_to_itself(what: str) -> Callable[[Graph], None]:
    def build(graph: Graph) -> None:
        raise NotApplicableError(f"ONNX does not give {what} of every step")

    return build


OPERATORS = {
    "rnn_forward": _rnn_forward,
    "lstm_forward": _kept_to_itself("the gates and the cells"),
    "gru_forward": _kept_to_itself("the gates"),
}


# ---- nodes as calls --------------------------------------------------------------------------------------------------
def _in_header_s_order(rows: Array, order: Sequence[int]) -> Array:
    """The rows of gates that stand as ONNX has them."""
    gates = np.split(rows, len(order))
    return np.concatenate([gates[order.index(gate)] for gate in range(len(order))])


class _Layer:
    """What the three have alike: a node of one direction, its arrays as the header has them."""

    def __init__(self, node: Node, order: Sequence[int]) -> None:
        expect_float32(node)
        given = node.attributes
        direction = given.get("direction", b"forward")
        expect(direction != b"bidirectional", "both directions at once")
        expect("clip" not in given and not given.get("input_forget"), "gates that are clipped or coupled")
        lengths, self.layout = node.given(4), int(given.get("layout", 0))
        x = node.given(0) if self.layout else np.moveaxis(node.given(0), 0, 1)
        expect(lengths is None or np.all(lengths == x.shape[1]), "samples of several lengths")
        self._node, self._is_reversed = node, direction == b"reverse"
        self.input = x[:, ::-1] if self._is_reversed else x
        self.w_x, self.w_h = (_in_header_s_order(node.given(place)[0], order) for place in (1, 2))
        self.hidden, self.steps, batch = self.w_h.shape[1], x.shape[1], len(x)
        bias = np.zeros(2 * len(self.w_h), np.float32) if node.given(3) is None else node.given(3)[0]
        self.b_x, self.b_h = (_in_header_s_order(part, order) for part in np.split(bias, 2))
        self.has_bias = int(node.given(3) is not None)
        self._none = np.zeros((batch, self.hidden), np.float32)

    def state(self, place: int) -> Array:
        """A state that the first step begins with; zeros where none is given."""
        held = self._node.given(place)
        return self._none if held is None else held[:, 0] if self.layout else held[0]

    def arguments(self) -> dict[str, Any]:
        return {"input": np.ascontiguousarray(self.input), "w_x": self.w_x, "w_h": self.w_h, "has_bias": self.has_bias}

    def call(self, operation: str, arguments: dict[str, Any]) -> Call:
        """The call, by what the node gives: all states, or the last one and perhaps the last cell."""
        whole = [each for each in self._node.outputs if each.ndim == 4]
        if whole:
            states = whole[0][:, :, 0] if self.layout else np.moveaxis(whole[0][:, 0], 0, 1)
            return Call(operation, arguments, {"output": states[:, ::-1] if self._is_reversed else states})
        last = [each[:, 0] if self.layout else each[0] for each in self._node.outputs]
        due = dict(zip(("output", "cells"), last, strict=False))
        return Call(operation, arguments, due, part=lambda states: states[:, -1])


def rnn(node: Node) -> Call:
    """rnn_forward by tanh or ReLU; its bias is the sum of ONNX's two."""
    layer = _Layer(node, _PLAIN)
    activations = {b"Tanh": _TANH, b"Relu": _RELU}
    [name] = node.attributes.get("activations", [b"Tanh"])
    expect(name in activations, "another function than tanh and ReLU")
    own = {"bias": layer.b_x + layer.b_h, "h0": layer.state(5), "activation": activations[name], "has_h0": 1}
    return layer.call("rnn_forward", layer.arguments() | own)


def lstm(node: Node) -> Call:
    """lstm_forward; its bias is the sum of ONNX's two."""
    layer = _Layer(node, _LSTM)
    expect("activations" not in node.attributes, "other functions")
    expect(node.given(7) is None, "gates that see the cells")
    own = {"bias": layer.b_x + layer.b_h, "h0": layer.state(5), "c0": layer.state(6), "has_state": 1}
    return layer.call("lstm_forward", layer.arguments() | own)


def gru(node: Node) -> Call:
    """gru_forward, whose reset gate is applied behind the product.  Before it, that is the same for a state of zeros
    and no bias of the state's part."""
    layer = _Layer(node, _GRU)
    expect("activations" not in node.attributes, "other functions")
    h0, of_new = layer.state(5), layer.b_h[-layer.hidden :]
    is_same = layer.steps == 1 and not h0.any() and not of_new.any()
    expect(node.attributes.get("linear_before_reset") or is_same, "the reset gate before the product")
    own = {"b_x": layer.b_x, "b_h": layer.b_h, "h0": h0, "has_h0": 1}
    return layer.call("gru_forward", layer.arguments() | own)
