"""Cases of layer norm."""

from __future__ import annotations

import numpy as np

import reference
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import HIDDEN, TOKENS

from .data import Array, Draw
from .spec import Arguments, Maker, Sizes, Spec, nan, sizes

EPS = 1e-5
EVERY = sizes("rows hidden_dim eps", (1, 2, EPS), (2, 33, EPS), (5, 257, EPS), (3, 1025, EPS), (64, 64, EPS))
TAILS = sizes("rows hidden_dim eps", (2, 8193, EPS), (127, 13, EPS), (7, 768, 1e-6), (3, 67, 1e-6), (130, 5, 1e-3))
SOME = sizes("rows hidden_dim eps", (5, 33, EPS), (3, 1025, EPS))
NO_EPS = sizes("rows hidden_dim eps", (5, 65, 0.0))
# As many numbers as their mean is exact of, whichever way it is taken.
NO_VARIANCE = sizes("rows hidden_dim eps", (5, 4, 0.0), (4, 64, 0.0), (3, 1024, 0.0), (3, 16384, 0.0))

_USUAL = {"tails": TAILS, "range": SOME, "swamp": SOME, "cancel": SOME, "tiny": SOME, "special": SOME}


def _far_from_zero(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Rows whose mean is a thousand times their deviation, of either sign: their squares hold nothing of the latter."""
    return np.asarray(draw.normal(shape) + 1000.0 * (1 - 2.0 * (np.arange(shape[0])[:, None] % 2)))


def _every_other_of_ones(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Normal rows, and between them rows of ones."""
    return np.where(np.arange(shape[0])[:, None] % 2 == 0, 1.0, draw.normal(shape))


def _stored(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """What the forward pass has stored of the rows that are given."""
    x = made["input"].astype(np.float32)
    _, mean, rstd = reference.layernorm(x, made["weight"], made["weight"], EPS)
    return {"mean": mean, "rstd": rstd}


def _with_beta(rows: list[dict[str, float]], *betas: float) -> list[dict[str, float]]:
    shapes = [{name: size for name, size in row.items() if name != "eps"} for row in rows]
    return [{**shape, "beta": beta} for shape in shapes for beta in betas]


_FAR: dict[str, str | Maker] = {"input": _far_from_zero}
_UNREAD: dict[str, str | Maker] = {"d_weight": nan, "d_bias": nan}
_CONSTANT: dict[str, str | Maker] = {"weight": "plain", "d_output": "plain"}  # of the other arrays
_FRESH = {data: _with_beta(rows, 0.0) for data, rows in {"plain": EVERY, **_USUAL}.items()}
_ONCE = _with_beta(SOME, 0.0)

SPECS = (
    Spec("layernorm", {"plain": EVERY + NO_EPS, **_USUAL}),
    Spec("layernorm", {"plain": SOME}, _FAR, why="far_from_zero"),
    Spec("layernorm", {"degenerate": SOME}, {"weight": "plain", "bias": "plain"}, why="constant_rows"),
    Spec("layernorm", {"plain": sizes("rows hidden_dim eps", (33, 1, EPS))}, why="one_column"),
    Spec("layernorm", {"plain": NO_VARIANCE}, {"input": _every_other_of_ones}, why="no_variance_and_no_eps"),
    Spec("layernorm_backward", _FRESH, _UNREAD, _stored),
    Spec("layernorm_backward", {"accumulate": _with_beta(SOME, 1.0, -0.5)}, {}, _stored, "into_filled_gradients"),
    Spec("layernorm_backward", {"plain": _ONCE}, _FAR | _UNREAD, _stored, "far_from_zero"),
    Spec("layernorm_backward", {"degenerate": _ONCE}, _CONSTANT | _UNREAD, _stored, "constant_rows"),
)

_ROWS = {"rows": TOKENS, "hidden_dim": HIDDEN}
FACTS = (Facts("layernorm", {**_ROWS, "eps": EPS}), Facts("layernorm_backward", {**_ROWS, "beta": 0.0}))

_STORED = {"from_input": "plain"}  # replaced by what the forward pass gives
DESIGNS = (
    # Without eps a constant row is divided by what is left of its rounding.
    Design("layernorm", scalars={"eps": (1e-5, 1e-6, 1e-3, 1.0)}),
    Design("layernorm_backward", arrays={"mean": _STORED, "rstd": _STORED}, finish=_stored),
)
