"""Cases of one array's update: descent, momentum, Adam and AdamW."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.catalogue.design.levels import FINITE
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import WEIGHTS

from .data import Array, Draw
from .spec import Maker, Sizes, Spec, scaled

HYPER = {"lr": 1e-2, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8}
BORDER = {"lr": 1e-2, "beta1": 0.0, "beta2": 0.0, "eps": 0.0}  # each as small as the header lets it be, but for lr
LATE = HYPER | {"beta2": 0.999}
STILL = HYPER | {"lr": 0.0}
LENGTHS = (2, 33, 257, 1025, 8193, 20011)
STEPS = (2, 7, 1000)


def squares(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """A second moment: positive."""
    return draw.normal(shape) ** 2 + 2.0**-10


def small_squares(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Squares whose root is a few thousandths: a 1e-6 added to it is seen."""
    return squares(draw, shape, sizes) * 2.0**-20 + 2.0**-18


def every_other(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Normal numbers, and a 0 between each two."""
    return np.where(np.arange(shape[-1]) % 2 == 0, 0.0, draw.normal(shape))


def every_other_square(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return every_other(draw, shape, sizes) ** 2


def _wide_squares(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Second moments of gradients between 2^-20 and 2^20."""
    return squares(draw, shape, sizes) * 4.0 ** draw.of("size").integers(-20, 21, shape)


def _updates(*rows: tuple[int, float, int], **changed: float) -> list[dict[str, Any]]:
    return [{"size": n, **HYPER, **changed, "weight_decay": decay, "step": step} for n, decay, step in rows]


def _descents(*rows: tuple[int, float], lr: float = 1e-2) -> list[dict[str, Any]]:
    return [{"size": n, "lr": lr, "weight_decay": decay} for n, decay in rows]


def _momenta(
    *rows: tuple[int, float], lr: float = 1e-2, momentum: float = 0.9, kinds: tuple[int, ...] = (0, 1)
) -> list[dict[str, Any]]:
    """Each row with and without Nesterov's look ahead."""
    fixed = {"lr": lr, "momentum": momentum}
    return [{"size": n, **fixed, "weight_decay": decay, "nesterov": kind} for n, decay in rows for kind in kinds]


_STEPS = _updates(*((n, 0.1, t) for n in LENGTHS for t in STEPS), (33, 0.0, 1), (1025, 0.0, 7))
# So late that a usual beta2 alone still tells the corrected moment from the other: 0.999^1500 is 0.22.
_LATE = _updates((33, 0.1, 1500), **LATE) + _updates((33, 0.1, 70000), beta2=0.99999)
_AT_BORDERS = _updates((257, 0.0, 1), **BORDER) + _updates((257, 0.1, 2), **STILL)
_SMALL = {"param": scaled("plain", 2.0**-10), "v": squares}  # a parameter so small that its change is seen
_EPS = _updates((257, 0.1, 2), (1025, 0.1, 7), eps=1e-3)
_ZERO_STATE = {"m": scaled("plain", 0.0), "v": scaled("plain", 0.0)}
_NO_EPS = _updates((257, 0.1, 1), (33, 0.0, 7), eps=0.0)
_SMALL_ALONE = {"param": _SMALL["param"]}
_DECAYED = tuple((n, 0.1) for n in LENGTHS)
_AT_REST = {"velocity": scaled("exact", 0.0)}

_HALF_AT_REST: dict[str, str | Maker] = {"grad": every_other, "m": every_other, "v": every_other_square}

SPECS = (
    Spec("adamw_step", {"plain": _STEPS + _AT_BORDERS + _LATE, "range": _updates((257, 0.1, 7))}, {"v": squares}),
    Spec("adamw_step", {"tiny": _updates(*((257, d, t) for d in (0.0, 0.1) for t in STEPS))}, _SMALL, why="change"),
    Spec("adamw_step", {"tiny": _EPS}, _SMALL | {"v": scaled("exact", 0.0), "m": "tiny"}, why="eps_counts"),
    Spec("adamw_step", {"plain": _updates((257, 0.1, 1))}, _SMALL | _ZERO_STATE, why="first"),
    Spec("adamw_step", {"plain": _NO_EPS}, _HALF_AT_REST, why="nothing_by_nothing"),
    Spec("sgd_step", {"plain": _descents(*_DECAYED, (33, 0.0), (1025, 0.0)), "range": _descents((257, 0.1))}),
    Spec("sgd_step", {"exact": _descents((257, 0.5), lr=0.25), "cancel": _descents((1025, 1.0), lr=0.3)}),
    Spec("sgd_step", {"plain": _descents((257, 0.1), (1025, 0.0))}, _SMALL_ALONE, why="change"),
    Spec("sgd_step", {"plain": _descents((257, 0.1), lr=0.0)}, why="at_rest", trivial="a rate of 0 moves nothing"),
    Spec("momentum_step", {"plain": _momenta(*_DECAYED, (33, 0.0)), "range": _momenta((257, 0.1))}),
    Spec("momentum_step", {"exact": _momenta((257, 0.5), lr=0.25, momentum=0.5), "cancel": _momenta((1025, 1.0))}),
    Spec("momentum_step", {"plain": _momenta((257, 0.1), (1025, 0.0))}, _SMALL_ALONE, why="change"),
    Spec("momentum_step", {"plain": _momenta((257, 0.1), (33, 0.0))}, _AT_REST, why="first"),
    Spec("momentum_step", {"plain": _momenta((257, 0.1), momentum=0.0)}, why="no_momentum"),
    Spec("momentum_step", {"plain": _momenta((257, 0.1), lr=0.0)}, why="at_rest"),
    Spec("adam_step", {"plain": _STEPS + _AT_BORDERS + _LATE, "range": _updates((257, 0.1, 7))}, {"v": squares}),
    Spec("adam_step", {"tiny": _updates(*((257, d, t) for d in (0.0, 0.1) for t in STEPS))}, _SMALL, why="change"),
    Spec("adam_step", {"tiny": _EPS}, _SMALL | {"v": scaled("exact", 0.0), "m": "tiny"}, why="eps_counts"),
    Spec("adam_step", {"plain": _updates((257, 0.1, 1))}, _SMALL | _ZERO_STATE, why="first"),
    Spec("adam_step", {"plain": _NO_EPS}, _HALF_AT_REST, why="nothing_by_nothing"),
)

_ADAM = {"size": WEIGHTS[0], "lr": 1e-4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "step": 7}
_DESCENT = {"size": WEIGHTS[0], "lr": 1e-2, "weight_decay": 1e-4}
FACTS = (
    Facts("adamw_step", _ADAM),
    Facts("sgd_step", _DESCENT),
    Facts("momentum_step", {**_DESCENT, "momentum": 0.9, "nesterov": 1}),
    Facts("adam_step", _ADAM),
)

MOMENTS: dict[str, str | Maker] = {
    "squares": squares,
    "zero": scaled("exact", 0.0),
    "wide": _wide_squares,
    "small": small_squares,
}
# inf - lr * (... + decay * inf) is no number, inf * (1 - lr * decay) is: which is computed, the header leaves open.
FINITE_ALONE: dict[str, str | Maker] = {value: value for value in FINITE}
DESIGNS = (
    Design("adamw_step", arrays={"param": FINITE_ALONE, "v": MOMENTS}),
    Design("sgd_step", arrays={"param": FINITE_ALONE}),
    Design("momentum_step", arrays={"param": FINITE_ALONE}),
    Design("adam_step", arrays={"param": FINITE_ALONE, "v": MOMENTS}),
)
