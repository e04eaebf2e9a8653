"""Cases of losses against targets as many as the predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference
from conformance.catalogue.design.levels import FINITE
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import HIDDEN, TOKENS, VOCAB

from .data import Array, Draw
from .spec import Arguments, Maker, Sizes, Spec, scaled, sizes

EVERY = sizes("n", (1,), (2,), (33,), (257,), (1025,), (8193,), (20011,))
SOME = sizes("n", (33,), (1025,))
ROWS = sizes("rows cols", (1, 2), (3, 33), (33, 257), (64, 64), (257, 5), (2, 1025), (127, 13), (2, 8193))
SOME_ROWS = sizes("rows cols", (9, 17), (4, 1025))
# Where logarithms and divisors are bounded, and either side of it; the last but one is below float32's normal numbers.
_EDGES = np.array(
    [0.0, 1.0, 2.0**-149, 26 * 2.0**-149, 27 * 2.0**-149, 2.0**-130, 2.0**-24, 1 - 2.0**-24, 9e-13, 1.1e-12, 2.0**-12]
)


def probabilities(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Between 2^-12 and 1 - 2^-12."""
    return 2.0**-12 + draw.uniform(shape) * (1 - 2.0**-11)


def _edges(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """0, 1, and what is so near to them that bounds count, among others."""
    chosen = _EDGES[draw.of("which").integers(0, _EDGES.size, shape)]
    return np.where(draw.of("where").integers(0, 2, shape) == 0, chosen, probabilities(draw, shape, sizes))


def _next_to_none(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Between 2^-45 and 2^-35: either side of the smallest divisor."""
    return np.asarray(2.0 ** (10 * draw.uniform(shape) - 45))


def hard(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """0 or 1."""
    return draw.integers(0, 2, shape).astype(np.float64)


def soft(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Between 0 and 1, both among them."""
    return np.where(draw.of("hard").integers(0, 4, shape) == 0, hard(draw.of("end"), shape, sizes), draw.uniform(shape))


def onehot(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """One 1 in each row."""
    chosen = draw.integers(0, shape[-1], shape[:-1])
    return np.where(np.arange(shape[-1]) == chosen[..., None], 1.0, 0.0)


def _one_nan(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Normal numbers and a single NaN."""
    return _with_nan(draw, draw.normal(shape))


def _none_among_probabilities(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return _with_nan(draw, probabilities(draw, shape, sizes))


def _with_nan(draw: Draw, values: Array) -> Array:
    place = draw.of("place").integers(0, values.size, (1,))[0]
    return np.where(np.arange(values.size).reshape(values.shape) == place, np.nan, values)


def _beyond_one(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Probabilities, one of which is 1.5."""
    return np.where(np.isnan(one := _none_among_probabilities(draw, shape, sizes)), 1.5, one)


def _log_probs(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    given = made["log_probs"], made["labels"], made["temperature"]
    return {"log_probs": reference.cross_entropy_dense_forward(*given)[1]}


def _with(rows: list[dict[str, Any]], **scalars: tuple[float, ...]) -> list[dict[str, Any]]:
    """Each row with every value of each scalar."""
    for name, values in scalars.items():
        rows = [{**row, name: value} for row in rows for value in values]
    return rows


_SCALES = (1.0, 0.03)
_HOT: dict[str, str | Maker] = {"labels": onehot}
_SOFT: dict[str, str | Maker] = {"labels": soft}
_BINARY: dict[str, str | Maker] = {"probability": probabilities, "target": soft}
_AT_EDGES = _BINARY | {"probability": _edges}
_SMALL = _BINARY | {"probability": _next_to_none}
_LOGITS: dict[str, str | Maker] = {"target": soft}
_CLASSES: dict[str, str | Maker] = {"probabilities": probabilities, "labels": soft}
_CLASS_EDGES = _CLASSES | {"probabilities": _edges}
_NAN, _BEYOND = {"probability": _none_among_probabilities}, {"probability": _beyond_one}


def _binary(operation: str, *scales: float) -> tuple[Spec, ...]:
    """Of probabilities: plain ones, at the bounds of logarithm and divisor, and what is none."""
    every, some = (_with(rows, scale=scales) if scales else rows for rows in (EVERY, SOME))
    return (
        Spec(operation, {"plain": every}, _BINARY),
        Spec(operation, {"plain": some}, _AT_EDGES, why="at_0_and_1"),
        Spec(operation, {"plain": some}, _AT_EDGES | {"target": hard}, why="hard_at_0_and_1"),
        Spec(operation, {"plain": some}, _SMALL, why="next_to_0"),
        Spec(operation, {"special": some}, _BINARY | _NAN, why="one_is_none"),
        Spec(operation, {"special": some}, _BINARY | _BEYOND, why="one_above_1"),
    )


def _categorical(operation: str, *scales: float) -> tuple[Spec, ...]:
    every, some = (_with(rows, scale=scales) if scales else rows for rows in (ROWS, SOME_ROWS))
    return (
        Spec(operation, {"plain": every}, _CLASSES),
        Spec(operation, {"plain": some}, _CLASSES | _HOT, why="one_class"),
        Spec(operation, {"plain": some}, _CLASS_EDGES, why="at_0_and_1"),
        Spec(operation, {"plain": some}, _CLASSES | {"probabilities": _next_to_none}, why="next_to_0"),
        Spec(operation, {"special": some}, _CLASSES | {"probabilities": _none_among_probabilities}, why="one_is_none"),
    )


_ROWS_AT = _with(ROWS, temperature=(1.0, 0.7))
_SOME_AT = _with(SOME_ROWS, temperature=(1.0, 2.5))
_WIDE_AT = _with(sizes("rows cols", (3, 40), (2, 1030), (2, 8193)), temperature=(0.7,))
_BACK = _with(ROWS[1:], temperature=(0.7,), scale=_SCALES) + _with(SOME_ROWS, temperature=(1.0,), scale=(1.0,))
_SOME_BACK = _with(SOME_ROWS, temperature=(2.5,), scale=(0.2,))
SPECS = (
    Spec("mse_forward", {"plain": EVERY, "exact": SOME, "range": SOME, "swamp": SOME, "special": SOME}),
    Spec("mse_backward", {"plain": _with(EVERY, scale=_SCALES), "range": _with(SOME, scale=(0.2,))}),
    Spec("mse_backward", {"special": _with(SOME, scale=(1.0,)), "exact": _with(SOME, scale=(1.0,))}),
    *_binary("bce_forward"),
    *_binary("bce_backward", *_SCALES),
    Spec("bce_logits_forward", {"plain": EVERY, "range": SOME, "cancel": SOME}, _LOGITS),
    Spec("bce_logits_forward", {"large": SOME, "below": SOME}, {"target": hard}, why="certain"),
    Spec("bce_logits_forward", {"special": SOME}, _LOGITS | {"logits": _one_nan}, why="one_is_none"),
    Spec("bce_logits_backward", {"plain": _with(EVERY, scale=_SCALES), "range": _with(SOME, scale=(0.2,))}, _LOGITS),
    Spec("bce_logits_backward", {"large": _with(SOME, scale=(1.0,))}, {"target": hard}, why="certain"),
    Spec("bce_logits_backward", {"special": _with(SOME, scale=(1.0,))}, _LOGITS),
    *_categorical("categorical_cross_entropy_forward"),
    *_categorical("categorical_cross_entropy_backward", *_SCALES),
    Spec("cross_entropy_dense_forward", {"plain": _ROWS_AT, "large": _SOME_AT, "swamp": _SOME_AT}, _SOFT),
    Spec("cross_entropy_dense_forward", {"plain": _SOME_AT, "late": _SOME_AT}, _HOT, why="one_class"),
    Spec("cross_entropy_dense_forward", {"beyond": _SOME_AT + _WIDE_AT}, _SOFT, why="overflow_before_the_maximum"),
    Spec("cross_entropy_dense_forward", {"below": _SOME_AT}, _SOFT, why="maximum_below_zero"),
    Spec("cross_entropy_dense_forward", {"degenerate": _SOME_AT}, _SOFT, why="constant_rows"),
    Spec("cross_entropy_dense_forward", {"masked": _SOME_AT}, _HOT, why="a_label_of_0_meets_infinity"),
    Spec("cross_entropy_dense_forward", {"special": _SOME_AT}, _SOFT),
    Spec("cross_entropy_dense_backward", {"plain": _BACK, "late": _SOME_BACK}, _SOFT, _log_probs),
    Spec(
        "cross_entropy_dense_backward", {"plain": _SOME_BACK, "masked": _SOME_BACK}, _HOT, _log_probs, why="one_class"
    ),
    Spec("cross_entropy_dense_backward", {"large": _SOME_BACK}, _SOFT, _log_probs, why="confident"),
)

_N, _CLASSIFIED = {"n": TOKENS * HIDDEN}, {"rows": TOKENS, "cols": VOCAB}
_SCALED, _HEATED = {"scale": 1.0}, {**_CLASSIFIED, "temperature": 2.0}
FACTS = (
    *(Facts(f"{loss}_forward", _N) for loss in ("mse", "bce", "bce_logits")),
    *(Facts(f"{loss}_backward", {**_N, **_SCALED}) for loss in ("mse", "bce", "bce_logits")),
    Facts("categorical_cross_entropy_forward", _CLASSIFIED),
    Facts("categorical_cross_entropy_backward", {**_CLASSIFIED, **_SCALED}),
    Facts("cross_entropy_dense_forward", _HEATED),
    Facts("cross_entropy_dense_backward", {**_HEATED, **_SCALED}),
)

_FINITE: dict[str, str | Maker] = {value: value for value in FINITE}
_CHANCES: dict[str, str | Maker] = {
    "probabilities": probabilities,
    "edges": _edges,
    "next_to_0": _next_to_none,
    "one_is_none": _none_among_probabilities,
}
_TARGETS: dict[str, str | Maker] = {"soft": soft, "hard": hard, "zero": scaled("exact", 0.0), "plain": "plain"}
_LABELS: dict[str, str | Maker] = {"onehot": onehot, **_TARGETS}
_FROM_LOGITS: dict[str, str | Maker] = {"plain": "plain", "late": "late", "large": "large", "ties": "ties"}
_TEMPERATURES = {"temperature": (1.0, 0.7, 1.7, 0.001, 30.0)}
DESIGNS = (
    *(Design(f"bce_{way}", arrays={"probability": _CHANCES, "target": _TARGETS}) for way in ("forward", "backward")),
    Design("bce_logits_forward", arrays={"logits": {**_FINITE, "one_is_none": _one_nan}, "target": _TARGETS}),
    Design("bce_logits_backward", arrays={"target": _TARGETS}),
    *(
        Design(f"categorical_cross_entropy_{way}", arrays={"probabilities": _CHANCES, "labels": _LABELS})
        for way in ("forward", "backward")
    ),
    Design("cross_entropy_dense_forward", scalars=_TEMPERATURES, arrays={"labels": _LABELS}),
    Design(
        "cross_entropy_dense_backward",
        scalars=_TEMPERATURES,
        arrays={"log_probs": _FROM_LOGITS, "labels": _LABELS},
        finish=_log_probs,
    ),
)
