"""Cases of the matrix products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import BATCH, EXPERTS, FFN, HEAD_DIM, HIDDEN, Q_HEADS, ROWS, SEQ, TOKENS, VOCAB

from .data import Array, Draw
from .spec import Maker, Sizes, Spec, nan, scaled, sizes

FOURS = 12, 20, 36  # four divides them, eight does not: sixteen bytes of four numbers, not of eight
EIGHTS = 40, 24, 72  # whole chunks of eight, no whole tile
EVERY = sizes(
    "M N K", (1, 1, 2), (1, 33, 7), (17, 33, 65), (64, 64, 64), (33, 31, 129), (2, 3, 256), FOURS, EIGHTS
)  # fmt: skip
# What a device of few multiprocessors takes its larger tiles for, as deep as they have stages in flight, and deeper.
WIDE = sizes("M N K", (96, 48, 136), (96, 96, 136), (96, 192, 136))
# The last: more tiles down than kernels take before they go on across, some left over, and more than one across.
TAILS = WIDE + sizes(
    "M N K", (130, 3, 31), (5, 129, 257), (65, 1, 1025), (3, 5, 4097), (127, 97, 48), (1, 257, 33), (3, 1030, 5),
    (2063, 131, 3)
)  # fmt: skip
SOME = sizes("M N K", (17, 33, 65), (64, 48, 128))
FEW = sizes("M N K", (9, 7, 2), (33, 5, 3))  # so few terms that not every sum is NaN
DEEP = sizes("M N K", (5, 7, 300), (3, 5, 1030))  # more than one part of K
MIXED = {"exact": SOME, "range": SOME, "swamp": SOME, "cancel": SOME, "special": FEW}


def _scaled(rows: list[dict[str, Any]], *factors: tuple[float, float]) -> list[dict[str, Any]]:
    return [{**row, "alpha": alpha, "beta": beta} for row in rows for alpha, beta in factors]


def _catalogue(operation: str) -> tuple[Spec, ...]:
    """A product with alpha and beta: fresh (what C holds is not read), scaled, and added to what is there."""
    fresh = {data: _scaled(rows, (1.0, 0.0)) for data, rows in ({"plain": EVERY, "tails": TAILS} | MIXED).items()}
    return (
        Spec(operation, fresh, {"C": nan}, why="fresh"),
        Spec(operation, {"plain": _scaled(SOME, (0.5, 0.0), (-1.7, 0.0))}, {"C": nan}, why="scaled"),
        Spec(operation, {"accumulate": _scaled(SOME, (1.0, 1.0), (0.3, -2.5)), "exact": _scaled(SOME, (2.0, 1.0))}),
        Spec(operation, {"accumulate": _scaled(DEEP, (0.3, -2.5))}, why="scaled_by_parts_of_k"),
    )


def _offsets(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Ascending from 0 to rows; some experts own no row."""
    inner = np.sort(draw.integers(0, sizes["rows"] + 1, (shape[0] - 2,)))
    if len(inner) > 1:
        inner[1] = inner[0]
    return np.concatenate([[0], inner, [sizes["rows"]]])


def _one_expert(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """The last expert owns every row."""
    return np.where(np.arange(shape[0]) == shape[0] - 1, sizes["rows"], 0)


def _even(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """As many rows to each expert as to any other, or one more."""
    return np.asarray(np.arange(shape[0]) * sizes["rows"] // (shape[0] - 1))


_GROUPED = "rows n_experts N K"
GROUPS = sizes(_GROUPED, (1, 2, 3, 5), (33, 4, 17, 65), (64, 8, 32, 64), (130, 3, 31, 129), (7, 16, 33, 8))
GROUPS += sizes(_GROUPED, (44, 3, *FOURS[1:]), (72, 3, *EIGHTS[1:]))
LONG_GROUPS = sizes(_GROUPED, (9, 3, 1030, 5), (9, 3, 7, 1030))
FEW_ROWS = sizes(_GROUPED, (11, 3, 5, 7))
# To each expert one row more than a tile has: as many tiles as there are rows' worth of are not enough.
PAST_TILES = sizes(_GROUPED, *((2 * (tile + 1), 2, 33, 65) for tile in (16, 32, 64, 128)), (771, 3, 33, 65))
SOME_GROUPS = sizes(_GROUPED, (33, 4, 17, 65), (64, 8, 32, 64))
WEIGHTS = sizes("rows n_experts M N", (1, 2, 3, 5), (33, 4, 17, 65), (64, 8, 32, 64), (130, 3, 31, 129), (7, 16, 33, 8))
WEIGHTS += sizes("rows n_experts M N", (44, 3, *FOURS[:2]), (72, 3, *EIGHTS[:2]))
LONG_WEIGHTS = sizes("rows n_experts M N", (1030, 1, 5, 3), (9, 3, 4, 1030))
SOME_WEIGHTS = sizes("rows n_experts M N", (11, 3, 5, 7), (33, 4, 17, 65), (64, 8, 32, 64))
WIDE_WEIGHTS = sizes("rows n_experts M N", (9, 4, 3, 1030), (9, 4, 1030, 3), (40, 4, 129, 257))  # past a block's
BATCHES = sizes("batch M N K", (1, 1, 1, 2), (3, 17, 33, 65), (5, 64, 16, 64), (2, 1, 129, 257), (3, 5, 7, 11))
LONG_BATCHES = sizes("batch M N K", (2, 3, 1030, 5), (2, 5, 3, 1030))


def _grouped(operation: str) -> tuple[Spec, ...]:
    mixed = dict.fromkeys(("exact", "range", "swamp", "cancel"), SOME_GROUPS)
    return (
        Spec(operation, {"plain": GROUPS, "tails": GROUPS[3:5] + LONG_GROUPS} | mixed, {"offsets": _offsets}),
        Spec(operation, {"degenerate": SOME_GROUPS}, {"offsets": _one_expert, "A": "plain", "B": "plain"}, why="one"),
        Spec(operation, {"plain": PAST_TILES}, {"offsets": _even}),
    )


def _gated(
    operation: str, every: list[dict[str, Any]], some: list[dict[str, Any]], **given: str | Maker
) -> tuple[Spec, ...]:
    """Gate and up; the sums of plain data are large, where SiLU is 0 or the identity: so gates of size one, too."""
    bent = some + every[3:5]
    return (
        Spec(operation, {"plain": every} | dict.fromkeys(("exact", "tiny"), some), given),
        Spec(operation, {"cancel": some}, {**dict.fromkeys(("B_gate", "B_up"), scaled("cancel", 2.0**-9)), **given}),
        Spec(operation, {"plain": bent}, {"B_gate": scaled("plain", 0.125), **given}, why="gates_of_size_one"),
    )


def _beta(rows: list[dict[str, Any]], beta: float) -> list[dict[str, Any]]:
    return [{**row, "beta": beta} for row in rows]


_FRESH_WEIGHTS = {
    "plain": _beta(WEIGHTS + SOME_WEIGHTS[:1], 0.0),
    "tails": _beta(SOME_WEIGHTS + LONG_WEIGHTS, 0.0),
    **{data: _beta(SOME_WEIGHTS, 0.0) for data in ("exact", "range", "swamp", "cancel")},
}

SPECS = (
    Spec("gemm", {"plain": EVERY, "tails": TAILS} | MIXED),
    Spec("router_gemm", {"plain": EVERY, "tails": TAILS} | MIXED),
    *_catalogue("gemm_beta"),
    *_catalogue("gemm_nn"),
    *_catalogue("gemm_tn"),
    *_catalogue("gemm_tt"),
    Spec(
        "batched_gemm",
        {
            "plain": BATCHES,
            "tails": BATCHES[1:] + LONG_BATCHES,
            "exact": BATCHES[1:2] + BATCHES[4:],
            "swamp": BATCHES[1:2] + BATCHES[4:],
        },
    ),
    *_grouped("grouped_gemm"),
    *_grouped("grouped_gemm_nn"),
    *_gated("gemm_swiglu", EVERY, [*sizes("M N K", (5, 9, 7)), *SOME]),
    Spec("gemm_swiglu", {"tails": TAILS, "special": FEW}),
    *_gated("grouped_gemm_swiglu", GROUPS + FEW_ROWS, FEW_ROWS + SOME_GROUPS, offsets=_offsets),
    Spec("grouped_gemm_swiglu", {"tails": sizes(_GROUPED, (9, 2, 4, 1030)) + LONG_GROUPS}, {"offsets": _offsets}),
    Spec("grouped_gemm_swiglu", {"plain": PAST_TILES}, {"offsets": _even}),
    Spec(
        "grouped_gemm_swiglu",
        {"degenerate": FEW_ROWS + SOME_GROUPS},
        {"offsets": _one_expert, **dict.fromkeys(("A", "B_gate", "B_up"), "plain")},
        why="one",
    ),
    Spec("grouped_gemm_tn", _FRESH_WEIGHTS, {"offsets": _offsets, "C": nan}, why="fresh"),
    Spec(
        "grouped_gemm_tn",
        {"accumulate": _beta(SOME_WEIGHTS, 1.0) + _beta(SOME_WEIGHTS + WIDE_WEIGHTS, 0.5)},
        {"offsets": _offsets},
    ),
    Spec(
        "grouped_gemm_tn",
        {"degenerate": _beta(SOME_WEIGHTS, 0.0)},
        {"offsets": _one_expert, "A": "plain", "B": "plain", "C": nan},
        why="one_expert",
    ),
)

_FULL: dict[str, dict[str, Any]] = {
    "gemm": {"M": TOKENS, "N": VOCAB, "K": HIDDEN},
    "router_gemm": {"M": TOKENS, "N": EXPERTS, "K": HIDDEN},
    "gemm_beta": {"M": TOKENS, "N": HIDDEN, "K": Q_HEADS * HEAD_DIM, "alpha": 1.0, "beta": 0.0},
    "gemm_nn": {"M": TOKENS, "N": HIDDEN, "K": VOCAB, "alpha": 1.0, "beta": 0.0},
    "gemm_tn": {"M": VOCAB, "N": HIDDEN, "K": TOKENS, "alpha": 1.0, "beta": 0.0},
    "gemm_tt": {"M": HIDDEN, "N": TOKENS, "K": HIDDEN, "alpha": 1.0, "beta": 0.0},
    "batched_gemm": {"batch": BATCH * Q_HEADS, "M": SEQ, "N": SEQ, "K": HEAD_DIM},
    "grouped_gemm": {"rows": ROWS, "n_experts": EXPERTS, "N": FFN, "K": HIDDEN},
    "gemm_swiglu": {"M": TOKENS, "N": FFN, "K": HIDDEN},
    "grouped_gemm_swiglu": {"rows": ROWS, "n_experts": EXPERTS, "N": FFN, "K": HIDDEN},
    "grouped_gemm_nn": {"rows": ROWS, "n_experts": EXPERTS, "N": HIDDEN, "K": FFN},
    "grouped_gemm_tn": {"rows": ROWS, "n_experts": EXPERTS, "M": FFN, "N": HIDDEN, "beta": 0.0},
}
FACTS = tuple(
    Facts(operation, row, multiplies=True, offsets="offsets" if operation.startswith("grouped") else "")
    for operation, row in _FULL.items()
)


def _at_first(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """The first expert owns every row."""
    return np.where(np.arange(shape[0]) > 0, sizes["rows"], 0)


def _products(*axes: str) -> Callable[[Sizes], float]:
    return lambda sizes: math.prod(sizes[axis] for axis in axes)


_OWNERS: dict[str, str | Maker] = {"any": _offsets, "last": _one_expert, "first": _at_first, "even": _even}
_GROUPS = (
    ("grouped_gemm", "rows N K"),
    ("grouped_gemm_swiglu", "rows N K"),
    ("grouped_gemm_nn", "rows N K"),
    ("grouped_gemm_tn", "rows M N"),
)
DESIGNS = (
    *(Design(f"gemm{form}", work=_products("M", "N", "K")) for form in ("", "_beta", "_nn", "_tn", "_tt", "_swiglu")),
    Design("router_gemm", work=_products("M", "N", "K")),
    Design("batched_gemm", work=_products("batch", "M", "N", "K")),
    *(Design(name, arrays={"offsets": _OWNERS}, work=_products(*axes.split())) for name, axes in _GROUPS),
)
