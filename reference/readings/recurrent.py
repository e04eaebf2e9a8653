"""Wrong readings of recurrent layers, forward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from reference.arrays import Array
from reference.ops import recurrent as ops
from reference.ops.elementwise import logistic
from reference.ops.through_time import TANH, before, parts_of, start

from .reading import Given, Reading, fed, giving

FORWARDS = (ops.rnn_forward, ops.lstm_forward, ops.gru_forward)
PARTS = {"rnn": 1, "lstm": 4, "gru": 3}


def kind_of(operation: Callable[..., Any]) -> str:
    return operation.__name__.partition("_")[0]


def flag_of(operation: Callable[..., Any]) -> str:
    """The argument that says whether there are states."""
    return "has_state" if kind_of(operation) == "lstm" else "has_h0"


def tupled(result: Any) -> tuple[Array, ...]:
    return result if isinstance(result, tuple) else (result,)


def untupled(results: tuple[Array, ...]) -> Any:
    return results if len(results) > 1 else results[0]


def _time_major(operation: Callable[..., Any]) -> Callable[..., Any]:
    """The arrays are taken for (steps, batch, width)."""

    def turned(sequence: Array) -> Array:
        batch, steps, width = sequence.shape
        return np.copy(np.swapaxes(sequence.reshape(steps, batch, width), 0, 1), order="C")

    def back(sequence: Array) -> Array:
        return np.copy(np.swapaxes(sequence, 0, 1), order="C").reshape(sequence.shape)

    def change(result: Any, g: Given) -> Any:
        return untupled(tuple(back(one) for one in tupled(operation(**{**g, "input": turned(g["input"])}))))

    return giving(operation, change)


def _backwards(operation: Callable[..., Any]) -> Callable[..., Any]:
    def change(result: Any, g: Given) -> Any:
        found = operation(**{**g, "input": g["input"][:, ::-1]})
        return untupled(tuple(np.copy(one[:, ::-1], order="C") for one in tupled(found)))

    return giving(operation, change)


def _step_by_step(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Every step begins with the states that the call was given."""

    def change(result: Any, g: Given) -> Any:
        steps = [tupled(operation(**{**g, "input": g["input"][:, t : t + 1]})) for t in range(g["input"].shape[1])]
        return untupled(tuple(np.concatenate(one, axis=1) for one in zip(*steps, strict=True)))

    return giving(operation, change)


def _last_state(result: Any, g: Given) -> Any:
    """The last state in place of every one."""
    first, *others = tupled(result)
    return untupled((np.repeat(first[:, -1:], first.shape[1], axis=1), *others))


def _biased(factor: float) -> Callable[[str], Callable[[Given], Any]]:
    return lambda name: lambda g: g[name] * g[name].dtype.type(factor) if g["has_bias"] else g[name]


def _common() -> Iterator[Reading]:
    for operation in FORWARDS:
        name, flag = operation.__name__, flag_of(operation)
        biases = ("b_x", "b_h") if kind_of(operation) == "gru" else ("bias",)
        yield Reading(name, "time-major", "Arrays are laid out (steps, batch, width).", _time_major(operation))
        yield Reading(name, "last step first", "The steps are gone through in reverse.", _backwards(operation))
        yield Reading(name, "no memory", "Every step begins with the given states.", _step_by_step(operation))
        yield Reading(
            name, "last state everywhere", "What is returned is the state at the end.", giving(operation, _last_state)
        )
        yield Reading(name, "states ignored", "Every sequence begins with 0.", fed(operation, **{flag: lambda g: 0}))
        yield Reading(name, "bias ignored", "The sums are taken alone.", fed(operation, has_bias=lambda g: 0))
        twice = {bias: _biased(2.0)(bias) for bias in biases}
        why = "A layer with two biases is given the same one for both."
        yield Reading(name, "bias twice", why, fed(operation, **twice))


def reordered(array: Array | None, order: tuple[int, ...]) -> Any:
    """Blocks of rows in another order."""
    if array is None:
        return None
    blocks = np.split(array, len(order), axis=0)
    return np.concatenate([blocks[block] for block in order])


def _orders(
    operation: Callable[..., Any], biases: tuple[str, ...], *orders: tuple[str, str, tuple[int, ...]]
) -> Iterator[Reading]:
    for names, why, order in orders:
        changes = {
            array: lambda g, array=array, order=order: reordered(g[array], order) for array in ("w_x", "w_h", *biases)
        }
        yield Reading(operation.__name__, f"gates in the order {names}", why, fed(operation, **changes))


def _lies_in(order: tuple[int, ...]) -> Callable[..., Any]:
    """LSTM's gates stand in this order in the weights, and are kept so."""

    def change(result: Any, g: Given) -> Any:
        changed = {name: lambda g, name=name: reordered(g[name], order) for name in ("w_x", "w_h", "bias")}
        output, cells, gates = fed(ops.lstm_forward, **changed)(**g)
        blocks = np.split(gates, len(order), axis=-1)
        return output, cells, np.concatenate([blocks[order.index(block)] for block in range(len(order))], axis=-1)

    return giving(ops.lstm_forward, change)


def _forget_gate_open(g: Given) -> Given:
    """The bias of the forget gate is one more."""
    width = g["w_h"].shape[1]
    bias = g["bias"] if g["has_bias"] else np.zeros(4 * width, g["input"].dtype)
    more = np.repeat(np.array([0, 1, 0, 0], bias.dtype), width)
    return {**g, "bias": bias + more, "has_bias": 1}


def _without_relu(function: Callable[[Array], Array]) -> Callable[..., Any]:
    """The operation with another function in place of ReLU."""

    def change(result: Any, a: Given) -> Any:
        if a["activation"] == TANH:
            return result
        bias = a["bias"] if a["has_bias"] else a["input"].dtype.type(0)
        h, found = start(a["h0"], a["has_h0"], a["input"], a["w_h"]), []
        for step in range(a["input"].shape[1]):
            h = function(a["input"][:, step] @ a["w_x"].T + h @ a["w_h"].T + bias)
            found.append(h)
        return np.stack(found, axis=1)

    return giving(ops.rnn_forward, change)


def _lstm(
    cell: Callable[..., Array] = lambda i, f, g, o, c: f * c + i * g,
    output: Callable[..., Array] = lambda o, c, old: o * np.tanh(c),
    candidate: Callable[[Array], Array] = np.tanh,
) -> Callable[..., Any]:
    """The operation with one of its formulas changed."""

    def change(result: Any, a: Given) -> Any:
        bias = a["bias"] if a["has_bias"] else a["input"].dtype.type(0)
        h, c = (start(a[state], a["has_state"], a["input"], a["w_h"]) for state in ("h0", "c0"))
        found = []
        for step in range(a["input"].shape[1]):
            i, f, g, o = parts_of(a["input"][:, step] @ a["w_x"].T + h @ a["w_h"].T + bias, 4)
            i, f, g, o = logistic(i), logistic(f), candidate(g), logistic(o)
            old, c = c, cell(i, f, g, o, c)
            h = output(o, c, old)
            found.append((h, c, np.concatenate([i, f, g, o], axis=-1)))
        return tuple(np.stack(steps, axis=1) for steps in zip(*found, strict=True))

    return giving(ops.lstm_forward, change)


def _gru(
    candidate: Callable[..., Array], output: Callable[..., Array] = lambda n, z, h: (1 - z) * n + z * h
) -> Callable[..., Any]:
    """The operation with another candidate, of (x_n, r, h, w_n, b_n), or another output."""

    def change(result: Any, a: Given) -> Any:
        width, none = a["w_h"].shape[1], np.zeros(3 * a["w_h"].shape[1], a["input"].dtype)
        b_x, b_h = (a[bias] if a["has_bias"] else none for bias in ("b_x", "b_h"))
        h, found = start(a["h0"], a["has_h0"], a["input"], a["w_h"]), []
        for step in range(a["input"].shape[1]):
            of_x, of_h = a["input"][:, step] @ a["w_x"].T + b_x, h @ a["w_h"].T + b_h
            (x_r, x_z, x_n), (h_r, h_z, h_n) = parts_of(of_x, 3), parts_of(of_h, 3)
            r, z = logistic(x_r + h_r), logistic(x_z + h_z)
            n = np.tanh(candidate(x_n, r, h, a["w_h"][2 * width :], b_h[2 * width :]))
            h = output(n, z, h)
            found.append((h, np.concatenate([r, z, n, h_n], axis=-1)))
        return tuple(np.stack(steps, axis=1) for steps in zip(*found, strict=True))

    return giving(ops.gru_forward, change)


def _as_declared(x_n: Array, r: Array, h: Array, w: Array, b: Array) -> Array:
    return x_n + r * (h @ w.T + b)


def _pre_activation(result: Any, a: Given) -> Any:
    """What the gates were before their functions."""
    bias = a["bias"] if a["has_bias"] else a["input"].dtype.type(0)
    h = before(result[0], start(a["h0"], a["has_state"], a["input"], a["w_h"]))
    return (*result[:2], a["input"] @ a["w_x"].T + h @ a["w_h"].T + bias)


def _without_b_h(result: Any, a: Given) -> Any:
    gates = result[1]
    width = gates.shape[-1] // 4
    less = a["b_h"][2 * width :] if a["has_bias"] else gates.dtype.type(0)
    return result[0], np.concatenate([gates[..., : 3 * width], gates[..., 3 * width :] - less], axis=-1)


READINGS = (
    *_common(),
    Reading("rnn_forward", "the other function", "The numbers of ReLU and tanh are exchanged.",
            fed(ops.rnn_forward, activation=lambda g: 6 - g["activation"])),
    Reading("rnn_forward", "always tanh", "The number of the function is not read.",
            fed(ops.rnn_forward, activation=lambda g: TANH)),
    Reading("rnn_forward", "ReLU's other side", "What is negative is kept, and what is positive becomes 0.",
            _without_relu(lambda x: np.minimum(x, x.dtype.type(0)))),
    Reading("rnn_forward", "ReLU left out", "The sums are taken as they are.", _without_relu(lambda x: x)),
    Reading("rnn_forward", "w_h transposed", "h . w_h is taken, as where weights are stored in x out.",
            fed(ops.rnn_forward, w_h=lambda g: np.copy(g["w_h"].T, order="C"))),
    *_orders(ops.lstm_forward, ("bias",),
             ("i, g, f, o", "As in the first kernels of another framework.", (0, 2, 1, 3)),
             ("i, o, f, g", "ONNX's order.", (0, 2, 3, 1)),
             ("f, i, g, o", "The forget gate stands first in many texts.", (1, 0, 2, 3))),
    Reading("lstm_forward", "gates in the order i, f, o, g, and kept so", "The three sigmoids lie side by side.",
            _lies_in((0, 1, 3, 2))),
    Reading("lstm_forward", "gates in the order i, o, f, g, and kept so", "ONNX's order.", _lies_in((0, 2, 3, 1))),
    Reading("lstm_forward", "gates in the order f, i, g, o, and kept so",
            "The forget gate stands first in many texts.", _lies_in((1, 0, 2, 3))),
    Reading("lstm_forward", "forget gate's bias one more", "As layers are begun with, or as older cells compute.",
            giving(ops.lstm_forward, lambda r, g: ops.lstm_forward(**_forget_gate_open(g)))),
    Reading("lstm_forward", "no tanh of the cell", "output = o * c.", _lstm(output=lambda o, c, old: o * c)),
    Reading("lstm_forward", "output of the cell before", "The cell is updated after it has been read.",
            _lstm(output=lambda o, c, old: o * np.tanh(old))),
    Reading("lstm_forward", "input gate for the forget gate", "c = (1 - i) * c + i * g, as where the two are coupled.",
            _lstm(cell=lambda i, f, g, o, c: (1 - i) * c + i * g)),
    Reading("lstm_forward", "sigmoid of the candidate", "All four gates have one function.", _lstm(candidate=logistic)),
    Reading("lstm_forward", "c0 ignored", "Only h is given a start.",
            giving(ops.lstm_forward, lambda r, g: ops.lstm_forward(
                **{**g, "c0": g["c0"] * 0 if g["has_state"] else g["c0"]}))),
    Reading("lstm_forward", "cells after tanh", "tanh(c) is kept in place of c.",
            giving(ops.lstm_forward, lambda r, g: (r[0], np.tanh(r[1]), r[2]))),
    Reading("lstm_forward", "gates before their functions", "The sums are kept.",
            giving(ops.lstm_forward, _pre_activation)),
    *_orders(ops.gru_forward, ("b_x", "b_h"),
             ("z, r, n", "ONNX's order, and that of Keras.", (1, 0, 2)),
             ("r, n, z", "The update gate comes last, as it is used last.", (0, 2, 1))),
    Reading("gru_forward", "r before the product", "n = tanh(x_n + w . (r * h) + b), as first published.",
            _gru(lambda x_n, r, h, w, b: x_n + (r * h) @ w.T + b)),
    Reading("gru_forward", "b_h outside of r", "n = tanh(x_n + r * (w . h) + b): the biases are added up beforehand.",
            _gru(lambda x_n, r, h, w, b: x_n + r * (h @ w.T) + b)),
    Reading("gru_forward", "z and 1 - z exchanged", "z says how much is new, as first published.",
            _gru(_as_declared, lambda n, z, h: z * n + (1 - z) * h)),
    Reading("gru_forward", "r ignored", "The candidate sees all of h.",
            _gru(lambda x_n, r, h, w, b: x_n + (h @ w.T + b))),
    Reading("gru_forward", "b_h not in gates", "The product alone is kept for the gradient.",
            giving(ops.gru_forward, _without_b_h)),
)  # fmt: skip
