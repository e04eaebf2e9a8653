"""Cases of the softmax of attention's scores under masks, and of its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts, KnownSum, log
from conformance.catalogue.full_model import BATCH, Q_HEADS, SCALE, SEQ

from .data import Array, Draw
from .spec import Arguments, Maker, Sizes, Spec, infinite_beside_the_chosen, nan, none_infinite, sizes

NAMES = "batch n_heads q_len kv_len scale has_mask causal offset"
EVERY = sizes(
    *(NAMES, (1, 1, 1, 2, 0.5, 0, 0, 0), (2, 1, 4, 5, 0.5, 1, 1, 2), (2, 3, 5, 33, 0.25, 1, 0, 0)),
    *((2, 2, 33, 33, 0.125, 0, 1, 0), (3, 2, 9, 64, -0.3, 1, 1, 55), (2, 1, 7, 257, 0.5, 1, 1, 100)),
    *((1, 2, 3, 1025, 1.0, 1, 1, 1022), (2, 2, 40, 31, 0.3, 1, 1, -4), (2, 1, 6, 600, 2.0, 0, 1, -2)),
)
TAILS = sizes(
    *(
        NAMES,
        (1, 1, 3, 131, 0.25, 1, 0, 0),
        (1, 2, 2, 8193, 0.25, 1, 0, 0),
        (2, 1, 2, 4099, 0.3, 1, 1, 3000),
        (3, 5, 13, 130, 0.17, 1, 1, 7),
    ),
    *((1, 1, 1, 40001, 0.5, 1, 0, 0), (1, 2, 3, 2048, 0.25, 1, 1, 1000), (1, 1, 2, 20000, 0.5, 0, 1, 12000)),
)
SOME = sizes(NAMES, (2, 1, 4, 5, 0.5, 1, 1, 2), (2, 2, 4, 33, 0.25, 1, 0, 0), (1, 2, 3, 1025, 0.5, 1, 1, 700))
WIDE = sizes(
    *(NAMES, (1, 1, 3, 40, 1.0, 1, 0, 0), (2, 1, 2, 300, 0.5, 1, 0, 0), (1, 2, 1, 1030, 1.0, 1, 0, 0)),
    *((1, 1, 2, 8193, 1.0, 1, 0, 0), (1, 1, 2, 65537, 1.0, 1, 0, 0)),
)
CAUSAL = sizes(NAMES, (2, 1, 4, 4, 0.5, 1, 1, 0), (2, 2, 33, 33, 0.25, 1, 1, 0), (2, 1, 5, 300, 0.5, 1, 1, 200))
NEGATIVE = sizes(NAMES, (1, 2, 3, 40, -8.0, 1, 0, 0), (1, 1, 2, 300, -8.0, 1, 0, 0))
ANY_OFFSET = sizes(NAMES, *((1, 2, 3, 9, 0.5, 1, 1, offset) for offset in (2**31 - 1, 2**31 - 2, -1, -2)))
BEFORE_ALL_KEYS = sizes(NAMES, *((1, 2, 3, 9, 0.5, 1, 1, offset) for offset in (-3, -(2**31))))
_MASKS = ("has_mask", "causal", "offset")


def _of_gradient(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in _MASKS} for row in rows]


GRADIENTS, LONG_GRADIENTS = _of_gradient(EVERY), _of_gradient(TAILS)
SOME_GRADIENTS = [GRADIENTS[1], GRADIENTS[2], GRADIENTS[6]]


def _read(mask: Maker) -> dict[str, str | Maker]:
    """The mask where it is read; elsewhere nothing but NaN."""
    return {"mask": lambda draw, shape, sizes: (mask if sizes["has_mask"] else nan)(draw, shape, sizes)}


def _lengths(draw: Draw, shape: tuple[int, ...]) -> Array:
    """Of each sequence how many keys are its own, from 1 to all; the first one's are all."""
    drawn = draw.of("length").integers(1, shape[1] + 1, (shape[0], 1))
    return np.where(np.arange(shape[0])[:, None] == 0, shape[1], drawn)


def _padded(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """-inf behind each sequence's end."""
    return np.where(np.arange(shape[1]) < _lengths(draw, shape), 0.0, -np.inf)


def _padded_before(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """-inf before each sequence's beginning: under a causal mask the queries there see no key."""
    return np.asarray(_padded(draw, shape, sizes)[:, ::-1])


def _scattered(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """-inf at a third of the keys, never at the first, and numbers of size one at the others."""
    hidden = (draw.of("hidden").integers(0, 3, shape) == 0) & (np.arange(shape[1]) > 0)
    return np.where(hidden, -np.inf, draw.normal(shape))


def _none_of_the_last(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Nothing but -inf for the last sequence."""
    return np.where(np.arange(shape[0])[:, None] == shape[0] - 1, -np.inf, draw.normal(shape))


def _none(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """A mask that hides nothing and adds nothing."""
    return np.zeros(shape)


def _lowest_numbers(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """The lowest number in place of -inf, as masks of whole numbers are turned into numbers to add."""
    return np.where(np.isneginf(_scattered(draw, shape, sizes)), np.finfo(np.float32).min, 0.0)


def _queries_apart(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every other query's scores 400 above its neighbours': exp overflows with another query's maximum."""
    return np.asarray(draw.normal(shape) + 400.0 * (np.arange(shape[2])[:, None] % 2))


def _future(scores: Array, sizes: Sizes) -> Array:
    """Which keys lie behind a query's position."""
    queries, keys = scores.shape[2:]
    behind: Array = np.arange(keys) - np.arange(queries)[:, None]
    return np.asarray(behind > sizes["offset"])


def _nothing_in_the_future(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """NaN where no query looks."""
    return {"scores": np.where(_future(made["scores"], sizes), np.nan, made["scores"])}


def _largest_hidden(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """What is masked lies 1000 above what is seen: nothing would be left of a row less that maximum."""
    hidden: Array = np.isneginf(made["mask"][:, None, None])
    if sizes["causal"]:
        hidden = hidden | _future(made["scores"], sizes)
    return {"scores": made["scores"] + np.where(hidden, 1000.0 / sizes["scale"], 0.0)}


def _weights(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """Causal weights as attention_softmax leaves them; of several sequences the last has nothing but zeros."""
    queries, keys = made["weights"].shape[2:]
    mask = np.zeros((len(made["weights"]), keys))
    mask[max(1, len(mask) - 1) :] = -np.inf
    return {"weights": reference.attention_softmax(made["weights"], mask, 1.0, 1, 1, keys - queries)}


_USUAL = _read(_scattered)
_SEES_NONE = "no query sees a key"
_GRADIENTS = {"plain": GRADIENTS, "tails": LONG_GRADIENTS, "late": SOME_GRADIENTS}
SPECS = (
    Spec("attention_softmax", {"plain": EVERY, "tails": TAILS}, _USUAL),
    Spec("attention_softmax", dict.fromkeys(("exact", "large", "swamp", "masked", "special"), SOME), _USUAL),
    Spec("attention_softmax", {"special": SOME}, {"scores": "plain"}, why="special_mask"),
    Spec("attention_softmax", {"late": WIDE}, _USUAL, why="maximum_in_last_column"),
    Spec("attention_softmax", {"beyond": WIDE}, _read(_none), why="overflow_before_the_maximum"),
    Spec("attention_softmax", {"late": NEGATIVE}, _read(_none), why="smallest_score_by_a_negative_scale"),
    Spec("attention_softmax", {"below": SOME}, _USUAL, why="maximum_below_zero"),
    Spec("attention_softmax", {"lowest": SOME}, _USUAL, why="maximum_below_any_start"),
    Spec("attention_softmax", {"plain": SOME + CAUSAL}, _read(_padded), why="padded"),
    Spec("attention_softmax", {"plain": CAUSAL}, _read(_padded_before), why="padded_before"),
    Spec(
        "attention_softmax", {"plain": SOME[:2] + CAUSAL}, _read(_none_of_the_last), why="no_key_of_the_last_sequence"
    ),
    Spec("attention_softmax", {"plain": CAUSAL}, _read(_lowest_numbers), why="lowest_number_for_a_mask"),
    Spec("attention_softmax", {"plain": SOME[1:]}, {**_USUAL, "scores": _queries_apart}, why="queries_far_apart"),
    Spec("attention_softmax", {"plain": CAUSAL}, _USUAL, _nothing_in_the_future, "future_is_not_read"),
    Spec("attention_softmax", {"plain": CAUSAL + SOME[1:]}, _USUAL, _largest_hidden, "largest_scores_are_masked"),
    Spec("attention_softmax", {"plain": ANY_OFFSET}, _USUAL, why="any_offset"),
    Spec("attention_softmax", {"plain": BEFORE_ALL_KEYS}, _USUAL, why="before_all_keys", trivial=_SEES_NONE),
    Spec(
        "attention_softmax_backward",
        {"plain": GRADIENTS, "tails": LONG_GRADIENTS, "late": SOME_GRADIENTS},
        finish=_weights,
    ),
    Spec("attention_softmax_backward", dict.fromkeys(("exact", "cancel"), SOME_GRADIENTS)),
    Spec("attention_softmax_backward", {"special": SOME_GRADIENTS}, {"weights": none_infinite}),
    Spec(
        "attention_softmax_backward",
        {"plain": SOME_GRADIENTS},
        finish=infinite_beside_the_chosen("weights", "d_scores"),
        why="a_weight_of_0_meets_infinity",
    ),
)

_SCORES = {"batch": BATCH, "n_heads": Q_HEADS, "q_len": SEQ, "kv_len": SEQ, "scale": SCALE}
FACTS = (
    Facts(
        "attention_softmax",
        {**_SCORES, "has_mask": 1, "causal": 1, "offset": 0},
        neutral={"has_mask": 0, "causal": 0, "offset": 0},
        known_sums=(KnownSum("scores", "scores", "kv_len", log, lambda out, n: 1 / out),),
    ),
    Facts("attention_softmax_backward", _SCORES),
)

_SCALES = {"scale": (0.125, 1.0, 0.5, 0.0, -0.25)}
_CHOICES = {"has_mask": (1, 0), "causal": (1, 0), "offset": (0, 1, -1, 5, 33, -33, 1000, 2**31 - 1, -(2**31))}
_ADDED: dict[str, str | Maker] = {
    **{"scattered": _scattered, "padded": _padded, "padded_before": _padded_before, "none_of_last": _none_of_the_last},
    **{"lowest_numbers": _lowest_numbers, "plain": "plain", "special": "special"},
}
_FROM_SCORES: dict[str, dict[str, str | Maker]] = {"weights": {"from_scores": "plain"}}
DESIGNS = (
    Design("attention_softmax", scalars={**_SCALES, **_CHOICES}, arrays={"mask": _ADDED}),
    Design(
        "attention_softmax_backward", scalars=_SCALES, arrays={"weights": {"from_scores": "plain"}}, finish=_weights
    ),
)
