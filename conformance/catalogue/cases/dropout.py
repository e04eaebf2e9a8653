"""Cases of dropout."""

from __future__ import annotations

import numpy as np

from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import HIDDEN, TOKENS

from .data import Array, Draw
from .spec import Maker, Sizes, Spec, seeds, sizes

RATE = 0.1
FIRST_DRAW = 0x6627E8 * 2.0**-24  # of key and offset 0, by the known answers of Philox
EVERY = sizes("n rate", (3, 0.3), (4, RATE), (5, 0.25), (31, 0.3), (33, RATE), (257, 0.9), (1025, RATE))
TAILS = sizes("n rate", (8193, RATE), (65537, 0.3), (100003, RATE))
SOME = sizes("n rate", (65, RATE), (1025, 0.3))
ALL_KEPT = sizes("n rate", (65, 0.0), (1027, 0.0))
ON_THE_EDGE = sizes("n rate", (1, FIRST_DRAW), (33, FIRST_DRAW))


def _from(offset: int) -> Maker:
    """Any key, and the block that counting begins at."""

    def make(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
        return np.array([seeds(draw, shape, sizes)[0], offset], np.uint64)

    return make


def _nothing(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return np.zeros(shape, np.uint64)


def _drawn_by(maker: Maker) -> dict[str, str | Maker]:
    return {"philox": maker}


_MIXED = _drawn_by(seeds)
_KEPT = "every element is kept as it is"
OPERATIONS = ("dropout", "dropout_backward")

SPECS = (
    *(Spec(name, {"plain": EVERY, "tails": TAILS, "range": SOME, "special": SOME}, _MIXED) for name in OPERATIONS),
    *(Spec(name, {"plain": SOME}, _drawn_by(_from(2**32 - 5)), why="carries_into_upper_half") for name in OPERATIONS),
    *(Spec(name, {"plain": SOME}, _drawn_by(_from(2**64 - 5)), why="counter_wraps") for name in OPERATIONS),
    *(Spec(name, {"plain": ON_THE_EDGE}, _drawn_by(_nothing), why="draw_on_the_edge") for name in OPERATIONS),
    *(Spec(name, {"plain": ALL_KEPT}, _MIXED, why="rate_of_zero", trivial=_KEPT) for name in OPERATIONS),
)

_ELEMENTS = {"n": TOKENS * HIDDEN, "rate": RATE}
FACTS = tuple(Facts(name, _ELEMENTS, neutral={"rate": 0.0}) for name in OPERATIONS)

_STATES: dict[str, str | Maker] = {
    "mixed": seeds,
    "zero": _nothing,
    "carries": _from(2**32 - 2),
    "wraps": _from(2**64 - 2),
}
_RATES = {"rate": (RATE, 0.5, 0.0, 0.25, 0.9, FIRST_DRAW, 1 - 2.0**-24)}
DESIGNS = tuple(Design(name, scalars=_RATES, arrays={"philox": _STATES}) for name in OPERATIONS)
