"""Cases of steps cut out of sequences, and of sequences joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import BATCH, HIDDEN, SEQ

from .spec import Spec, sizes

SLICES = sizes(
    "batch steps width first count",
    (1, 2, 3, 1, 1),
    (2, 5, 4, 1, 3),
    (3, 9, 17, 0, 4),
    (3, 9, 16, 5, 4),
    (2, 33, 5, 32, 1),
    (5, 7, 8, 0, 6),
    (65, 3, 1, 1, 1),
    (2, 6, 257, 2, 3),
)
LONG_SLICES = sizes("batch steps width first count", (1, 1030, 3, 500, 523), (2, 5, 1025, 1, 2), (1030, 2, 2, 1, 1))
EVERY_STEP = sizes("batch steps width first count", (3, 7, 8, 0, 7))
JOINTS = sizes(
    "batch steps_a steps_b width",
    (1, 1, 2, 3),
    (2, 3, 4, 4),
    (3, 5, 1, 17),
    (4, 1, 7, 16),
    (65, 2, 3, 1),
    (2, 6, 6, 257),
)
LONG_JOINTS = sizes("batch steps_a steps_b width", (1, 500, 523, 3), (2, 3, 2, 1025), (1030, 1, 1, 2))
_SLICED = {"plain": SLICES, "tails": LONG_SLICES, "special": SLICES[1:4], "signed": SLICES[1:4]}
_JOINED = {"plain": JOINTS, "tails": LONG_JOINTS, "special": JOINTS[1:4], "signed": JOINTS[1:4]}

SPECS = (
    *(Spec(operation, _SLICED, signed_zeros=True) for operation in ("slice_steps", "slice_steps_backward")),
    *(
        Spec(operation, {"plain": EVERY_STEP}, why="every_step", signed_zeros=True, trivial="nothing is cut off")
        for operation in ("slice_steps", "slice_steps_backward")
    ),
    *(Spec(operation, _JOINED, signed_zeros=True) for operation in ("concat_steps", "concat_steps_backward")),
)

_SLICE = {"batch": BATCH, "steps": SEQ, "width": HIDDEN, "first": SEQ // 2, "count": SEQ // 4}
_JOINT = {"batch": BATCH, "steps_a": SEQ // 2, "steps_b": SEQ // 4, "width": HIDDEN}
FACTS = (
    *(
        Facts(operation, _SLICE, neutral={"first": 0}, only_moves=True)
        for operation in ("slice_steps", "slice_steps_backward")
    ),
    *(Facts(operation, _JOINT, only_moves=True) for operation in ("concat_steps", "concat_steps_backward")),
)

_STEPS = (1, 2, 3, 4, 5, 8, 15, 16, 33, 65, 128, 257, 1025)
_PARTS = {"steps": (), "first": (0, 1, 2, 3, 7, 16, 33, 257), "count": _STEPS, "behind": (0, 1, 2, 5, 16, 65, 513)}


def _whole(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """So many steps that those before, the count and those behind are all."""
    return {**row, "steps": row["first"] + row["count"] + row["behind"]}


DESIGNS = tuple(Design(operation, _PARTS, derive=_whole) for operation in ("slice_steps", "slice_steps_backward"))
