"""Cases of root-mean-square normalisation."""

from __future__ import annotations

import numpy as np

from conformance.catalogue.facts import Facts, KnownSum, sqrt
from conformance.catalogue.full_model import HIDDEN, NORM_EPS, TOKENS

from .data import Array, Draw
from .spec import Maker, Sizes, Spec, nan, sizes

EVERY = sizes(
    "rows hidden_dim eps", (1, 2, 1e-6), (2, 33, 1e-6), (5, 257, 1e-6), (3, 1025, 1e-6), (64, 64, 1e-6), (5, 65, 0.0)
)
TAILS = sizes(
    "rows hidden_dim eps",
    (2, 8193, 1e-6),
    (127, 13, 1e-6),
    (7, 768, 1e-5),
    (3, 67, 1e-6),
    (130, 5, 1e-6),
    (8, 36, 1e-6),  # rows of fours and of no eights: sixteen bytes of float32, not of 16 bits
)
SOME = sizes("rows hidden_dim eps", (5, 33, 1e-6), (3, 1025, 1e-6))

_FORWARD = {"plain": EVERY, "tails": TAILS, "range": SOME, "swamp": SOME, "cancel": SOME, "tiny": SOME, "special": SOME}
_GRADIENT = {"plain": EVERY, "tails": TAILS, "range": SOME, "swamp": SOME, "tiny": SOME, "special": SOME}


def _zero_row(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Constant rows, the first one zero: nothing but eps under the root."""
    return np.where(np.arange(shape[0])[:, None] == 0, 0.0, draw.normal((shape[0], 1)) + np.zeros(shape))


def _with_beta(rows: list[dict[str, float]], *betas: float) -> list[dict[str, float]]:
    return [{**row, "beta": beta} for row in rows for beta in betas]


_FRESH = {data: _with_beta(rows, 0.0) for data, rows in _GRADIENT.items()}
_ADDED = {"accumulate": _with_beta(SOME, 1.0, -0.5)}
_DEGENERATE = {"degenerate": SOME}
_NO_EPS = {"degenerate": sizes("rows hidden_dim eps", (5, 33, 0.0))}
_NO_EPS_GRADIENT = {data: _with_beta(rows, 0.0) for data, rows in _NO_EPS.items()}
_ZERO_ROW: dict[str, str | Maker] = {"input": _zero_row}
_ZERO_ROWS: dict[str, str | Maker] = {"residual": _zero_row, "input": _zero_row}

SPECS = (
    Spec("rmsnorm", _FORWARD),
    Spec("rmsnorm", _DEGENERATE, _ZERO_ROW, why="zero_row"),
    Spec("rmsnorm", _NO_EPS, _ZERO_ROW, why="no_root"),  # 0 / 0 is no number
    Spec("rmsnorm_backward", _FRESH, {"d_weight": nan}),
    Spec("rmsnorm_backward", _ADDED, why="into_filled_gradient"),
    Spec("rmsnorm_backward", {"degenerate": _with_beta(SOME, 0.0)}, _ZERO_ROW, why="zero_row"),
    Spec("rmsnorm_backward", _NO_EPS_GRADIENT, _ZERO_ROW, why="no_root"),
    Spec("rmsnorm_residual", _FORWARD),
    Spec("rmsnorm_residual", _DEGENERATE, _ZERO_ROWS, why="zero_row"),
    Spec("rmsnorm_residual", _NO_EPS, _ZERO_ROWS, why="no_root"),
    Spec("rmsnorm_residual_backward", _FRESH, {"d_weight": nan}),
    Spec("rmsnorm_residual_backward", _ADDED, why="into_filled_gradient"),
    Spec("rmsnorm_residual_backward", _NO_EPS_GRADIENT, _ZERO_ROW, why="no_root"),
)

_ROWS = {"rows": TOKENS, "hidden_dim": HIDDEN, "eps": NORM_EPS}
_MEAN_SQUARE = KnownSum("input", "output", "hidden_dim", sqrt, lambda out, n: n / out**2)
FACTS = (
    Facts("rmsnorm", _ROWS, known_sums=(_MEAN_SQUARE,)),
    Facts("rmsnorm_residual", _ROWS),
    *(Facts(name, {**_ROWS, "beta": 0.0}) for name in ("rmsnorm_backward", "rmsnorm_residual_backward")),
)
