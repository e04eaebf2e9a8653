"""Cases of recurrent layers.

Weights are as large as those that a layer is begun with: numbers of size one by the root of how many are summed.  Of
larger ones errors grow from step to step until nothing is known of the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import reference
from conformance.catalogue.design.levels import FINITE, VALUES
from conformance.catalogue.factors import SIZES, Design
from conformance.catalogue.facts import Facts

from .data import DATA, Draw
from .spec import Arguments, Maker, Sizes, Spec, sizes

RELU, TANH = 1, 5  # the header's ASSAYER_RELU and ASSAYER_TANH
NAMES = "batch steps input_dim hidden_dim"
EVERY = sizes(NAMES, (1, 1, 1, 1), (2, 1, 3, 5), (3, 2, 7, 4), (2, 5, 33, 17), (5, 17, 8, 33), (2, 2, 65, 64))
TAILS = sizes(
    NAMES,
    (33, 3, 5, 7),
    (1, 40, 6, 9),
    (3, 3, 129, 130),
    (2, 3, 1030, 5),
    (1, 2, 5, 257),
    (67, 1, 4, 3),
    (521, 2, 3, 2),
)
WIDE = sizes(NAMES, (1, 1, 2, 1030))  # of LSTM and GRU narrower layers have as wide a product
SOME = sizes(NAMES, (3, 2, 7, 4), (2, 5, 33, 17))
SEVERAL = sizes(NAMES, (3, 5, 7, 4), (2, 17, 9, 12))


def _times(rows: list[dict[str, Any]], *choices: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every size with the numbers of one choice, by turns."""
    return [{**row, **choices[i % len(choices)]} for i, row in enumerate(rows)]


def _with_all(rows: list[dict[str, Any]], *choices: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every size with the numbers of every choice."""
    return [{**row, **choice} for row in rows for choice in choices]


def weights(data: str = "plain") -> Maker:
    """A data set by the root of the length of a row."""
    return lambda draw, shape, sizes: DATA[data](draw, shape) / np.sqrt(shape[-1])


def where(flag: str, data: str = "plain") -> Maker:
    """A data set where a number of the call is not 0; elsewhere, where the array is not read, nothing but NaN."""
    return lambda draw, shape, sizes: DATA[data](draw, shape) if sizes[flag] else np.full(shape, np.nan)


def _finished(forward: Callable[..., Any], biases: tuple[str, ...], names: tuple[str, ...], *scalars: str) -> Any:
    """What the forward pass leaves for its gradient."""

    def finish(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
        given = {name: made[name] for name in ("input", "w_x", "w_h", "h0", "c0") if name in made}
        results = forward(**given, **dict.fromkeys(biases), **{name: sizes[name] for name in scalars}, has_bias=0)
        return dict(zip(names, results if isinstance(results, tuple) else (results,), strict=True))

    return finish


RNN_FIRST = _finished(reference.rnn_forward, ("bias",), ("output",), "activation", "has_h0")
LSTM_FIRST = _finished(reference.lstm_forward, ("bias",), ("output", "cells", "gates"), "has_state")
GRU_FIRST = _finished(reference.gru_forward, ("b_x", "b_h"), ("output", "gates"), "has_h0")

_WEIGHTS: dict[str, str | Maker] = {"w_x": weights(), "w_h": weights()}
GIVEN: dict[str, dict[str, str | Maker]] = {
    "rnn_forward": {**_WEIGHTS, "bias": where("has_bias"), "h0": where("has_h0")},
    "lstm_forward": {**_WEIGHTS, "bias": where("has_bias"), **dict.fromkeys(("h0", "c0"), where("has_state"))},
    "gru_forward": {**_WEIGHTS, **dict.fromkeys(("b_x", "b_h"), where("has_bias")), "h0": where("has_h0")},
    "rnn_backward": {**_WEIGHTS, "h0": where("has_h0")},
    "lstm_backward": {**_WEIGHTS, **dict.fromkeys(("h0", "c0"), where("has_state"))},
    "gru_backward": {**_WEIGHTS, "h0": where("has_h0")},
}
OLD = dict.fromkeys(("d_w_x", "d_w_h", "d_bias", "d_b_x", "d_b_h"), where("beta"))
_STATE = {"rnn": "has_h0", "lstm": "has_state", "gru": "has_h0"}
_LEFT = {"rnn": ("output",), "lstm": ("output", "cells", "gates"), "gru": ("output", "gates")}
_FINISH = {"rnn": RNN_FIRST, "lstm": LSTM_FIRST, "gru": GRU_FIRST}


def _choices(kind: str) -> list[dict[str, Any]]:
    """What may be there or not, each with and without the other; of the plain layer both functions."""
    found = [{"has_bias": b, _STATE[kind]: s} for b, s in ((1, 1), (0, 0), (1, 0), (0, 1))]
    return [{"activation": a, **one} for one in found for a in (TANH, RELU)] if kind == "rnn" else found


def _forward(kind: str) -> tuple[Spec, ...]:
    operation, choices = f"{kind}_forward", _choices(kind)
    data = {"plain": _times(EVERY, *choices) + _with_all(SEVERAL[:1], *choices), "tails": _times(TAILS, *choices)}
    data |= {name: _times(SOME, *choices[:2]) for name in ("swamp", "cancel", "large", "special")}
    if kind == "rnn":
        data["tails"] = data["tails"] + _times(WIDE, *choices)
    return (Spec(operation, data, GIVEN[operation]),)


def _backward(kind: str) -> tuple[Spec, ...]:
    operation, inputs = f"{kind}_backward", GIVEN[f"{kind}_backward"] | OLD
    choices = [
        {k: v for k, v in one.items() if k != "has_bias"} | {"beta": 0.0} for one in _choices(kind) if one["has_bias"]
    ]
    data = {"plain": _times(EVERY, *choices) + _with_all(SEVERAL, *choices), "tails": _times(TAILS, *choices)}
    data |= {name: _times(SOME, *choices[:2]) for name in ("swamp", "cancel", "range", "tiny")}
    added = {"accumulate": [{**row, "beta": beta} for row in _times(SOME, *choices) for beta in (1.0, -0.5)]}
    plain: dict[str, str | Maker] = {**inputs, "input": "plain"}
    return (
        Spec(operation, data, plain, finish=_FINISH[kind]),
        Spec(operation, {"special": _times(SOME, *choices[:2])}, plain, finish=_FINISH[kind]),
        Spec(operation, added, inputs, finish=_FINISH[kind], why="into_filled_gradient"),
    )


_WHOLE = [{**row, "activation": RELU, "has_bias": 1, "has_h0": 1} for row in SOME]
SPECS = (
    *(spec for kind in ("rnn", "lstm", "gru") for spec in (*_forward(kind), *_backward(kind))),
    Spec("rnn_forward", {"exact": _WHOLE}, why="whole_numbers"),  # every sum is exact, and many a sum is 0
)

LAYER = {"batch": 32, "steps": 20, "input_dim": 64, "hidden_dim": 128}
_NEUTRAL = {"has_bias": 1, "has_h0": 1, "has_state": 1, "activation": RELU}  # linear: what is put in comes out
_OWN: dict[str, dict[str, Any]] = {
    "rnn_forward": {"activation": TANH, "has_bias": 1, "has_h0": 1},
    "rnn_backward": {"activation": TANH, "has_h0": 1, "beta": 0.0},
    "lstm_forward": {"has_bias": 1, "has_state": 1},
    "lstm_backward": {"has_state": 1, "beta": 0.0},
    "gru_forward": {"has_bias": 1, "has_h0": 1},
    "gru_backward": {"has_h0": 1, "beta": 0.0},
}
FACTS = tuple(
    Facts(name, {**LAYER, **own}, multiplies=True, neutral={k: _NEUTRAL[k] for k in own if k in _NEUTRAL})
    for name, own in _OWN.items()
)

# What the gates hold of inputs of any size is one or zero to the last digit, or nothing is known of it.
_BOUNDED = tuple(value for value in FINITE if value not in {"range", "huge"})
_WEIGHT: dict[str, str | Maker] = {
    "plain_by_root": weights(),
    "sparse_by_root": weights("sparse"),
    "constant_by_root": weights("degenerate"),
    "negative_by_root": weights("negative"),
}
_INPUT: dict[str, str | Maker] = {value: value for value in (*_BOUNDED, *VALUES["special"])}
_STATES: dict[str, str | Maker] = {value: value for value in ("plain", "exact", "tiny", "ties", "special", "sparse")}
_SIZES = {"steps": (3, 1, 2, 5, 8, 17, 33), "batch": tuple(n for n in SIZES if n < 600)}
_FOLLOWING: dict[str, str | Maker] = {"forward": "plain"}


def _work(parts: int) -> Callable[[Sizes], float]:
    return lambda sizes: float(
        sizes["batch"] * sizes["steps"] * parts * sizes["hidden_dim"] * (sizes["input_dim"] + sizes["hidden_dim"])
    )


def _design(kind: str, parts: int, states: tuple[str, ...], biases: tuple[str, ...]) -> tuple[Design, Design]:
    flags: dict[str, tuple[float, ...]] = {_STATE[kind]: (1, 0)}
    flags |= {"activation": (TANH, RELU)} if kind == "rnn" else {}
    read = {"input": _INPUT, "w_x": _WEIGHT, "w_h": _WEIGHT, **dict.fromkeys(states, _STATES)}
    forward = Design(
        f"{kind}_forward", _SIZES, {**flags, "has_bias": (1, 0)}, {**read, **dict.fromkeys(biases, _STATES)},
        work=_work(parts),
    )  # fmt: skip
    finite: dict[str, str | Maker] = {value: value for value in _BOUNDED}
    state: dict[str, str | Maker] = {level: maker for level, maker in _STATES.items() if level != "special"}
    held = {**read, "input": finite, **dict.fromkeys(states, state), **dict.fromkeys(_LEFT[kind], _FOLLOWING)}
    backward = Design(f"{kind}_backward", _SIZES, flags, held, finish=_FINISH[kind], work=_work(2 * parts))
    return forward, backward


DESIGNS = (
    *_design("rnn", 1, ("h0",), ("bias",)),
    *_design("lstm", 4, ("h0", "c0"), ("bias",)),
    *_design("gru", 3, ("h0",), ("b_x", "b_h")),
)
