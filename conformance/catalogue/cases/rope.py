"""Cases of the rotary position encoding."""

from __future__ import annotations

import numpy as np

import reference
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import BATCH, HEAD_DIM, KV_HEADS, Q_HEADS, ROPE_ALPHA, ROPE_BASE, SEQ

from .data import Array, Draw
from .spec import Maker, Sizes, Spec, sizes

TABLES = sizes(
    "max_seq_len head_dim base alpha",
    (2, 4, 1e4, 1.0),
    (33, 16, 1e4, 8.0),
    (257, 64, 1e4, 8.0),
    (128, 64, 5e5, 1.0),
    (257, 128, 1e4, 0.5),
    (2049, 8, 1e4, 2.5),
    (31, 6, 100.0, 8.0),
    (9, 80, 1e4, 8.0),
    (40, 16, 0.5, 1.0),
    (1030, 32, 1e4, 8.0),
)

ONE = "batch seq_len n_heads head_dim offset"
HEADS = sizes(
    ONE, (1, 2, 1, 4, 0), (2, 33, 3, 16, 0), (1, 7, 2, 64, 5), (2, 5, 1, 128, 100), (1, 257, 1, 8, 0), (3, 1, 4, 32, 9)
)
LONG_HEADS = sizes(ONE, (2, 3, 2, 80, 1), (1, 5, 2, 192, 0), (2, 67, 3, 64, 3))
SOME_HEADS = sizes(ONE, (2, 5, 3, 6, 2), (2, 33, 3, 16, 0), (1, 7, 2, 64, 5))
TWO = "batch seq_len n_q_heads n_kv_heads head_dim offset"
PAIRS = sizes(
    TWO,
    (1, 2, 1, 1, 4, 0),
    (1, 9, 4, 2, 8, 1),
    (2, 33, 4, 1, 16, 0),
    (1, 7, 12, 4, 64, 5),
    (2, 5, 3, 3, 128, 100),
    (1, 257, 2, 1, 8, 0),
)
LONG_PAIRS = sizes(TWO, (1, 5, 2, 1, 80, 3), (1, 3, 2, 1, 192, 0), (2, 67, 2, 1, 64, 3))
SOME_PAIRS = sizes(TWO, (2, 5, 3, 1, 6, 2), (2, 33, 4, 1, 16, 0), (1, 7, 12, 4, 64, 5))


def _angles(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """The table of a real model, as float32 holds it."""
    if sizes["head_dim"] <= 2:
        return np.broadcast_to(np.arange(shape[0])[:, None], shape)
    return np.asarray(reference.rope_freqs(shape[0], sizes["head_dim"], 1e4, 8.0), np.float32)


def _longer(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """A table with three positions more than the call needs."""
    return _angles(draw, (shape[0] + 3, shape[1]), sizes)


def _catalogue(
    operation: str, every: list[dict[str, int]], long: list[dict[str, int]], some: list[dict[str, int]]
) -> tuple[Spec, ...]:
    data = {"plain": every, "tails": some + long, "range": some, "swamp": some, "special": some[:2]}
    return (
        Spec(operation, data, {"freqs": _angles}),
        Spec(operation, {"plain": some}, {"freqs": _longer}, why="longer_table"),
    )


SPECS = (
    Spec("rope_freqs", {"plain": TABLES}),
    *_catalogue("rope_forward", HEADS, LONG_HEADS, SOME_HEADS),
    *_catalogue("rope_backward", HEADS, LONG_HEADS, SOME_HEADS),
    *_catalogue("rope_qk", PAIRS, LONG_PAIRS, SOME_PAIRS),
    *_catalogue("rope_qk_backward", PAIRS, LONG_PAIRS, SOME_PAIRS),
)

_ONE = {"batch": BATCH, "seq_len": SEQ, "n_heads": Q_HEADS, "head_dim": HEAD_DIM, "offset": 0}
_BOTH = {
    **{"batch": BATCH, "seq_len": SEQ, "n_q_heads": Q_HEADS, "n_kv_heads": KV_HEADS},
    **{"head_dim": HEAD_DIM, "offset": 0},
}
_TABLE = {"max_seq_len": SEQ, "head_dim": HEAD_DIM, "base": ROPE_BASE, "alpha": ROPE_ALPHA}
_PAIR = {"head_dim": 2}  # what is rotated
FACTS = (
    Facts("rope_freqs", _TABLE, neutral=_PAIR),
    *(Facts(operation, _ONE, neutral=_PAIR) for operation in ("rope_forward", "rope_backward")),
    *(Facts(operation, _BOTH, neutral=_PAIR) for operation in ("rope_qk", "rope_qk_backward")),
)

_EVEN = {"head_dim": (2, 4, 6, 8, 10, 16, 30, 32, 34, 62, 64, 66, 80, 96, 126, 128, 130, 192, 254, 256)}
_TURNS: dict[str, str | Maker] = {"real": _angles, "longer": _longer}
_ROTATIONS = ("rope_forward", "rope_backward", "rope_qk", "rope_qk_backward")
DESIGNS = (
    Design("rope_freqs", {"head_dim": _EVEN["head_dim"][1:]}, {"alpha": (8.0, 1.0, 0.5, 2.5)}),
    *(Design(operation, _EVEN, arrays={"freqs": _TURNS}) for operation in _ROTATIONS),
)
