"""Cases of the activation functions, and of softmax with a temperature."""

from __future__ import annotations

import reference
from conformance.catalogue.design.levels import VALUES
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts, KnownSum, log
from conformance.catalogue.full_model import HIDDEN, TOKENS, VOCAB

from .data import Draw
from .elementwise import EVERY, SOME, TAILS
from .spec import Arguments, Maker, Sizes, Spec, infinite_beside_the_chosen, rows_apart, sizes

_BENT = {"plain": EVERY[1:], "tails": TAILS, "exact": SOME, "range": SOME, "special": SOME, "signed": SOME}
_CURVED = {"plain": EVERY, "tails": TAILS, "range": SOME, "large": SOME[1:], "tiny": SOME, "special": SOME}
_GATED = {data: rows for data, rows in _CURVED.items() if data != "large"}  # of large ones x * 1 is all there is
_SLOPES = {"exact": SOME, "cancel": SOME, "special": SOME}  # of outputs that no input has
_ALPHAS = sizes(
    "n alpha", (5, 0.3), (31, 1.1), (33, 0.01), (257, 1.5), (1024, 0.25), (1025, -0.5), (8193, 0.2), (20011, 3.0)
)
_SCALED = {
    "plain": _ALPHAS,
    "exact": _ALPHAS[2:4],
    "range": _ALPHAS[2:6],
    "tiny": _ALPHAS[2:4],
    "special": _ALPHAS[2:6],
}

_ROWS = sizes(
    *("rows cols temperature", (1, 2, 0.7), (1, 33, 2.0), (3, 31, 0.3), (5, 257, 1.5), (2, 1025, 0.7), (64, 64, 10.0)),
    *((7, 100, 0.5), (127, 13, 1.3), (2, 8193, 0.9), (130, 5, 0.11), (1, 40001, 1.7)),
)
_SOME_ROWS = sizes("rows cols temperature", (3, 33, 0.7), (2, 1025, 1.3))
_SHORT_ROWS = sizes(
    "rows cols temperature", (31, 4, 0.7), (17, 8, 1.3), (9, 16, 2.0), (7, 32, 0.5), (67, 64, 1.7)
)  # widths that ports have code of their own for
_WIDE_ROWS = sizes("rows cols temperature", (3, 40, 2.0), (3, 300, 0.5), (2, 1030, 4.0), (2, 8193, 0.25))


def _activated(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """Outputs of tanh, or of a sigmoid where they are probabilities."""
    return {"output": reference.tanh(made["output"])}


def _probabilities(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    return {"output": reference.sigmoid(made["output"])}


def _distributions(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    return {"output": reference.softmax_temperature(made["output"], sizes["temperature"])}


SPECS = (
    Spec("relu", _BENT),
    Spec("relu_backward", _BENT),
    *(Spec(f"{name}{way}", _SCALED) for name in ("leaky_relu", "elu") for way in ("", "_backward")),
    Spec("sigmoid", _CURVED),
    Spec("tanh", _CURVED),
    *(Spec(f"{name}{way}", _GATED) for name in ("gelu", "gelu_tanh") for way in ("", "_backward")),
    Spec("sigmoid_backward", {"plain": EVERY, "tails": TAILS, "large": SOME[1:]}, finish=_probabilities),
    Spec("sigmoid_backward", _SLOPES),
    Spec("tanh_backward", {"plain": EVERY, "tails": TAILS, "tiny": SOME}, finish=_activated),
    Spec("tanh_backward", _SLOPES),
    Spec("softmax_temperature", {"plain": _ROWS, "large": _SOME_ROWS, "masked": _SOME_ROWS, "special": _SOME_ROWS}),
    Spec("softmax_temperature", {"late": _WIDE_ROWS}, why="maximum_in_last_column"),
    Spec("softmax_temperature", {"beyond": _WIDE_ROWS}, why="overflow_before_the_maximum"),
    Spec("softmax_temperature", {"plain": _SOME_ROWS}, {"input": rows_apart}, why="rows_far_apart"),
    Spec("softmax_temperature", {"below": _SOME_ROWS + _SHORT_ROWS}, why="maximum_below_zero"),
    Spec("softmax_temperature", {"plain": sizes("rows cols temperature", (3, 33, 1.0))}, why="temperature_of_1"),
    Spec("softmax_temperature_backward", {"plain": _ROWS, "late": _SOME_ROWS}, finish=_distributions),
    Spec("softmax_temperature_backward", {"exact": _SOME_ROWS, "cancel": _SOME_ROWS, "special": _SOME_ROWS}),
    Spec(
        "softmax_temperature_backward",
        {"plain": _SOME_ROWS + _SHORT_ROWS},
        finish=infinite_beside_the_chosen("output", "d_output"),
        why="a_probability_of_0_meets_infinity",
    ),
)

_ELEMENT, _VOCABULARY = {"n": TOKENS * HIDDEN}, {"rows": TOKENS, "cols": VOCAB, "temperature": 0.7}
_PLAIN = ("sigmoid", "tanh", "gelu", "gelu_tanh")
FACTS = (
    *(Facts(f"relu{way}", _ELEMENT, only_moves=True) for way in ("", "_backward")),
    *(Facts(f"{name}{way}", _ELEMENT) for name in _PLAIN for way in ("", "_backward")),
    *(Facts(f"leaky_relu{way}", {**_ELEMENT, "alpha": 0.01}) for way in ("", "_backward")),
    *(Facts(f"elu{way}", {**_ELEMENT, "alpha": 1.0}) for way in ("", "_backward")),
    Facts(
        "softmax_temperature",
        _VOCABULARY,
        known_sums=(KnownSum("input", "output", "cols", log, lambda out, n: 1 / out),),
    ),
    Facts("softmax_temperature_backward", _VOCABULARY),
)

# Beside the least temperature, which no row of ordinary numbers shows, stand rows as small as it is.
_TEMPERATURES = (1.0, 0.7, 1.7, 0.001, 30.0, 2.0**-100)
_INPUTS: dict[str, str | Maker] = {
    **{value: value for values in VALUES.values() for value in values},
    "times_temperature": lambda draw, shape, sizes: draw.normal(shape) * sizes["temperature"],
}

DESIGNS = (
    Design("softmax_temperature", scalars={"temperature": _TEMPERATURES}, arrays={"input": _INPUTS}),
    Design("softmax_temperature_backward", finish=_distributions),
)
