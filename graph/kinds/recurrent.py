"""Recurrent layers, batch first: the plain one, LSTM and GRU, one or several on top of each other."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from graph.attributes import Attribute
from graph.errors import refuse
from graph.records import Record
from reference.arrays import Array
from reference.namespace import Ops

from .context import Context
from .kind import Arrays, Gradients, Kind, Names, Open, Result, Saved, Shape, Shapes, of_rank

_COMMON = (
    Attribute("hidden", "int", least=1),
    Attribute("layers", "int", 1, least=1),
    Attribute("bias", "bool", True),
    Attribute("return_sequences", "bool", False),
    Attribute("steps", "int", None, least=1),  # of the input, where a record states them
)


class Recurrent(Kind):
    """A recurrent layer, or several, each of which reads the whole sequence of the one below.

    input: (batch, steps, width); output: (batch, steps, hidden), or with return_sequences false the last step's,
    (batch, hidden). Parameters of a layer: w_x (gates * hidden, width), w_h (gates * hidden, hidden), and its biases
    (gates * hidden,) with bias true; the layers' stand one after the other, from the lowest on. Behind the input stand
    the states before the first step, (batch, hidden) each, of every layer or of none.
    """

    attributes: ClassVar[tuple[Attribute, ...]] = _COMMON
    gates: ClassVar[int]
    states: ClassVar[tuple[str, ...]]
    biases: ClassVar[tuple[str, ...]]

    def input_names(self, record: Record) -> Names:
        layers = record.attributes["layers"]
        return Names(
            ("input",), tuple(name for layer in range(layers) for name in _of_layer(self.states, layer, layers))
        )

    def parameter_names(self, record: Record) -> Names:
        layers = record.attributes["layers"]
        each = self._parameters(record)
        return Names(tuple(name for layer in range(layers) for name in _of_layer(each, layer, layers)))

    def _parameters(self, record: Record) -> tuple[str, ...]:
        return ("w_x", "w_h", *(self.biases if record.attributes["bias"] else ()))

    def parameter_shapes(self, where: str, record: Record, inputs: Shapes) -> tuple[Open, ...]:
        _, steps, width = of_rank(where, "input", inputs[0], "batch, steps, width")
        hidden, stated = record.attributes["hidden"], record.attributes["steps"]
        if stated not in (None, steps):
            raise refuse(f"{where}: input", f"{stated} steps, as the record's attribute says", steps)
        rows, found = self.gates * hidden, list[Open]()
        for layer in range(record.attributes["layers"]):
            biases = ((rows,),) * (len(self._parameters(record)) - 2)
            found += [(rows, width if layer == 0 else hidden), (rows, hidden), *biases]
        return tuple(found)

    def infer(self, where: str, record: Record, inputs: Shapes, parameters: Shapes) -> Shape:
        (batch, steps, _), hidden = inputs[0], record.attributes["hidden"]
        for name, shape in zip(record.inputs[1:], inputs[1:], strict=True):
            if shape != (batch, hidden):
                raise refuse(f"{where}: input {name}", f"shape {(batch, hidden)}", shape)
        return (batch, steps, hidden) if record.attributes["return_sequences"] else (batch, hidden)

    def forward(self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays, context: Context) -> Result:
        x, saved = inputs[0], []
        for states, weights in self._layers(record, inputs, parameters):
            found = self.layer_forward(ops, record, x, states, weights)
            saved.append(found)
            x = found[0]
        if record.attributes["return_sequences"]:
            return x, tuple(saved)
        return ops.slice_steps(x, first=x.shape[1] - 1, count=1).reshape(x.shape[0], x.shape[2]), tuple(saved)

    def backward(
        self, ops: Ops, record: Record, inputs: Arrays, parameters: Arrays,
        output: Array, saved: Saved, d_output: Array, context: Context,
    ) -> Gradients:  # fmt: skip
        steps, d = inputs[0].shape[1], d_output
        if not record.attributes["return_sequences"]:
            last = d.reshape(d.shape[0], 1, d.shape[1])
            d = ops.slice_steps_backward(last, steps=steps, first=steps - 1)
        layers = self._layers(record, inputs, parameters)
        below = [inputs[0], *(found[0] for found in saved[:-1])]
        d_states, d_parameters = list[Array](), list[Array]()
        for (states, weights), x, found in reversed(list(zip(layers, below, saved, strict=True))):
            d, of_weights, of_states = self.layer_backward(ops, record, x, states, weights, found, d)
            d_states = [*of_states[: len(states)], *d_states]
            d_parameters = [*of_weights[: len(weights)], *d_parameters]
        return (d, *d_states), tuple(d_parameters)

    def _layers(self, record: Record, inputs: Arrays, parameters: Arrays) -> list[tuple[Arrays, Arrays]]:
        """The states and the parameters of each layer."""
        layers = record.attributes["layers"]
        states, weights = (len(inputs) - 1) // layers, len(parameters) // layers
        return [
            (inputs[1 + layer * states : 1 + (layer + 1) * states], parameters[layer * weights : (layer + 1) * weights])
            for layer in range(layers)
        ]

    @abstractmethod
    def layer_forward(self, ops: Ops, record: Record, x: Array, states: Arrays, weights: Arrays) -> tuple[Any, ...]:
        """Return the output of all steps, and what else the operation gives."""

    @abstractmethod
    def layer_backward(
        self, ops: Ops, record: Record, x: Array, states: Arrays, weights: Arrays, found: tuple[Any, ...], d: Array
    ) -> tuple[Array, Arrays, Arrays]:
        """Return the gradient of x, those of the weights and those of the states."""


def _of_layer(names: tuple[str, ...], layer: int, layers: int) -> tuple[str, ...]:
    return names if layers == 1 else tuple(f"{name} of layer {layer}" for name in names)


class RNN(Recurrent):
    """The plain recurrent layer: h = f(w_x . x + w_h . h + bias)."""

    name, gates, states, biases = "rnn", 1, ("h0",), ("bias",)
    attributes: ClassVar = (*_COMMON, Attribute("activation", "str", "tanh", choices=("tanh", "relu")))

    def layer_forward(self, ops: Ops, record: Record, x: Array, states: Arrays, weights: Arrays) -> tuple[Any, ...]:
        (h0,), (w_x, w_h, bias) = states or (None,), (*weights, None)[:3]
        flags = {"has_bias": int(bias is not None), "has_h0": int(h0 is not None)}
        return (ops.rnn_forward(x, w_x, w_h, bias, h0, activation=_activation(record), **flags),)

    def layer_backward(
        self, ops: Ops, record: Record, x: Array, states: Arrays, weights: Arrays, found: tuple[Any, ...], d: Array
    ) -> tuple[Array, Arrays, Arrays]:
        (h0,), (w_x, w_h), (output,) = states or (None,), weights[:2], found
        d_x, *of_weights, d_h0 = ops.rnn_backward(
            x, w_x, w_h, h0, output, d, None, None, None,
            activation=_activation(record), has_h0=int(h0 is not None), beta=0.0,
        )  # fmt: skip
        return d_x, of_weights, [d_h0]


def _activation(record: Record) -> int:
    """As the header numbers them."""
    return {"relu": 1, "tanh": 5}[record.attributes["activation"]]


class LSTM(Recurrent):
    """Long short-term memory; gates in PyTorch's order: input, forget, cell, output."""

    name, gates, states, biases = "lstm", 4, ("h0", "c0"), ("bias",)

    def layer_forward(self, ops: Ops, record: Record, x: Array, states: Arrays, weights: Arrays) -> tuple[Any, ...]:
        (h0, c0), (w_x, w_h, bias) = states or (None, None), (*weights, None)[:3]
        flags = {"has_bias": int(bias is not None), "has_state": int(h0 is not None)}
        return tuple(ops.lstm_forward(x, w_x, w_h, bias, h0, c0, **flags))

    def layer_backward(
        self, ops: Ops, record: Record, x: Array, states: Arrays, weights: Arrays, found: tuple[Any, ...], d: Array
    ) -> tuple[Array, Arrays, Arrays]:
        (h0, c0), (w_x, w_h), (output, cells, gates) = states or (None, None), weights[:2], found
        d_x, d_w_x, d_w_h, d_bias, d_h0, d_c0 = ops.lstm_backward(
            x, w_x, w_h, h0, c0, output, cells, gates, d, None, None, None, has_state=int(h0 is not None), beta=0.0
        )
        return d_x, [d_w_x, d_w_h, d_bias], [d_h0, d_c0]


class GRU(Recurrent):
    """Gated recurrent unit; gates in PyTorch's order: reset, update, new; the reset gate behind the product."""

    name, gates, states, biases = "gru", 3, ("h0",), ("b_x", "b_h")

    def layer_forward(self, ops: Ops, record: Record, x: Array, states: Arrays, weights: Arrays) -> tuple[Any, ...]:
        (h0,), (w_x, w_h, b_x, b_h) = states or (None,), (*weights, None, None)[:4]
        flags = {"has_bias": int(b_x is not None), "has_h0": int(h0 is not None)}
        return tuple(ops.gru_forward(x, w_x, w_h, b_x, b_h, h0, **flags))

    def layer_backward(
        self, ops: Ops, record: Record, x: Array, states: Arrays, weights: Arrays, found: tuple[Any, ...], d: Array
    ) -> tuple[Array, Arrays, Arrays]:
        (h0,), (w_x, w_h), (output, gates) = states or (None,), weights[:2], found
        d_x, *of_weights, d_h0 = ops.gru_backward(
            x, w_x, w_h, h0, output, gates, d, None, None, None, None, has_h0=int(h0 is not None), beta=0.0
        )
        return d_x, of_weights, [d_h0]
