"""Cases of the embedding and its gradient."""

from __future__ import annotations

import numpy as np

from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import HIDDEN, TOKENS, VOCAB

from .data import Array, Draw
from .spec import Sizes, Spec, ids, sizes

TABLES = sizes(
    "num_indices vocab_size embedding_dim", (5, 3, 4), (33, 10, 17), (257, 64, 8), (5, 1000, 64), (64, 65, 33)
)
LONG = sizes("num_indices vocab_size embedding_dim", (1025, 7, 5), (3, 33, 1025), (67, 5, 3), (300, 200, 5))

PAST_16_BITS = sizes("num_indices vocab_size embedding_dim", (64, 65_600, 1))


def _half_past_16_bits(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every second index past what 16 bits hold."""
    return np.where(
        np.arange(shape[0]) % 2 == 1, draw.integers(2**16, sizes["vocab_size"], shape), draw.integers(0, 2**16, shape)
    )


def _one_token(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """The same index everywhere: every row adds to one."""
    return np.full(shape, sizes["vocab_size"] - 1)


def _some_negative(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """A third of the indices negative: passed over."""
    return draw.integers(0, sizes["vocab_size"], shape) - np.where(np.arange(shape[0]) % 3 == 1, 10000, 0)


_INDICES = {"indices": ids("vocab_size")}
_PAST_16_BITS = {"indices": _half_past_16_bits}
_MIXED = {"exact": TABLES[1:3], "range": TABLES[1:3], "cancel": TABLES[1:3], "special": TABLES[1:2]}

SPECS = (
    Spec("embedding", {"plain": TABLES, "tails": LONG, "special": TABLES[1:]}, _INDICES, signed_zeros=True),
    Spec("embedding", {"plain": PAST_16_BITS}, _PAST_16_BITS, why="indices_past_16_bits", signed_zeros=True),
    Spec("scatter_add", {"accumulate": TABLES, "tails": LONG} | _MIXED, _INDICES),
    Spec("scatter_add", {"tails": PAST_16_BITS}, _PAST_16_BITS, why="indices_past_16_bits"),
    Spec("scatter_add", {"accumulate": TABLES[1:3] + LONG[:1]}, {"indices": _one_token}, why="one_token"),
    Spec("scatter_add", {"accumulate": TABLES[1:3]}, {"indices": _some_negative}, why="negative_passed_over"),
)

_TABLE = {"num_indices": TOKENS, "vocab_size": VOCAB, "embedding_dim": HIDDEN}
FACTS = (Facts("embedding", _TABLE, only_moves=True), Facts("scatter_add", _TABLE))
