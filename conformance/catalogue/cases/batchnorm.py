"""Cases of batch norm."""

from __future__ import annotations

import numpy as np

import reference
from conformance.catalogue.design.levels import FINITE
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts

from .data import Array, Draw
from .spec import Arguments, Maker, Sizes, Spec, nan, sizes

EPS, MOMENTUM = 1e-5, 0.1
_NAMES = "batch channels spatial momentum eps"
EVERY = sizes(
    _NAMES,
    (2, 1, 1, MOMENTUM, EPS), (3, 2, 5, MOMENTUM, EPS), (2, 3, 33, MOMENTUM, EPS), (5, 17, 1, MOMENTUM, EPS),
    (4, 65, 3, MOMENTUM, EPS), (1, 4, 257, MOMENTUM, EPS), (33, 7, 16, 0.01, 1e-3),
    (1, 3, 9, MOMENTUM, EPS), (7, 2, 5, MOMENTUM, 0.0),
)  # fmt: skip
TAILS = sizes(
    _NAMES,
    (2, 2, 4099, MOMENTUM, EPS), (130, 5, 1, MOMENTUM, EPS), (127, 3, 13, 0.3, EPS), (3, 130, 15, MOMENTUM, EPS),
    (8, 8, 196, MOMENTUM, 1e-6),
)  # fmt: skip
SOME = sizes(_NAMES, (5, 3, 33, MOMENTUM, EPS), (9, 65, 5, 0.3, EPS))
# As many numbers of a channel as their mean is exact of, whichever way it is taken.
NO_VARIANCE = sizes(_NAMES, (2, 3, 2, MOMENTUM, 0.0), (4, 5, 64, MOMENTUM, 0.0))
_ENDS = sizes(_NAMES, (5, 3, 33, 0.0, EPS), (5, 3, 33, 1.0, EPS))


def _positive(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Variances between 0.25 and 1.75."""
    return np.asarray(draw.uniform(shape) * 1.5 + 0.25)


def _small(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Variances near the usual eps."""
    return np.asarray((draw.uniform(shape) + 0.5) * 2.0**-17)


def _either_sign(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """No variance is below 0: its root is no number."""
    return np.asarray(_positive(draw, shape, sizes) * np.where(draw.of("sign").integers(0, 2, shape) == 1, -1.0, 1.0))


def _zero(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return np.zeros(shape)


def _far_from_zero(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Channels whose mean is a thousand times their deviation, of either sign."""
    return np.asarray(draw.normal(shape) + 1000.0 * (1 - 2.0 * (np.arange(shape[1])[None, :, None] % 2)))


def _constant(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every channel constant."""
    return np.asarray(draw.normal((1, shape[1], 1)) + np.zeros(shape))


def _every_other_of_ones(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Normal channels, and between them channels of ones."""
    return np.where(np.arange(shape[1])[:, None] % 2 == 0, 1.0, draw.normal(shape))


def _stored(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """What the forward pass has stored of the batch that is given."""
    x, rest = made["input"].astype(np.float32), made["weight"]
    if x.shape[0] * x.shape[2] == 1:  # no forward pass is of one number; its mean is that number
        return {"mean": x[0, :, 0], "rstd": np.full(x.shape[1], EPS**-0.5)}
    _, mean, rstd, *_ = reference.batchnorm_training(x, rest, rest, rest, rest, MOMENTUM, EPS)
    return {"mean": mean, "rstd": rstd}


def _without(rows: list[dict[str, float]], *names: str, **others: float) -> list[dict[str, float]]:
    return [{name: size for name, size in row.items() if name not in names} | others for row in rows]


def _by_data(
    rows: dict[str, list[dict[str, float]]], *names: str, **others: float
) -> dict[str, list[dict[str, float]]]:
    return {data: _without(held, *names, **others) for data, held in rows.items()}


_USUAL = {"plain": EVERY, "tails": TAILS, **dict.fromkeys(("range", "swamp", "cancel", "tiny"), SOME)}
_VARIANCE: dict[str, str | Maker] = {"running_var": _positive}
_FAR: dict[str, str | Maker] = {"input": _far_from_zero}
_FLAT: dict[str, str | Maker] = {"input": _constant}
_ONES: dict[str, str | Maker] = {"input": _every_other_of_ones}
_ORDINARY: dict[str, str | Maker] = {"weight": "plain", "running_var": _positive}
_UNREAD: dict[str, str | Maker] = {"d_weight": nan, "d_bias": nan}
_FRESH = _by_data({**_USUAL, "special": SOME}, "momentum", "eps", beta=0.0)
_ONCE = _without(SOME, "momentum", "eps", beta=0.0)
_ADDED = [row | {"beta": beta} for row in _ONCE for beta in (1.0, -0.5)]
_EVALUATED = _by_data(_USUAL, "momentum")
_SEEN = _without(SOME, "momentum")

SPECS = (
    Spec("batchnorm_training", _USUAL, _VARIANCE),
    Spec("batchnorm_training", {"special": SOME}, _ORDINARY),
    Spec("batchnorm_training", {"plain": SOME}, _FAR | _VARIANCE, why="far_from_zero"),
    Spec("batchnorm_training", {"plain": SOME}, _FLAT | _VARIANCE, why="constant_channels"),
    Spec("batchnorm_training", {"plain": NO_VARIANCE}, _ONES | _VARIANCE, why="no_variance_and_no_eps"),
    Spec("batchnorm_training", {"plain": _ENDS}, _VARIANCE, why="ends_of_momentum"),
    Spec("batchnorm_evaluation", _EVALUATED, _VARIANCE),
    Spec("batchnorm_evaluation", {"special": _SEEN}, _ORDINARY),
    Spec("batchnorm_evaluation", {"plain": _SEEN}, {"running_var": _small}, why="small_variances"),
    Spec("batchnorm_evaluation", {"plain": _SEEN}, {"running_var": _zero}, why="no_variance"),
    Spec("batchnorm_backward", _FRESH, _UNREAD, _stored),
    Spec("batchnorm_backward", {"accumulate": _ADDED}, {}, _stored, "into_filled_gradients"),
    Spec("batchnorm_backward", {"plain": _ONCE}, _FAR | _UNREAD, _stored, "far_from_zero"),
    Spec("batchnorm_backward", {"plain": _ONCE}, _FLAT | _UNREAD, _stored, "constant_channels"),
)

_IMAGES = {"batch": 16, "channels": 64, "spatial": 56 * 56}
FACTS = (
    Facts("batchnorm_training", {**_IMAGES, "momentum": MOMENTUM, "eps": EPS}, neutral={"momentum": 1.0}),
    Facts("batchnorm_evaluation", {**_IMAGES, "eps": EPS}),
    Facts("batchnorm_backward", {**_IMAGES, "beta": 0.0}),
)

_FOLLOWS = {"from_input": "plain"}  # replaced by what the forward pass gives
_VARIANCES: dict[str, str | Maker] = {
    "positive": _positive,
    "small": _small,
    "zero": _zero,
    "either_sign": _either_sign,
}
_FINITE: dict[str, str | Maker] = {value: value for value in FINITE}
# Without eps a constant channel is divided by what is left of its rounding.
_SCALARS = {"momentum": (MOMENTUM, 0.01, 0.5, 0.0, 1.0), "eps": (EPS, 1e-3, 1e-6, 1.0)}
DESIGNS = (
    Design("batchnorm_training", scalars=_SCALARS, arrays={"weight": _FINITE, "running_var": _VARIANCES}),
    Design(
        "batchnorm_evaluation",
        scalars={"eps": _SCALARS["eps"]},
        arrays={"weight": _FINITE, "running_var": _VARIANCES},
    ),
    Design("batchnorm_backward", arrays={"mean": _FOLLOWS, "rstd": _FOLLOWS}, finish=_stored),
)
