"""Losses against targets as many as the predictions."""

from __future__ import annotations

from typing import Any

import reference
from conformance.catalogue.cases.data import Draw
from conformance.catalogue.cases.losses import probabilities, soft
from conformance.catalogue.cases.spec import Arguments, Sizes
from conformance.catalogue.full_model import VOCAB

from . import means
from .call import FullCall
from .rows import ELEMENTS, MEMBERS, WHY_WIDE, WIDE, WIDE_ROWS, summits

_N, _DRAWN = {"n": ELEMENTS}, {"n": MEMBERS}
_ROWS, _FEW = {"rows": WIDE, "cols": VOCAB}, {"rows": WIDE_ROWS}
_SCALE = {"scale": float(ELEMENTS)}  # gradients of size one, which rounding makes no subnormal numbers
_TARGETS: dict[str, dict[str, Any]] = {
    "mse": {},
    "bce": {"probability": probabilities, "target": soft},
    "bce_logits": {"target": soft},
}
_CLASSES = {"probabilities": probabilities, "labels": soft}


def _log_probs(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    given = made["log_probs"], made["labels"], made["temperature"]
    return {"log_probs": reference.cross_entropy_dense_forward(*given)[1]}


def _pointwise(operation: str, inputs: dict[str, Any]) -> tuple[FullCall, FullCall]:
    forward, backward = f"{operation}_forward", f"{operation}_backward"
    return (
        FullCall(forward, _N, _DRAWN, inputs, carried_out=means.FORWARD[forward]),
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
