"""An engine that runs lists of operation records, in NumPy: `assayer graph --module with_numpy.py --task layers`.

Records in order, values by name; backward in reverse, every gradient added to what is there.  Kinds that it has not are
refused: write them below, a forward and a backward each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Arrays = Mapping[str, Array]
Record = Mapping[str, Any]
# Of a kind: the output; and what it adds to the gradients of its inputs and parameters, in their order.
Forward = Callable[[Record, list[Array], list[Array]], Array]
Backward = Callable[[Record, list[Array], list[Array], Array, Array], tuple[list[Array | None], list[Array]]]


def dense(record: Record, inputs: list[Array], parameters: list[Array]) -> Array:
    if record["attributes"]["activation"] not in ("linear", "tanh") or len(parameters) < 2:
        raise NotImplementedError(f"dense with {record['attributes']['activation']} and {len(parameters)} parameters")
    y = inputs[0] @ parameters[0].T + parameters[1]
    return np.tanh(y) if record["attributes"]["activation"] == "tanh" else y


def dense_backward(
    record: Record, inputs: list[Array], parameters: list[Array], y: Array, d: Array
) -> tuple[list[Array | None], list[Array]]:
    d = d * (1 - y * y) if record["attributes"]["activation"] == "tanh" else d
    rows = d.reshape(-1, d.shape[-1])
    return [d @ parameters[0]], [rows.T @ inputs[0].reshape(len(rows), -1), rows.sum(axis=0)]


def mse(record: Record, inputs: list[Array], parameters: list[Array]) -> Array:
    return np.mean((inputs[0] - inputs[1]) ** 2, dtype=np.float32, keepdims=True).reshape(1)


def mse_backward(
    record: Record, inputs: list[Array], parameters: list[Array], y: Array, d: Array
) -> tuple[list[Array | None], list[Array]]:
    weight = np.float32(2 * record["attributes"]["weight"] / inputs[0].size)
    return [(inputs[0] - inputs[1]) * weight, None], []


KINDS: dict[str, tuple[Forward, Backward]] = {
    "dense": (dense, dense_backward),
    "mse": (mse, mse_backward),
    "tanh": (lambda r, x, p: np.tanh(x[0]), lambda r, x, p, y, d: ([d * (1 - y * y)], [])),
    "add": (lambda r, x, p: x[0] + x[1], lambda r, x, p, y, d: ([d, d], [])),
}
LOSSES = ("mse",)


def graph_step(graph: Mapping[str, Any], arrays: Arrays, settings: Mapping[str, Any]) -> dict[str, Array]:
    """One step: forward, losses, backward, update.  Results by name, as the judge asks for them."""
    held = {name.partition(".")[2]: array for name, array in arrays.items()}  # input.x and parameter.w
    results: dict[str, Array] = {}
    for record in graph["records"]:
        if record["kind"] not in KINDS:
            raise NotImplementedError(f"kind {record['kind']}")
        forward, _ = KINDS[record["kind"]]
        output = forward(record, [held[n] for n in record["inputs"]], [held[n] for n in record["parameters"]])
        held[record["output"]] = output
        results[f"{'loss' if record['kind'] in LOSSES else 'value'}.{record['output']}"] = output

    gradients: dict[str, Array] = {
        record["output"]: np.ones(1, np.float32) for record in graph["records"] if record["kind"] in LOSSES
    }
    for record in reversed(graph["records"]):
        if record["output"] not in gradients:
            continue
        read = [held[n] for n in record["inputs"]], [held[n] for n in record["parameters"]]
        _, backward = KINDS[record["kind"]]
        of_inputs, of_parameters = backward(record, *read, held[record["output"]], gradients[record["output"]])
        names = [*record["inputs"], *record["parameters"]]
        for name, gradient in zip(names, [*of_inputs, *of_parameters], strict=True):
            if gradient is not None:
                gradients[name] = gradients[name] + gradient if name in gradients else gradient
    results |= {f"gradient.{name}": gradient for name, gradient in gradients.items() if f"loss.{name}" not in results}

    for name in graph["wanted"]:
        kind, _, bare = name.partition(".")
        if kind == "parameter" and settings["optimizer"] == "sgd" and not settings["clip_norm"]:
            weight, rate, decay = held[bare], np.float32(settings["lr"]), np.float32(settings["weight_decay"])
            results[name] = weight - rate * (gradients[bare] + decay * weight)
    return {name: array for name, array in results.items() if name in graph["wanted"]}
