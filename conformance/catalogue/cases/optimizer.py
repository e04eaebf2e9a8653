"""Cases of clipping, and of what works on many arrays at once; those of one array's update stand in updates.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conformance.catalogue.factors import SIZES, Design
from conformance.catalogue.facts import Facts, KnownSum, sqrt
from conformance.catalogue.full_model import HIDDEN, VOCAB, WEIGHTS

from . import updates
from .data import Array, Draw, swamp
from .spec import Maker, Sizes, Spec, nan, scaled, sizes
from .updates import (
    BORDER,
    FINITE_ALONE,
    HYPER,
    LATE,
    MOMENTS,
    STILL,
    every_other,
    every_other_square,
    small_squares,
    squares,
)


def _swamped(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """One number among many small ones, not so large that its square swallows theirs."""
    return np.minimum(swamp(draw, shape), 2.0**6)


def _special_last(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """NaN, or where the number of arrays is even infinity, in the very last place."""
    last = -np.inf if sizes["count"] % 2 == 0 else np.nan
    return np.where(np.arange(shape[0]) == shape[0] - 1, last, draw.normal(shape))


def _negative_last(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """As _special_last, with no number above 0 that could be taken for a count."""
    special = _special_last(draw, shape, sizes)
    return np.where(special > 0, -special, special)


def _special_first(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Infinity, or where the number of arrays is even NaN, in the very first place."""
    first = np.nan if sizes["count"] % 2 == 0 else np.inf
    return np.where(np.arange(shape[0]) == 0, first, draw.normal(shape))


def _infinite_first(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Infinity in the very first place: the norm is infinite, whatever adds up the squares."""
    return np.where(np.arange(shape[0]) == 0, np.inf, draw.normal(shape))


def _special_thirds(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every third number is none, or infinite, by turns; the others go up to the largest there is."""
    others = np.where(np.arange(shape[0]) % 5 == 0, np.finfo(np.float32).max, draw.normal(shape))
    special = np.array([np.nan, np.inf, -np.inf])[np.arange(shape[0]) // 3 % 3]
    return np.where(np.arange(shape[0]) % 3 == 1, special, others)


MANY = [[5], [1, 33, 257], [64, 1025, 7, 8193], [2] * 20]
# Arrays that are just so many chunks as kernels cut them into: first and last in a list, and before a longer one.
WHOLE_CHUNKS, ONE_CHUNK = [[8192, 1, 16384], [8192, 8193]], [[8192, 5], [1, 8192]]


def many(*more: Sequence[int], **scalars: Any) -> list[dict[str, Any]]:
    return [{"count": len(lengths), "sizes": tuple(lengths), **scalars} for lengths in (*MANY, *more)]


def very_many(**scalars: Any) -> list[dict[str, Any]]:
    """More arrays than the parameters of one kernel can name."""
    return [{"count": 130, "sizes": range(1, 131), **scalars}]


def decays(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every other array decays."""
    return np.where(np.arange(shape[0]) % 2 == 0, 0.1, 0.0)


def own_decays(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every array decays as none of the others does, every third not at all."""
    return np.where(np.arange(shape[0]) % 3 == 2, 0.0, 0.02 + 0.2 * draw.uniform(shape))


def _every(number: float) -> Maker:
    return lambda draw, shape, sizes: np.full(shape, number)


_CLIPPED = sizes("size clip_norm", (2, 0.5), (33, 1.0), (1025, 1.0), (8193, 30.0), (20011, 30.0))
_UNCLIPPED = sizes("size clip_norm", (33, 100.0), (1025, 1000.0))
_INFINITE = sizes("size clip_norm", (33, np.inf), (33, 1.0))  # a norm that is as large as its limit, and a larger one
_INFINITE_GRAD: dict[str, str | Maker] = {"grad": _infinite_first}

SPECS = (
    *updates.SPECS,
    Spec(
        "multi_adamw",
        {
            "plain": [
                *many(*WHOLE_CHUNKS, **HYPER, step=7),
                *(many(**given, step=step)[1] for given, step in ((BORDER, 1), (STILL, 2), (LATE, 1500))),
            ],
            "tails": very_many(**HYPER, step=7),
        },
        {"vs": squares, "weight_decays": decays},
    ),
    Spec("multi_adamw", {"tiny": many(**HYPER, step=2)}, {"vs": squares, "weight_decays": decays}),
    Spec(
        "multi_adamw",
        {"tiny": many(**(HYPER | {"eps": 1e-3}), step=7)},
        {
            "params": scaled("plain", 2.0**-10),
            "vs": scaled("exact", 0.0),
            "weight_decays": decays,
            "grad_scale": "plain",
        },
        why="eps_counts",
    ),
    Spec(
        "multi_adamw",
        {"plain": many(**(HYPER | {"eps": 0.0}), step=7)},
        {"grads": every_other, "ms": every_other, "vs": every_other_square, "weight_decays": decays},
        why="nothing_by_nothing",
    ),
    Spec(
        "zero_grad",
        {"plain": sizes("size", (1,), (33,), (8193,), (20011,))},
        signed_zeros=True,
        trivial="the answer is zero",
    ),
    Spec("grad_clip", {"plain": _CLIPPED, "swamp": _CLIPPED[1:], "exact": _CLIPPED[1:]}, why="above"),
    Spec("grad_clip", {"tiny": sizes("size clip_norm", (33, 1e-3), (257, 1e-4))}, why="small_norm"),
    Spec("grad_clip", {"plain": _UNCLIPPED, "exact": _UNCLIPPED}, why="below"),
    Spec("grad_clip", {"special": _INFINITE[:1]}, _INFINITE_GRAD, why="infinite", trivial="no norm is above infinity"),
    Spec("grad_clip", {"special": _INFINITE[1:]}, _INFINITE_GRAD, why="infinite"),
    Spec(
        "grad_clip",
        {"lone_nan": sizes("size clip_norm", (33, 1.0))},
        why="no_number",
        trivial="no norm that is NaN is above a limit",
    ),
    Spec(
        "multi_sum_squares", {data: many(*ONE_CHUNK) for data in ("plain", "exact", "range")} | {"tails": very_many()}
    ),
    Spec("multi_sum_squares", {"swamp": many()}, {"inputs": _swamped}),
    Spec("multi_sum_squares", {"special": many()}, {"inputs": _special_last}),
    Spec("multi_nonfinite", {data: many() for data in ("plain", "range")}, trivial="every number is finite"),
    Spec("multi_nonfinite", {"special": many()}, {"inputs": _negative_last}, why="last"),
    Spec("multi_nonfinite", {"special": many()}, {"inputs": _special_first}, why="first"),
    Spec("multi_nonfinite", {"special": [*many(*ONE_CHUNK), *very_many()]}, {"inputs": _special_thirds}, why="many"),
    Spec(
        "multi_sum_squares_nonfinite",
        {data: many(*ONE_CHUNK) for data in ("plain", "exact", "range")} | {"tails": very_many()},
    ),
    Spec("multi_sum_squares_nonfinite", {"swamp": many()}, {"inputs": _swamped}),
    Spec("multi_sum_squares_nonfinite", {"special": many()}, {"inputs": _negative_last}, why="last"),
    Spec("multi_sum_squares_nonfinite", {"special": many()}, {"inputs": _special_first}, why="first"),
    Spec("multi_sum_squares_nonfinite", {"special": [*many(), *very_many()]}, {"inputs": _special_thirds}, why="many"),
    Spec("clip_scale", {"plain": sizes("clip_norm", (0.5,), (1.0,), (30.0,))}, {"sum_squares": squares}),
    Spec("clip_scale", {"plain": sizes("clip_norm", (0.7,))}, {"sum_squares": _every(np.nan)}, why="no_number"),
    Spec(
        "clip_scale", {"tiny": sizes("clip_norm", (1e-3,), (3e-4,))}, {"sum_squares": small_squares}, why="small_norm"
    ),
    Spec("multi_scale", {data: many(*WHOLE_CHUNKS) for data in ("plain", "range")} | {"tails": very_many()}),
    Spec("multi_scale", {"exact": many()}, {"scale": scaled("exact", 0.0)}, why="by_zero", trivial="0 times anything"),
)

_ADAM = {"lr": 1e-4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8}
_LIST = {"count": len(WEIGHTS), "sizes": WEIGHTS}
_SQUARES = KnownSum("inputs", "sum_squares", "sizes", sqrt, lambda out, n: out)
_NORM = KnownSum("grad", "total_norm", "size", sqrt, lambda out, n: out**2)
FACTS = (
    *updates.FACTS,
    Facts("multi_adamw", {**_LIST, **_ADAM, "step": 7}, updates=True),
    Facts("zero_grad", {"size": VOCAB * HIDDEN}, only_zeros=True),
    Facts("grad_clip", {"size": WEIGHTS[0], "clip_norm": 1.0}, known_sums=(_NORM,)),
    Facts("multi_sum_squares", _LIST, known_sums=(_SQUARES,), measures_norm=True),
    Facts("multi_nonfinite", _LIST),
    Facts("multi_sum_squares_nonfinite", _LIST, known_sums=(_SQUARES,), measures_norm=True),
    Facts("clip_scale", {"clip_norm": 1.0}, measures_norm=True),
    Facts("multi_scale", _LIST),
)


def _lists(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**row, "count": len(row["lengths"]), "sizes": row["lengths"]}


_ALONE = tuple((size,) for size in SIZES)
_MANY = ((5, 1), (1, 33, 257), (2,) * 33, (64, 1025, 7, 8193), (1,) * 65, tuple(range(1, 131)), (3,) * 257)
_LENGTHS = {"count": (), "lengths": (*_ALONE, *_MANY)}
_UPDATED: dict[str, dict[str, str | Maker]] = {
    "params": FINITE_ALONE,
    "vs": MOMENTS,
    "weight_decays": {"decays": own_decays, "none": scaled("exact", 0.0)},
    "grad_scale": {"squares": squares, "plain": "plain", "zero": scaled("exact", 0.0)},
    "copies": {"unread": nan},
}
DESIGNS = (
    *updates.DESIGNS,
    Design("multi_adamw", _LENGTHS, arrays=_UPDATED, derive=_lists),
    *(
        Design(name, _LENGTHS, derive=_lists)
        for name in ("multi_sum_squares", "multi_nonfinite", "multi_sum_squares_nonfinite", "multi_scale")
    ),
    Design("clip_scale", arrays={"sum_squares": {**MOMENTS, "infinite": _every(np.inf), "no_number": _every(np.nan)}}),
)
