"""Losses against targets as many as the predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from conformance.catalogue.cases.data import Draw
from conformance.catalogue.cases.losses import probabilities, soft
from conformance.catalogue.cases.spec import Arguments, Finish, Sizes
from conformance.catalogue.full_model import VOCAB

from . import means
from .call import FullCall
from .rows import ELEMENTS, MEMBERS, WHY_WIDE, WIDE, WIDE_ROWS, summits

_N, _DRAWN = {"n": ELEMENTS}, {"n": MEMBERS}
_IMAGES = {"n": 4096 * 3 * 32 * 32}
_ROWS, _FEW = {"rows": WIDE, "cols": VOCAB}, {"rows": WIDE_ROWS}
_SCALE = {"scale": float(ELEMENTS)}  # gradients of size one, which rounding makes no subnormal numbers
_TARGETS: dict[str, dict[str, Any]] = {
    "mse": {},
    "bce": {"probability": probabilities, "target": soft},
    "bce_logits": {"target": soft},
}
_WHY_MORE = "4,096 images of 3 x 32 x 32: more partial sums than a block's threads"
_MISSED = 1024  # of so many predictions one is as wrong as can be, so that a sum of all stays below 2^24
_CLASSES = {"probabilities": probabilities, "labels": soft}


def _log_probs(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    given = made["log_probs"], made["labels"], made["temperature"]
    return {"log_probs": reference.cross_entropy_dense_forward(*given)[1]}


def _bits(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.int64]:
    """0 and 1: with them each term is a whole number, and their sum exact in any order.

    The limit of any other sum of millions, which may be taken one by one, would let a third of them be missing.
    """
    return draw.integers(0, 2, shape)


def _nearly_right(name: str, first: float, second: float) -> Finish:
    """Predictions that are certain of the one or the other class, and targets that are nearly all as predicted."""

    def finish(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
        bits = made["target"]
        missed = draw.of("missed").integers(0, _MISSED, bits.shape) == 0
        return {name: np.where(bits == 1, second, first), "target": np.where(missed, 1 - bits, bits)}

    return finish


_EXACT: dict[str, tuple[dict[str, Any], Finish | None]] = {
    "mse": ({"prediction": _bits, "target": _bits}, None),
    "bce": ({"target": _bits}, _nearly_right("probability", 0.0, 1.0)),
    "bce_logits": ({"target": _bits}, _nearly_right("logits", -128.0, 128.0)),
}


def _pointwise(operation: str, inputs: dict[str, Any]) -> tuple[FullCall, FullCall, FullCall]:
    forward, backward = f"{operation}_forward", f"{operation}_backward"
    carried_out, (bits, finish) = means.FORWARD[forward], _EXACT[operation]
    return (
        FullCall(forward, _N, _DRAWN, inputs, carried_out=carried_out),
        FullCall(
            forward,
            _IMAGES,
            _DRAWN,
            bits,
            finish=finish,
            carried_out=carried_out,
            variant="images",
            why=_WHY_MORE,
        ),
        FullCall(backward, {**_N, **_SCALE}, _DRAWN, inputs, carried_out=means.BACKWARD[backward]),
    )


def _by_classes(operation: str, inputs: dict[str, Any], **more: Any) -> FullCall:
    carried_out = {**means.FORWARD, **means.BACKWARD, "cross_entropy_dense_forward": means.dense_forward}[operation]
    heated = {"temperature": 0.7} if "dense" in operation else {}
    scaled = {"scale": float(WIDE)} if "backward" in operation else {}
    return FullCall(
        operation, {**_ROWS, **heated, **scaled}, _FEW, inputs, carried_out=carried_out, why=WHY_WIDE, **more
    )


CALLS = (
    *(call for operation, inputs in _TARGETS.items() for call in _pointwise(operation, inputs)),
    *(_by_classes(f"categorical_cross_entropy_{way}", _CLASSES) for way in ("forward", "backward")),
    _by_classes("cross_entropy_dense_forward", {"labels": soft, "logits": summits}),
    _by_classes("cross_entropy_dense_backward", {"labels": soft}, finish=_log_probs),
)
