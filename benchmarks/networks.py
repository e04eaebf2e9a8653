"""Operations of convolutional and recurrent layers, by the sizes of the layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import reference
from conformance import operations
from conformance.limits.namespaces import Stored

from .cases import Case, make_case

# Kernels are 3 x 3 and leave planes as large as they are.
CONVOLUTIONS: Mapping[str, dict[str, Any]] = {
    "conv2d": {"has_bias": 1},
    "conv2d_backward_input": {},
    "conv2d_backward_weight": {"beta": 0.0},
    "conv2d_backward_bias": {"beta": 0.0},
}


def convolution(operation: str, layer: tuple[int, int, int], divisor: int) -> Case:
    """An operation of a layer (samples, channels and filters, a side), its samples divided, of which one is left."""
    batch, channels, side = layer
    sizes = {
        "batch": max(1, batch // divisor),
        "in_channels": channels,
        "out_channels": channels,
        "height": side,
        "width": side,
    }
    sizes |= {"out_h": side, "out_w": side, "kernel_h": 3, "kernel_w": 3, "groups": 1}
    sizes |= {f"{name}_{axis}": 1 for name in ("stride", "pad", "dilation") for axis in "hw"}
    function = operations.OPERATIONS[operation]
    given, rng = sizes | CONVOLUTIONS[operation], np.random.default_rng(0)
    arrays = tuple(
        rng.random([axis.size(given) for axis in parameter.shape], np.float32) if parameter.is_read(given) else None
        for parameter in operations.read_arrays(function)
    )
    return make_case(operation, arrays, {name: given[name] for name in operations.scalars(function)})


PARTS = {"rnn": 1, "lstm": 4, "gru": 3}
_TANH = 5  # assayer.h: ASSAYER_TANH
_NUMBERS: dict[str, dict[str, Any]] = {
    "rnn": {"activation": _TANH, "has_bias": 1, "has_h0": 1},
    "lstm": {"has_bias": 1, "has_state": 1},
    "gru": {"has_bias": 1, "has_h0": 1},
}
_STATES: dict[str, tuple[str, ...]] = {"rnn": ("h0",), "lstm": ("h0", "c0"), "gru": ("h0",)}
_BIASES: dict[str, tuple[str, ...]] = {"rnn": ("bias",), "lstm": ("bias",), "gru": ("b_x", "b_h")}
_KEPT: dict[str, tuple[str, ...]] = {
    "rnn": ("output",),
    "lstm": ("output", "cells", "gates"),
    "gru": ("output", "gates"),
}
RECURRENT_BACKWARD = {f"{kind}_backward": kind for kind in PARTS}


def recurrent(kind: str, layer: tuple[int, int, int, int], divisor: int) -> tuple[Case, Case]:
    """Forward and backward of a layer (samples, steps, inputs, units), its samples divided, of which one is left.

    The backward is that of a forward pass without biases, which it does not ask for: so it can be repeated from the
    arguments alone.
    """
    batch, steps, inputs, hidden = max(1, layer[0] // divisor), *layer[1:]
    rng, rows, numbers = np.random.default_rng(0), PARTS[kind] * hidden, _NUMBERS[kind]

    def draw(*shape: int) -> Any:  # as PyTorch begins: uniform, within 1 / sqrt(hidden)
        return ((2 * rng.random(shape, np.float32) - 1) * hidden**-0.5).astype(np.float32)

    given = {"input": draw(batch, steps, inputs), "w_x": draw(rows, inputs), "w_h": draw(rows, hidden)}
    given |= {name: draw(batch, hidden) for name in _STATES[kind]}
    biases = {name: draw(rows) for name in _BIASES[kind]}
    later = (
        given
        | _kept(kind, reference, given | numbers)
        | {"d_output": draw(batch, steps, hidden), **numbers, "beta": 0.0}
    )
    return _case(f"{kind}_forward", given | biases | numbers), _case(f"{kind}_backward", later)


def _kept(kind: str, ops: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a forward pass without biases keeps for the backward."""
    names = operations.signature(operations.OPERATIONS[f"{kind}_forward"]).names
    results = getattr(ops, f"{kind}_forward")(**{name: given.get(name) for name in names} | {"has_bias": 0})
    return dict(zip(_KEPT[kind], results if isinstance(results, tuple) else (results,), strict=True))


def with_forward(operation: str) -> Callable[..., Any]:
    """The backward of a recurrent layer as somebody computes it who repeats the forward pass, not being given it."""
    names = operations.signature(operations.OPERATIONS[operation]).names

    def carried_out(*values: Any) -> Any:
        given = dict(zip(names, values, strict=True))
        return getattr(reference, operation)(**given | _kept(RECURRENT_BACKWARD[operation], Stored(), given))

    return carried_out


def _case(operation: str, given: Mapping[str, Any]) -> Case:
    function = operations.OPERATIONS[operation]
    arrays = tuple(given.get(parameter.name) for parameter in operations.read_arrays(function))
    return make_case(operation, arrays, {name: given[name] for name in operations.scalars(function)})
