"""Cases of cross entropy by class numbers; those of the other losses stand in losses.py."""

from __future__ import annotations

import numpy as np

import reference
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts, KnownSum, log
from conformance.catalogue.full_model import TOKENS, VOCAB

from . import losses
from .data import Array, Draw
from .spec import Arguments, Maker, Sizes, Spec, ids, scaled, sizes

EVERY = sizes("batch_seq vocab_size", (1, 2), (3, 33), (33, 257), (5, 1000), (64, 64), (257, 5), (2, 1025))
# Of 36 columns rows are whole sixteens of bytes in float32, not in 16 bits.
TAILS = sizes("batch_seq vocab_size", (3, 8193), (127, 13), (2, 4099), (1031, 3), (1, 40001), (68, 36))
PAST_16_BITS = sizes("batch_seq vocab_size", (2, 65537))  # the last column alone has an index of 17 bits
SOME = sizes("batch_seq vocab_size", (9, 17), (33, 65), (4, 1025))


def _some_ignored(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every other target is ignored."""
    targets = draw.integers(0, sizes["vocab_size"], shape)
    return np.where(np.arange(shape[0]) % 2 == 1, -1 - draw.of("how").integers(0, 100, shape), targets)


def _all_ignored(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return np.full(shape, -100)


def _minus_1_ignored(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every other target is ignored, by the largest number that is."""
    return np.where(np.arange(shape[0]) % 2 == 1, -1, draw.integers(0, sizes["vocab_size"], shape))


def _last(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return np.full(shape, sizes["vocab_size"] - 1)


def _masked_beginning(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """The first half of each row is -infinity: whatever of it is looked at first has no maximum to subtract."""
    return np.where(np.arange(shape[1]) < shape[1] // 2, -np.inf, draw.normal(shape))


def _masked_rows(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every other row nothing but -infinity, which has no log-sum-exp; exp of the others overflows as they are."""
    return np.where(np.arange(shape[0])[:, None] % 2 == 1, -np.inf, 100.0 + draw.normal(shape))


def _log_probs(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    return {"log_probs": reference.cross_entropy_forward(made["log_probs"], made["targets"])[1]}


def _backward(rows: list[dict[str, int]], *scales: float) -> list[dict[str, float]]:
    return [{**row, "scale": scale} for row in rows for scale in scales]


_TARGETS: dict[str, str | Maker] = {"targets": ids("vocab_size")}
_LOW = {"logits": scaled("lowest", 2.0**-20)}  # such that nothing may overflow where they are added up
_SOME_IGNORED = {"targets": _some_ignored}
_ALL_IGNORED = {"targets": _all_ignored}
_MINUS_1_IGNORED = {"targets": _minus_1_ignored}
_NO_GRADIENT = "an ignored row has no gradient"

SPECS = (
    Spec("cross_entropy_forward", {"plain": EVERY, "tails": TAILS, "large": SOME, "swamp": SOME}, _TARGETS),
    Spec("cross_entropy_forward", {"late": SOME + TAILS[:1] + PAST_16_BITS}, _TARGETS, why="maximum_in_last_column"),
    Spec("cross_entropy_forward", {"beyond": SOME + TAILS[:1]}, _TARGETS, why="overflow_before_the_maximum"),
    Spec("cross_entropy_forward", {"below": SOME}, _TARGETS, why="maximum_below_zero"),
    Spec("cross_entropy_forward", {"lowest": SOME}, _TARGETS | _LOW, why="maximum_below_any_start"),
    Spec("cross_entropy_forward", {"late": SOME}, {"targets": _last}, why="target_in_last_column"),
    Spec("cross_entropy_forward", {"degenerate": SOME}, _TARGETS, why="constant_rows"),
    Spec("cross_entropy_forward", {"plain": SOME}, _SOME_IGNORED, why="some_ignored"),
    Spec("cross_entropy_forward", {"plain": SOME}, _ALL_IGNORED, why="all_ignored"),
    Spec("cross_entropy_forward", {"plain": SOME}, _MINUS_1_IGNORED, why="minus_1_ignored"),
    Spec("cross_entropy_forward", {"special": SOME}, _TARGETS),
    Spec(
        "cross_entropy_backward",
        {"plain": _backward(EVERY, 1.0, 0.03), "tails": _backward(TAILS, 0.5), "late": _backward(SOME, 0.1)},
        _TARGETS,
        _log_probs,
    ),
    Spec("cross_entropy_backward", {"large": _backward(SOME, 1.0)}, _TARGETS, _log_probs, why="confident"),
    Spec("cross_entropy_backward", {"plain": _backward(SOME, 0.2)}, _SOME_IGNORED, _log_probs, why="some_ignored"),
    Spec(
        "cross_entropy_backward", {"plain": _backward(SOME, 0.2)}, _MINUS_1_IGNORED, _log_probs, why="minus_1_ignored"
    ),
    Spec(
        "cross_entropy_backward",
        {"degenerate": _backward(SOME, 1.0)},
        _ALL_IGNORED,
        _log_probs,
        why="all_ignored",
        trivial=_NO_GRADIENT,
    ),
    Spec(
        "fused_cross_entropy",
        {
            **{"plain": _backward(EVERY, 1.0, 0.03), "tails": _backward(TAILS, 0.5)},
            **{"large": _backward(SOME, 1.0), "swamp": _backward(SOME, 0.1), "special": _backward(SOME, 1.0)},
        },
        _TARGETS,
    ),
    Spec(
        "fused_cross_entropy",
        {"late": _backward(SOME + TAILS[:1] + PAST_16_BITS, 1.0)},
        _TARGETS,
        why="maximum_in_last_column",
    ),
    Spec(
        "fused_cross_entropy", {"beyond": _backward(SOME + TAILS[:1], 1.0)}, _TARGETS, why="overflow_before_the_maximum"
    ),
    Spec("fused_cross_entropy", {"below": _backward(SOME + TAILS[:1], 1.0)}, _TARGETS, why="maximum_below_zero"),
    Spec("fused_cross_entropy", {"late": _backward(SOME, 0.1)}, {"targets": _last}, why="target_in_last_column"),
    Spec("fused_cross_entropy", {"degenerate": _backward(SOME, 1.0)}, _TARGETS, why="constant_rows"),
    Spec(
        "fused_cross_entropy",
        {"masked": _backward(SOME + TAILS[:1], 1.0)},
        {"logits": _masked_beginning, "targets": _last},
        why="masked_beginning",
    ),
    Spec("fused_cross_entropy", {"plain": _backward(SOME, 0.2)}, _SOME_IGNORED, why="some_ignored"),
    Spec(
        "fused_cross_entropy",
        {"masked": _backward(SOME + TAILS[:1], 0.2)},
        {"logits": _masked_rows, "targets": _some_ignored},
        why="masked_rows",
    ),
    Spec("fused_cross_entropy", {"plain": _backward(SOME, 1.0)}, _ALL_IGNORED, why="all_ignored"),
    Spec("fused_cross_entropy", {"plain": _backward(SOME, 0.2)}, _MINUS_1_IGNORED, why="minus_1_ignored"),
    *losses.SPECS,
)

_LOGITS = {"batch_seq": TOKENS, "vocab_size": VOCAB}
_EXPONENTIALS = KnownSum("logits", "log_probs", "vocab_size", log, lambda out, n: float(np.exp(-out)))
_OF_LSE = KnownSum("logits", "lse", "vocab_size", log, lambda out, n: float(np.exp(out)))
FACTS = (
    Facts("cross_entropy_forward", _LOGITS, known_sums=(_EXPONENTIALS,), bounded=True),
    Facts("cross_entropy_backward", {**_LOGITS, "scale": 1 / TOKENS}),
    Facts("fused_cross_entropy", {**_LOGITS, "scale": 1 / TOKENS}, known_sums=(_OF_LSE,)),
    *losses.FACTS,
)

DESIGNS = (Design("cross_entropy_backward", finish=_log_probs), *losses.DESIGNS)
