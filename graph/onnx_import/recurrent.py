"""Recurrent operators, their gates put into the header's order: ONNX has i, o, f, g and z, r, n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .builder import Builder
from .node import Node
from .refused import expect
from .views import View

Array = NDArray[Any]
_STEPS_FIRST, _STEPS_FIRST_OUT = (1, 0, 2), (1, None, 0, 2)  # of (batch, steps, width): ONNX's X and Y
_BATCH_FIRST_OUT = (0, 1, None, 2)
_STATE, _STATE_BATCH_FIRST = (None, 0, 1), (0, None, 1)  # of (batch, hidden): ONNX's states


@dataclass(frozen=True)
class _Layer:
    """kind: of record; order: which of ONNX's gates stands at each of the header's places; states: initial ones."""

    kind: str
    order: tuple[int, ...]
    activations: tuple[bytes, ...]
    states: tuple[int, ...] = (5,)


RNN = _Layer("rnn", (0,), (b"Tanh",))
LSTM = _Layer("lstm", (0, 2, 3, 1), (b"Sigmoid", b"Tanh", b"Tanh"), (5, 6))
GRU = _Layer("gru", (1, 0, 2), (b"Sigmoid", b"Tanh"))


def _build(layer: _Layer) -> Callable[[Builder, Node], None]:
    return lambda builder, node: _recurrent(layer, builder, node)


def _recurrent(layer: _Layer, builder: Builder, node: Node) -> None:
    """One layer in one direction; its whole sequence, or its last state, or two records where both are read."""
    settings = _settings(layer, node)
    layout = node.attributes.get("layout", 0)
    x = builder.value(node.inputs[0]) if layout else builder.seen_as(node.inputs[0], _STEPS_FIRST)
    parameters = _parameters(layer, builder, node)
    inputs = [x, *_states(layer, builder, node, _STATE_BATCH_FIRST if layout else _STATE)]
    hidden = builder.parameters[parameters[1]].shape[1]
    expect(node.attributes.get("hidden_size", hidden) == hidden, "weights for another number of hidden units")
    settings |= {"hidden": hidden, "bias": len(parameters) > 2}
    expect(not node.wanted(2), "the cells' state as a result")
    for place, whole, axes in ((0, True, _BATCH_FIRST_OUT if layout else _STEPS_FIRST_OUT), (1, False, _STATE)):
        if output := node.wanted(place):
            builder.add(layer.kind, inputs, output, parameters, **settings, return_sequences=whole)
            builder.alias(output, View(output, _STATE_BATCH_FIRST if layout and not whole else axes))


def _settings(layer: _Layer, node: Node) -> dict[str, Any]:
    given = node.attributes
    expect(given.get("direction", b"forward") == b"forward", "backwards, or both ways")
    expect("clip" not in given, "clipped sums")
    expect(not given.get("input_forget", 0), "input and forget gate coupled")
    expect(not node.given(4), "sequences of several lengths")
    expect(not node.given(7), "peepholes")
    chosen = tuple(given.get("activations", layer.activations))
    if layer is RNN:
        expect(chosen in ((b"Tanh",), (b"Relu",)), "another activation than Tanh and Relu")
        return {"activation": chosen[0].decode().lower()}
    expect(chosen == layer.activations, "other activations than the usual")
    expect(layer is not GRU or given.get("linear_before_reset", 0), "the reset gate before the product")
    return {}


def _parameters(layer: _Layer, builder: Builder, node: Node) -> list[str]:
    """w_x, w_h and biases as the record has them; ONNX's two biases are one but in GRU."""
    names = []
    for place in (1, 2):
        array = builder.constant(node.inputs[place])
        expect(array is not None, "weights that are computed")
        assert array is not None
        names.append(builder.parameter(node.inputs[place], _gates(layer, array[0])))
    if node.given(3):
        both = builder.constant(node.given(3))
        expect(both is not None, "biases that are computed")
        assert both is not None
        of_input, of_state = (_gates(layer, part) for part in np.split(both[0], 2))
        if layer is GRU:
            names += [builder.parameter(f"{node.given(3)}.b_x", of_input)]
            names += [builder.parameter(f"{node.given(3)}.b_h", of_state)]
        else:
            names.append(builder.parameter(node.given(3), of_input + of_state))
    return names


def _gates(layer: _Layer, rows: Array) -> Array:
    parts = np.split(rows, len(layer.order))
    return np.concatenate([parts[gate] for gate in layer.order])


def _states(layer: _Layer, builder: Builder, node: Node, axes: tuple[int | None, ...]) -> list[str]:
    """The initial states as values; none where they are left out, or 0."""
    given = [node.given(place) for place in layer.states]
    held = [builder.constant(name) if name else None for name in given]
    is_zero = [not name or (array is not None and not array.any()) for name, array in zip(given, held, strict=True)]
    if all(is_zero):
        return []
    expect(not any(is_zero), "one of two initial states")
    expect(all(array is None for array in held), "an initial state that is a constant other than 0")
    return [builder.seen_as(name, axes) for name in given]


BUILDS: dict[str, Callable[[Builder, Node], None]] = {"RNN": _build(RNN), "LSTM": _build(LSTM), "GRU": _build(GRU)}
