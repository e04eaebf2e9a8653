"""Cases of a row or a column added to a matrix, and of the dense layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import FFN, HIDDEN, TOKENS

from .recurrent import weights, where
from .spec import Maker, Sizes, Spec, nan, sizes

Row = dict[str, Any]

EVERY = sizes("rows cols", (1, 1), (1, 33), (3, 31), (5, 257), (2, 1025), (64, 64), (33, 8))
TAILS = sizes(
    "rows cols",
    (130, 5),
    (3, 67),
    (127, 13),
    (2, 8193),
    (1, 40001),
    (600, 3),
    (1030, 7),
    (4099, 1),
    (17, 4100),
    (257, 129),
)
SOME = sizes("rows cols", (3, 33), (33, 8), (5, 257))
_MATRICES = {"plain": EVERY, "tails": TAILS, **dict.fromkeys(("exact", "range", "swamp", "cancel", "special"), SOME)}
_FEW = sizes("rows cols", (2, 7), (9, 2))  # so few terms that not every sum is NaN, whichever axis is summed
_SUMS: dict[str, list[Row]] = {**_MATRICES, "special": _FEW}

NAMES = "rows in_features out_features"
LAYERS = sizes(NAMES, (1, 2, 1), (1, 7, 33), (17, 65, 33), (64, 64, 64), (33, 129, 31), (2, 256, 3), (9, 2, 7))
LAYER_TAILS = sizes(
    NAMES,
    *((130, 31, 3), (5, 257, 129), (65, 1025, 1), (3, 4097, 5), (127, 48, 97), (1, 33, 257), (3, 5, 1030)),
    *((1030, 3, 5), (97, 128, 132), (2049, 2, 3), (33, 7, 5), (3, 2, 8201)),
)
SEVERAL = sizes(NAMES, (19, 31, 37))  # with every activation
SOME_LAYERS = sizes(NAMES, (17, 65, 33), (64, 128, 48))
FEW_LAYERS = sizes(NAMES, (9, 2, 7), (33, 3, 5))
FEW_GRADIENTS = sizes(NAMES, (2, 9, 3), (3, 33, 2))

LINEAR, RELU, LEAKY_RELU, ELU, SIGMOID, TANH, GELU, GELU_TANH = range(8)  # as the header numbers them
_ANY = [
    {"activation": activation, "alpha": alpha}
    for activation, alpha in (
        *((LINEAR, 0.3), (RELU, 0.3), (LEAKY_RELU, 0.3), (ELU, 1.5), (SIGMOID, 0.3), (TANH, 1.5)),
        *((GELU, 0.3), (GELU_TANH, 1.5), (LEAKY_RELU, 1.1), (ELU, 0.3), (LEAKY_RELU, -0.5)),
    )
]
# Of these what goes in at any size comes out at that size.
_STRAIGHT = [choice for choice in _ANY if choice["activation"] in (LINEAR, RELU, LEAKY_RELU)]


def _times(rows: Sequence[Sizes], choices: Sequence[Mapping[str, Any]], **more: float) -> list[Row]:
    """Every size with one of the choices, by turns."""
    return [{**row, **choices[i % len(choices)], **more} for i, row in enumerate(rows)]


def _with_all(rows: Sequence[Sizes], choices: Sequence[Mapping[str, Any]], **more: float) -> list[Row]:
    return [{**row, **choice, **more} for row in rows for choice in choices]


def _with(rows: Mapping[str, list[Row]], **scalar: float) -> dict[str, list[Row]]:
    return {data: [{**row, **scalar} for row in found] for data, found in rows.items()}


def _layers(straight: list[Row], special: list[Row], **more: float) -> dict[str, list[Row]]:
    """Numbers that no function but these takes without losing all of them."""
    mixed = {data: _with_all(straight, _STRAIGHT[:3], **more) for data in ("exact", "range", "swamp", "cancel")}
    return mixed | {"special": _with_all(special, _ANY[:8], **more)}


def _layers_of_any(**more: float) -> dict[str, list[Row]]:
    return {
        "plain": _times(LAYERS, _ANY, **more) + _with_all(SEVERAL, _ANY, **more),
        "tails": _times(LAYER_TAILS, _ANY[::-1], **more),
        "large": _times(SOME_LAYERS, _ANY[1:3], **more),
    }


_WEIGHT: dict[str, str | Maker] = {"weight": weights()}
_UNREAD: dict[str, str | Maker] = {"d_weight": nan, "d_bias": nan}
_PLAIN_FACTORS: dict[str, str | Maker] = {"input": "plain", "weight": "plain"}
_ADDED = _with_all(SEVERAL, _ANY[:4])

SPECS = (
    Spec("add_row", _MATRICES, signed_zeros=True),
    Spec("add_column", _MATRICES, signed_zeros=True),
    *(
        spec
        for name, old in (("add_row_backward", "d_row"), ("add_column_backward", "d_column"))
        for spec in (
            Spec(name, _with(_SUMS, beta=0.0), {old: nan}),
            *(Spec(name, _with({"accumulate": SOME, "exact": SOME[:2]}, beta=beta)) for beta in (1.0, -0.5)),
        )
    ),
    Spec("dense", _layers_of_any(has_bias=1), _WEIGHT),
    Spec("dense", _layers(SEVERAL, FEW_LAYERS, has_bias=1)),
    Spec("dense", {"plain": _times(LAYERS, _ANY[::-1], has_bias=0)}, {**_WEIGHT, "bias": nan}, why="without_bias"),
    Spec("dense_backward", _layers_of_any(beta=0.0), _WEIGHT | _UNREAD),
    Spec("dense_backward", _layers(SEVERAL, FEW_GRADIENTS, beta=0.0), _PLAIN_FACTORS | _UNREAD),
    *(
        Spec("dense_backward", _with({"accumulate": _ADDED}, beta=beta), why="into_filled_gradients")
        for beta in (1.0, -0.5)
    ),
)

_MATRIX = {"rows": TOKENS, "cols": HIDDEN}
_LAYER = {"rows": TOKENS, "in_features": HIDDEN, "out_features": FFN, "activation": GELU_TANH, "alpha": 1.0}
_NEUTRAL = {"activation": LINEAR}
FACTS = (
    *(Facts(f"add_{vector}", _MATRIX) for vector in ("row", "column")),
    *(Facts(f"add_{vector}_backward", {**_MATRIX, "beta": 0.0}) for vector in ("row", "column")),
    Facts(
        "dense",
        {**_LAYER, "has_bias": 1},
        multiplies=True,
        factors=("input", "weight"),
        neutral={**_NEUTRAL, "has_bias": 1},
    ),
    Facts(
        "dense_backward",
        {**_LAYER, "beta": 0.0},
        multiplies=True,
        factors=("input", "weight", "d_output"),
        neutral=_NEUTRAL,
    ),
)


def _work(sizes: Sizes) -> float:
    return float(sizes["rows"] * sizes["in_features"] * sizes["out_features"])


_SCALARS: dict[str, Sequence[float]] = {"activation": tuple(range(8)), "alpha": (1.0, 0.3, -1.7, 0.0, 2.5)}
_BIAS: dict[str, str | Maker] = {
    value: where("has_bias", value) for value in ("plain", "exact", "range", "tiny", "large", "special", "signed")
}
DESIGNS = (
    Design("dense", scalars={**_SCALARS, "has_bias": (1, 0)}, arrays={"bias": _BIAS}, work=_work),
    Design("dense_backward", scalars=_SCALARS, work=lambda sizes: 2 * _work(sizes)),
)
