"""The optimiser, and what works on the whole list of parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.cases.data import Draw
from conformance.catalogue.cases.optimizer import decays
from conformance.catalogue.cases.spec import Sizes, nan
from conformance.catalogue.cases.updates import squares
from conformance.catalogue.full_model import FFN, HIDDEN, VOCAB

from . import sums
from .call import FullCall

_MEMBERS = 4099
_LENGTHS = (
    FFN * HIDDEN,
    HIDDEN,
    12 * 64 * HIDDEN,
    1,
)  # one expert's, a norm's, the queries' weights; the shortest list
_LIST = {"count": len(_LENGTHS), "sizes": _LENGTHS}
_EMBEDDING = VOCAB * HIDDEN  # the longest of the model's
_LONGEST = {"count": 2, "sizes": (_EMBEDDING, HIDDEN)}
_SOME = {"sizes": _MEMBERS}
_ADAM = {"lr": 1e-2, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "step": 7}
_DESCENT = {"size": _LENGTHS[0], "lr": 1e-2}
_SEED = 0x123456789ABCDEF
_SUFFIXES = ("bf16", "fp16")
_WHY = "one expert's largest weight and three others; all of a layer are 16 of the kind"


def _some_special(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.float64]:
    """A NaN or an infinity in one place of 64."""
    values = np.array([np.nan, np.inf, -np.inf])[draw.of("which").integers(0, 3, shape)]
    return np.where(draw.of("where").integers(0, 64, shape) == 0, values, draw.normal(shape))


def _whole(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.int64]:
    """-2 to 2: the sum of five million squares is exact in any order, and a single one that is missing shows."""
    return draw.integers(-2, 3, shape)


def _rare(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[np.float64]:
    """0, 1 and -1, every second one 0: as exact a sum of squares of 24 million."""
    return np.array([0.0, 0.0, 1.0, -1.0])[draw.integers(0, 4, shape)]


def _of_longest(operation: str) -> FullCall:
    """One number from the longest array, whose partial sums are more than a block's threads."""
    sizes: Sizes = _LONGEST
    drawn, name = _SOME, "inputs"
    if operation == "grad_clip":
        sizes, drawn, name = {"size": _EMBEDDING, "clip_norm": 1.0}, {"size": _MEMBERS}, "grad"
    given = {name: _some_special if operation == "multi_nonfinite" else _rare}
    carried_out = getattr(sums, operation)
    why = "the embedding's gradient, the longest"
    return FullCall(operation, sizes, drawn, given, carried_out=carried_out, variant="embedding", why=why)


def _updates(suffix: str) -> tuple[FullCall, FullCall]:
    given = {"vs": squares, "weight_decays": decays, "copies": nan}
    operation = f"multi_adamw_{suffix}"
    drawn = {"count": 2, "sizes": (3 * 65536 + 5, HIDDEN), **_ADAM, "lr": 0.0, "seed": _SEED}
    why = "196,613 elements, each with its own draw: past what 16 bits count"
    return (
        FullCall(operation, {**_LIST, **_ADAM, "seed": 0}, _SOME, given, why=_WHY),
        FullCall(operation, drawn, inputs={**given, "weight_decays": "plain"}, variant="drawn", why=why),
    )


CALLS = (
    FullCall("adamw_step", {"size": _LENGTHS[0], **_ADAM, "weight_decay": 0.1}, {"size": _MEMBERS}, {"v": squares}),
    FullCall("sgd_step", {**_DESCENT, "weight_decay": 0.1}, {"size": _MEMBERS}),
    FullCall("momentum_step", {**_DESCENT, "momentum": 0.9, "weight_decay": 0.1, "nesterov": 1}, {"size": _MEMBERS}),
    FullCall("adam_step", {"size": _LENGTHS[0], **_ADAM, "weight_decay": 0.1}, {"size": _MEMBERS}, {"v": squares}),
    FullCall("multi_adamw", {**_LIST, **_ADAM}, _SOME, {"vs": squares, "weight_decays": decays}, why=_WHY),
    FullCall("zero_grad", {"size": _LENGTHS[0]}, {"size": 1}),
    FullCall(
        "grad_clip",
        {"size": _LENGTHS[0], "clip_norm": 1.0},
        {"size": _MEMBERS},
        {"grad": _whole},
        carried_out=sums.grad_clip,
    ),
    FullCall("multi_sum_squares", _LIST, _SOME, {"inputs": _whole}, carried_out=sums.multi_sum_squares, why=_WHY),
    FullCall("multi_nonfinite", _LIST, _SOME, {"inputs": _some_special}, carried_out=sums.multi_nonfinite, why=_WHY),
    FullCall(
        "multi_sum_squares_nonfinite",
        _LIST,
        _SOME,
        {"inputs": _whole},
        carried_out=sums.multi_sum_squares_nonfinite,
        why=_WHY,
    ),
    FullCall("clip_scale", {"clip_norm": 1.0}, inputs={"sum_squares": squares}, why="one number: it has no full size"),
    FullCall("multi_scale", _LIST, _SOME, why=_WHY),
    *map(_of_longest, ("grad_clip", "multi_sum_squares", "multi_nonfinite", "multi_sum_squares_nonfinite")),
    *(call for suffix in _SUFFIXES for call in _updates(suffix)),
)
