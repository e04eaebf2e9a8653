"""Cases of the decoding strategies: one decision a row, over many rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import VOCAB
from conformance.limits.choices import follow_sampling

from .data import Array, Draw
from .spec import Maker, Sizes, Spec, rows_apart, seeds, sizes, zeros_on_top

EVERY = sizes("batch vocab_size", (40, 2), (33, 33), (64, 257), (17, 1025), (5, 8193), (1030, 5))
SOME = sizes("batch vocab_size", (64, 33), (65, 130))
PAST_16_BITS = sizes("batch vocab_size", (2, 65537))  # the last column alone has an index of 17 bits


def _times(rows: list[dict[str, Any]], **values: Any) -> list[dict[str, Any]]:
    """Every row with every value of one scalar."""
    [(name, choices)] = values.items()
    return [{**row, name: value} for row in rows for value in choices]


_HEAT = _times(EVERY, temperature=(1.0, 0.5, 1.7))
_WARM = _times(SOME, temperature=(1.0, 0.7))
_LONG = _times(PAST_16_BITS, temperature=(1.0,))
_GREEDY = _times(SOME, temperature=(0.0,))
_TOPK = _times(_times(EVERY, k=(1, 5, 40)), temperature=(1.0,)) + _times(_times(SOME, k=(3,)), temperature=(0.6,))
_WHOLE = _times(_times(SOME + EVERY[3:5], k=(10000,)), temperature=(1.0,))
_TOPP = _times(_times(EVERY, top_p=(0.1, 0.9)), temperature=(1.0,)) + _times(
    _times(SOME, top_p=(1.01, 0.5, 1.0, 1.5, 0.0, -1.0)), temperature=(0.8,)
)
_WIDE = _times(sizes("batch vocab_size", (11, 40), (9, 300), (7, 1040)), temperature=(1.0,))
_COLD = _times(sizes("batch vocab_size", (64, 33)), temperature=(1e-6, 2.0**-100))
_THREE = _times(sizes("batch vocab_size", (1, 3)), temperature=(1.0,))
_SEEDS = {"seeds": seeds}
# Of the two long ones draws end where pieces of a row end that warps of a block of 256 and of 1,024 threads have.
_EDGES = _times(sizes("batch vocab_size", (64, 64), (65, 16), (65, 1024), (65, 8192)), temperature=(1.0,))


def _on_edges(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Seeds whose draws are whole sixty-fourths, or in odd rows the number just below: equal logits end right there."""
    rows = np.arange(shape[0])
    parts = draw.integers(1, 64, shape)
    return _drawing(parts * 2**26 - (rows % 2))


def _drawing(wanted: Array) -> Array:
    """Seeds after whose step the generator's states are these, a row each: 0 draws the least, 2^32 - 1 the most.

    The step is undone: state = (wanted - 1013904223) / 1664525 modulo 2^32.
    """
    state = (wanted - 1013904223) * pow(1664525, -1, 2**32) % 2**32
    return (state ^ np.arange(len(wanted)) * 12345).astype(np.uint64)


def _least_draws(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Seeds that draw 2^-24 in odd rows, and in even ones 0, of a state that is 255 with the bits that are dropped."""
    return _drawing(np.where(np.arange(shape[0]) % 2, 256, 255))


def _least_probability(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """The first column has a probability of 0.77 * 2^-24, the second the rest."""
    row = np.full(shape[1], -200.0)
    row[:2] = -16.9, 0.0
    return np.tile(row, (shape[0], 1))


def _rounded_apart(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """In odd rows a nucleus that ends with the last of many equal entries, or behind it, by how their sum is rounded.

    To the largest weight, 1, each of them adds 0.4 of a unit in the last place of a double less than it is where they
    are added one by one; what lies behind them is as much as a top_p of 1 - 2^-24 leaves out.  Even rows are equal.
    """
    equal, unit, share = 1000, 2.0**-52, 2.0**-24
    logit, behind = np.log([(2**15 + 0.4) * unit, 2.0**15 * 0.8 * unit]).astype(np.float32).astype(np.float64)
    wanted = share * (1 + equal * np.exp(logit)) / (1 - share) - 0.2 * equal * unit
    count = int(wanted // np.exp(behind))
    row = np.full(shape[1], -np.inf)
    row[: 1 + equal] = [0.0] + [logit] * equal
    row[1 + equal : 2 + equal + count] = [behind] * count + [np.log(wanted - count * np.exp(behind))]
    return np.where(np.arange(shape[0])[:, None] % 2, row, 0.0)


def _late_draws(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Seeds that draw a little more than three quarters, which is no edge between equal entries."""
    return _drawing(np.full(shape[0], 3 * 2**30 + 2**18))


def _of_two(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Rows of which two columns alone can be drawn, of one probability."""
    return np.tile(np.where(np.isin(np.arange(shape[1]), (3, 17)), 0.0, -np.inf), (shape[0], 1))


def _faint_second(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """The second column has a probability of 9 * 10^-19, the third the rest: a draw of 0 takes the second."""
    return np.tile([-np.inf, -41.55, 0.0], (shape[0], 1))


def _rising(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return np.tile(np.arange(shape[1], dtype=np.float64), (shape[0], 1))


def _draws_of(state: int) -> Maker:
    return lambda draw, shape, sizes: _drawing(np.full(shape[0], state))


_SMALLEST: dict[str, str | Maker] = {"logits": _least_probability, "seeds": _least_draws}
_EQUAL: dict[str, str | Maker] = {"logits": "degenerate", "seeds": _on_edges}
_ZEROS: dict[str, str | Maker] = {"logits": zeros_on_top, "seeds": seeds}
_APART: dict[str, str | Maker] = {"logits": rows_apart, "seeds": seeds}

SPECS = (
    Spec("argmax", {"plain": EVERY, "late": EVERY + PAST_16_BITS, "range": SOME, "special": SOME, "large": SOME}),
    Spec("argmax", {"lowest": SOME}, why="maximum_below_any_start"),
    Spec("argmax", {"exact": SOME}, why="ties_by_lower_index"),
    Spec("argmax", {"plain": SOME}, {"logits": zeros_on_top}, why="zeros_are_equal"),
    Spec("argmax", {"ties": sizes("batch vocab_size", (64, 600), (64, 2100))}, why="ties_between_blocks"),
    Spec("sample", {"plain": _HEAT, "late": _WARM + _LONG, "large": _WARM, "masked": _WARM}, _SEEDS),
    Spec("sample", {"degenerate": _WARM}, _SEEDS, why="uniform"),
    Spec("sample", {"exact": _EDGES}, _EQUAL, why="draw_on_the_edge"),
    Spec("sample", {"plain": _times(SOME, temperature=(1.0,))}, _SMALLEST, why="draws_of_24_bits"),
    Spec("sample", {"plain": _THREE}, {"logits": _faint_second, "seeds": _draws_of(0)}, why="the_least_draw"),
    Spec("sample", {"beyond": _WARM + _WIDE}, _SEEDS, why="overflow_before_the_maximum"),
    Spec("sample", {"lowest": _WARM[::2]}, _SEEDS, why="maximum_below_any_start"),
    Spec("sample", {"plain": _GREEDY, "lowest": _GREEDY[:1]}, _SEEDS, why="greedy"),
    Spec("sample", {"ties": _COLD}, _SEEDS, why="next_to_no_temperature"),
    Spec("topk_sample", {"ties": _times(_COLD, k=(3,))}, _SEEDS, why="next_to_no_temperature"),
    Spec("topp_sample", {"ties": _times(_COLD, top_p=(0.9,))}, _SEEDS, why="next_to_no_temperature"),
    Spec("topk_sample", {"plain": _TOPK, "late": [*_TOPK[-2:], *_times(_LONG, k=(3,))], "masked": _TOPK[-2:]}, _SEEDS),
    Spec("topk_sample", {"plain": _times(_WARM, k=(5,))}, _APART, why="rows_far_apart"),
    Spec("topk_sample", {"exact": _TOPK[-2:]}, _SEEDS, why="ties_by_lower_index"),
    Spec("topk_sample", {"plain": _times(_WARM[::2], k=(3, 40))}, _ZEROS, why="zeros_are_equal"),
    Spec("topk_sample", {"exact": _times(_EDGES, k=(8, 16))}, _EQUAL, why="draw_on_the_edge"),
    Spec("topk_sample", {"plain": _WHOLE}, _SEEDS, why="k_above_vocab"),
    Spec(
        "topk_sample",
        {"plain": _times(_times(sizes("batch vocab_size", (3, 2)), k=(1,)), temperature=(np.inf,))},
        {"logits": _rising, "seeds": seeds},
        why="chosen_before_the_temperature",
    ),
    Spec("topk_sample", {"lowest": _times(_WARM[::2], k=(3,))}, _SEEDS, why="maximum_below_any_start"),
    Spec("topk_sample", {data: _times(_GREEDY, k=(4,)) for data in ("plain", "lowest")}, _SEEDS, why="greedy"),
    Spec(
        "topp_sample",
        {"plain": _TOPP, "late": [*_TOPP[-4:], *_times(_LONG, top_p=(0.9,))], "masked": _TOPP[-4:]},
        _SEEDS,
    ),
    Spec("topp_sample", {"beyond": _times(_WIDE, top_p=(0.9,))}, _SEEDS, why="overflow_before_the_maximum"),
    Spec("topp_sample", {"plain": _times(_WARM, top_p=(0.9,))}, _APART, why="rows_far_apart"),
    Spec("topp_sample", {"exact": _TOPP[-4:]}, _SEEDS, why="ties_by_lower_index"),
    Spec("topp_sample", {"plain": _times(_WARM[::2], top_p=(0.5,))}, _ZEROS, why="zeros_are_equal"),
    Spec(
        "topp_sample",
        {"exact": _times(_EDGES, top_p=(0.5, 1.0))},
        _EQUAL,
        why="draw_on_the_edge",
    ),
    Spec(
        "topp_sample",
        {"plain": _times(_times(sizes("batch vocab_size", (2, 12000)), top_p=(1 - 2.0**-24,)), temperature=(1.0,))},
        {"logits": _rounded_apart, "seeds": _late_draws},
        why="a_nucleus_whose_sum_is_rounded_otherwise",
    ),
    Spec(
        "topp_sample",
        {"exact": _times(_times(sizes("batch vocab_size", (1, 40)), top_p=(0.5,)), temperature=(1.0,))},
        {"logits": _of_two, "seeds": _draws_of(3 * 2**30)},
        why="the_first_of_two_is_enough",
    ),
    Spec("topp_sample", {"lowest": _times(_WARM[::2], top_p=(0.9,))}, _SEEDS, why="maximum_below_any_start"),
    Spec("topp_sample", {data: _times(_GREEDY, top_p=(0.9,)) for data in ("plain", "lowest")}, _SEEDS, why="greedy"),
)

_DRAWN = {"batch": 8, "vocab_size": VOCAB}
_TEMPERATURE = {"temperature": 0.7}
_SORTED = "The chosen stand in descending order: the first of them is the maximum."
_EQUAL_MAXIMA = {f"maximum of the first {count} columns": _SORTED for count in (32, 256, 1024)}
FACTS = (
    Facts("argmax", _DRAWN),
    Facts("sample", {**_DRAWN, **_TEMPERATURE}, follow_choice=follow_sampling),
    Facts("topk_sample", {**_DRAWN, "k": 40, **_TEMPERATURE}, equal=_EQUAL_MAXIMA, follow_choice=follow_sampling),
    Facts("topp_sample", {**_DRAWN, "top_p": 0.9, **_TEMPERATURE}, follow_choice=follow_sampling),
)


def _extreme(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Seeds that draw the most and the least there is, and seeds at the ends of their type, by turns."""
    turns = np.arange(shape[0]) % 8
    ends = np.array([0, 0, 0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1], np.uint64)[turns]
    return np.where(turns < 2, _drawing(np.where(turns == 0, 2**32 - 1, 0)), ends)


_DRAWS: dict[str, str | Maker] = {"mixed": seeds, "edges": _on_edges, "extreme": _extreme}
_KEPT = {"k": (5, 1, 2, 8, 32, 33, 40, 64, 65, 100, 1000, 1025, 10000)}
DESIGNS = (
    *(Design(operation, arrays={"seeds": _DRAWS}) for operation in ("sample", "topp_sample")),
    Design("topk_sample", scalars=_KEPT, arrays={"seeds": _DRAWS}),
)
