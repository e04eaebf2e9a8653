"""Cases of attention, its gradient and the KV cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import reference
from conformance.catalogue.design.levels import FINITE
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import LARGEST_HEAD, Facts
from conformance.catalogue.full_model import BATCH, CAPACITY, HEAD_DIM, KV_HEADS, Q_HEADS, SCALE, SEQ

from .data import Array, Draw
from .spec import Arguments, Maker, Sizes, Spec, sizes

PAIR = "batch n_heads seq_len head_dim scale"
SCORES = sizes(
    PAIR, (1, 1, 2, 4, 0.5), (2, 3, 9, 4, 0.5), (2, 4, 33, 16, 0.25), (1, 3, 65, 32, 0.17), (3, 2, 17, 64, 0.125)
)
LONG_SCORES = sizes(
    PAIR, (1, 2, 5, 80, 0.11), (1, 1, 3, 192, 0.07), (1, 1, 1030, 4, 0.5), (1, 2, 33, 13, 0.28), (2, 3, 67, 16, 0.25)
)
MIXES = sizes(
    "batch n_heads seq_len head_dim", (1, 1, 2, 4), (2, 3, 9, 5), (2, 4, 33, 16), (1, 3, 65, 32), (3, 2, 17, 64)
)
LONG_MIXES = sizes("batch n_heads seq_len head_dim", (1, 2, 5, 80), (1, 1, 3, 192), (1, 1, 1030, 4))
NAMES = "batch n_q_heads n_kv_heads seq_len head_dim scale"
EVERY = sizes(
    NAMES,
    (1, 1, 1, 2, 4, 0.5),
    (2, 3, 1, 10, 6, 0.3),
    (2, 4, 1, 33, 16, 0.25),
    (1, 4, 2, 65, 64, 0.125),
    (1, 3, 3, 17, 32, 0.17),
    (2, 12, 1, 40, 64, 0.125),
    (1, 6, 2, 31, 8, 0.3),
)
TAILS = sizes(NAMES, (1, 8, 4, 130, 16, 0.25), (1, 2, 1, 257, 128, 0.088), (3, 5, 1, 1, 24, 0.2), (2, 3, 1, 11, 5, 0.4))
LONG = sizes(
    NAMES,
    (1, 2, 1, 9, 80, 0.11),
    (1, 2, 1, 5, 192, 0.07),
    (1, 1, 1, 1030, 4, 0.5),
    (1, 1, 1, 33, 8, 0.3),  # one query more than steps of 16 and of 32 hold, which no other head's queries follow
    (1, 1, 1, 17, 72, 0.1),
)
FEW = sizes(NAMES, (1, 2, 1, 17, 8, 0.3), (1, 6, 3, 65, 32, 0.17))
SOME = sizes(NAMES, (2, 4, 2, 9, 4, 0.5), (2, 4, 1, 33, 16, 0.25), (1, 6, 3, 65, 32, 0.17))
CACHED = sizes(
    "batch n_q_heads n_kv_heads q_len kv_len kv_capacity head_dim scale",
    (1, 4, 1, 1, 1, 8, 16, 0.25),
    (2, 4, 2, 1, 33, 40, 16, 0.25),
    (1, 3, 1, 7, 20, 20, 32, 0.17),
    (2, 12, 1, 5, 65, 80, 64, 0.125),
    (1, 2, 2, 33, 33, 33, 8, 0.3),
    (3, 4, 4, 16, 130, 257, 16, 0.25),
    (1, 2, 1, 2, 5, 7, 192, 0.07),
    (1, 1, 1, 1030, 1030, 1030, 4, 0.5),
    (1, 4, 1, 1, 600, 620, 16, 0.25),
    (2, 6, 2, 3, 17, 20, 8, 0.3),  # groups of three, which no shift divides by
    (1, 6, 2, 1, 18, 21, 20, 0.25),  # one or two queries, whose heads fill no vector
    (2, 3, 1, 2, 7, 7, 9, 0.3),
    (1, 4, 2, 9, 70, 80, 128, 0.088),  # heads whose tiles take a block more memory than it has unasked
    (1, 2, 1, 3, 21, 24, 100, 0.1),
    (1, 5, 1, 1, 256, 256, 64, 0.125),  # at a part's end and past it, by one and by more than half; heads past four
    (1, 5, 1, 1, 257, 260, 64, 0.125),
    (1, 6, 2, 1, 708, 712, 8, 0.25),
    (2, 5, 1, 1, 972, 980, 4, 0.25),
)
APPENDS = sizes(
    "batch new_len n_kv_heads head_dim kv_capacity position",
    (1, 1, 1, 4, 2, 1),
    (2, 1, 2, 16, 33, 17),
    (3, 5, 1, 64, 31, 0),
    (2, 7, 3, 8, 20, 13),
    (2, 70, 2, 16, 80, 5),
    (1, 3, 2, 80, 9, 2),
    (1, 3, 1, 192, 9, 2),
    (2, 130, 2, 40, 150, 7),
)


def _late_key(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Keys that grow along the sequence: each query's largest score is at its own position."""
    growth = np.linspace(0.0, 4.0, shape[1]).reshape(1, -1, *[1] * (len(shape) - 2))
    return draw.normal(shape) * 0.125 + growth


def _probabilities(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """Causal attention weights, as attention_scores and softmax leave them."""
    weights = made["weights"]
    hidden = np.arange(weights.shape[-1]) > np.arange(weights.shape[-2])[:, None]
    return {"weights": reference.softmax(np.where(hidden, -np.inf, weights))}


def _empty_cache_behind(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """What lies past kv_len was never written."""
    used = (np.arange(sizes["kv_capacity"]) < sizes["kv_len"])[:, None, None]
    return {name: np.where(used, made[name], np.nan) for name in ("K", "V")}


def _forward_first(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """The output and log-sum-exp that the gradient is taken at."""
    Q, K, V = (made[name] for name in ("Q", "K", "V"))
    output, lse = reference.attention_forward(Q, K, V, sizes["seq_len"], float(np.float32(sizes["scale"])))
    return {"output": output, "lse": lse}


def _around(size: float) -> Maker:
    """Numbers whose products with those around the negative make scores of -150: exp of them vanishes."""

    def make(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
        return np.asarray(draw.normal(shape) + size * np.sqrt(150.0 / (sizes["head_dim"] * sizes["scale"])))

    return make


_BELOW: dict[str, str | Maker] = {"Q": _around(1.0), "K": _around(-1.0), "V": "plain"}
_LATE: dict[str, str | Maker] = {"Q": "plain", "K": _late_key, "V": "plain"}


def _sink_key(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """The first key scores 14 more than the others: an attention sink (Xiao et al. 2023)."""
    made = draw.normal(shape) * 0.125
    made[:, :1, ..., 0] += 14.0
    return made


def _nothing_first(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Values of which the first is none, so that all there is comes of small weights."""
    made = draw.normal(shape) + 4.0
    made[:, :1] = 0.0
    return made


def _along_the_first(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return np.asarray((np.arange(shape[-1]) == 0) / sizes["scale"] + 0.0 * draw.normal(shape))


def _far_apart_from_zero(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Scores of 30000 in the first half of the keys and of 30001 in the other, whole numbers in any format."""
    later = np.arange(shape[1]) * 2 >= sizes.get("kv_len", shape[1])
    made = np.zeros(shape)
    made[..., 0], made[..., 1] = 30000.0, later[:, None]
    return made


def _along_the_first_two(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return np.broadcast_to((np.arange(shape[-1]) < 2) * 4.0, shape).copy()


def _faint_among_plain(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Numbers of size one, some of 2^-70: the product of two such is subnormal, which a unit may take for zero."""
    return np.where(draw.of("place").integers(0, 7, shape) == 0, 2.0**-70, 1.0) * draw.normal(shape)


_FAINT: dict[str, str | Maker] = {"Q": _faint_among_plain, "K": _faint_among_plain, "V": "plain"}
_SINK: dict[str, str | Maker] = {"Q": _along_the_first, "K": _sink_key, "V": _nothing_first}
_FAR: dict[str, str | Maker] = {"Q": _along_the_first_two, "K": _far_apart_from_zero, "V": "plain"}
WHOLE_SCORES = sizes(
    "batch n_q_heads n_kv_heads q_len kv_len kv_capacity head_dim scale", (1, 2, 1, 9, 144, 150, 32, 0.25)
)
# More keys than the parts that their walk is cut in have tiles, and so many blocks that no walk is cut: then a block
# walks several tiles of keys, each of which has a larger score than those before.
LONG_CACHE = sizes(
    "batch n_q_heads n_kv_heads q_len kv_len kv_capacity head_dim scale", (1, 2, 1, 2, 4300, 4301, 4, 0.5)
)
_PARTS = (256, 512, 768, 1024, 1280)
# Queries of which the first sees one key less than whole tiles, the last one or some of the next: of every width that
# kernels take keys by.
MASK_AT_TILES = sizes(
    "batch n_q_heads n_kv_heads q_len kv_len kv_capacity head_dim scale",
    *((1, 2 + tile // 512, 1, 2, tile + 1, tile + tile // 16, 4, 0.5) for tile in (16, 32, 64, 128, *_PARTS)),
    *((1, 2, 1, 9, tile + 5, tile + 5, 4, 0.5) for tile in (32, 64, 128, 256, 512)),
)
MANY_HEADS = sizes(NAMES, (30, 10, 10, 65, 2, 1.0))
WHOLE_SQUARE = sizes(NAMES, (1, 2, 1, 40, 8, 0.25))

SPECS = (
    Spec(
        "attention_scores",
        {"plain": SCORES, "tails": LONG_SCORES, "exact": SCORES[1:3], "swamp": SCORES[1:4], "cancel": SCORES[1:4]},
    ),
    # A masked score is -inf whatever stands behind it: the mask replaces, it is not added.
    Spec("attention_scores", {"special": SCORES[1:3]}, {"Q": "plain"}),
    Spec(
        "attention_output",
        {"plain": MIXES, "tails": MIXES[1:] + LONG_MIXES, "cancel": MIXES[1:4]},
        finish=_probabilities,
    ),
    Spec("flash_attention", {"plain": EVERY, "tails": TAILS + LONG, "large": SOME, "swamp": SOME}),
    # Special values in Q alone: a masked key may be read (0 times NaN) or not, so its value must not matter.
    Spec("flash_attention", {"special": SOME[:2]}, {"K": "plain", "V": "plain"}),
    Spec("flash_attention", {"late": SOME + TAILS[:1] + MANY_HEADS}, _LATE, why="largest_score_last"),
    Spec("flash_attention", {"below": SOME}, _BELOW, why="maximum_below_zero"),
    Spec("attention_forward", {"below": CACHED[1:4]}, _BELOW, finish=_empty_cache_behind, why="maximum_below_zero"),
    Spec("attention_forward", {"plain": CACHED, "swamp": CACHED[1:4], "tails": CACHED}, finish=_empty_cache_behind),
    Spec(
        "attention_forward",
        {"late": CACHED[1:4] + LONG_CACHE},
        _LATE,
        finish=_empty_cache_behind,
        why="largest_score_last",
    ),
    Spec("attention_forward", {"plain": MASK_AT_TILES}, finish=_empty_cache_behind, why="mask_at_tiles"),
    Spec("attention_forward", {"plain": CACHED[1:4]}, _SINK, finish=_empty_cache_behind, why="sink"),
    Spec("attention_forward", {"plain": WHOLE_SCORES}, _FAR, finish=_empty_cache_behind, why="scores_far_from_zero"),
    Spec("attention_forward", {"plain": CACHED[4:6]}, _FAINT, finish=_empty_cache_behind, why="products_below_normal"),
    Spec("attention_backward", {"plain": EVERY, "tails": TAILS[:2] + TAILS[3:] + LONG}, finish=_forward_first),
    Spec("attention_backward", {"late": SOME}, _LATE, finish=_forward_first, why="largest_score_last"),
    Spec("attention_backward", {"plain": FEW}, _FAINT, finish=_forward_first, why="products_below_normal"),
    Spec("attention_backward", {"plain": SOME}, _SINK, finish=_forward_first, why="sink"),
    Spec("attention_backward", {"plain": WHOLE_SQUARE}, _FAR, finish=_forward_first, why="scores_far_from_zero"),
    Spec("kv_cache_append", {"plain": APPENDS, "special": APPENDS[1:]}, signed_zeros=True),
)

_HEADS = {"batch": BATCH, "n_heads": Q_HEADS, "seq_len": SEQ, "head_dim": HEAD_DIM}
_GROUPED = {"batch": BATCH, "n_q_heads": Q_HEADS, "n_kv_heads": KV_HEADS}
_CAUSAL = {**_GROUPED, "seq_len": SEQ, "head_dim": HEAD_DIM, "scale": SCALE}
_DECODE = {**_GROUPED, "q_len": 1, "kv_len": SEQ, "kv_capacity": CAPACITY, "head_dim": HEAD_DIM, "scale": SCALE}
_APPEND = {
    **{"batch": BATCH, "new_len": SEQ, "n_kv_heads": KV_HEADS, "head_dim": HEAD_DIM},
    **{"kv_capacity": CAPACITY, "position": 0},
}
FACTS = (
    Facts("attention_scores", {**_HEADS, "scale": SCALE}, multiplies=True, longest_sum=LARGEST_HEAD),
    Facts("attention_output", _HEADS, multiplies=True),
    Facts("flash_attention", _CAUSAL, multiplies=True),
    Facts("attention_backward", _CAUSAL, multiplies=True),
    Facts("attention_forward", _DECODE, multiplies=True),
    Facts("kv_cache_append", _APPEND),
)

_SCALES = {"scale": (0.125, 1.0, 0.5, 0.0, -0.25)}
_HEADS_TO_KV = {"n_q_heads": (), "group": (1, 2, 3, 4, 5, 7, 8, 12, 16, 32, 33, 64, 71)}
_PASTS = (0, 1, 2, 7, 15, 16, 31, 32, 33, 63, 64, 127, 128, 129, 255, 256, 511, 600, 1025, 4097)
_CACHE = {"kv_len": (), "kv_capacity": (), "past": _PASTS}


def _grouped(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Query heads, by group."""
    return {**row, "n_q_heads": row["n_kv_heads"] * row["group"]} if "group" in row else row


def _cached(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Keys before the queries, and room behind them."""
    seen = row["past"] + row["q_len"]
    return {**_grouped(row), "kv_len": seen, "kv_capacity": seen + row["spare"]}


def _appended(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A cache as long as what is there, what comes and what is left."""
    return {**row, "kv_capacity": row["position"] + row["new_len"] + row["spare"]}


def _square(sizes: Sizes) -> float:
    """Multiplications of scores, or of what they weigh; a score's exponential counts as eight of them."""
    heads = sizes.get("n_q_heads", sizes.get("n_heads", 1))
    keys = sizes.get("kv_len", sizes.get("seq_len", 1))
    return float(sizes["batch"] * heads * sizes.get("q_len", keys) * keys * max(8, sizes["head_dim"]))


# Scores of huge numbers overflow in some orders; a masked key or value may be read (0 times it) or not.  Where queries
# and keys both span many powers of two scores err by more than exp can bear.
_SCORED: dict[str, str | Maker] = {value: value for value in FINITE if value != "huge"}
_SEEN: dict[str, dict[str, str | Maker]] = {
    "Q": {**_SCORED, "special": "special", "signed": "signed"},
    "K": {value: value for value in _SCORED if value != "range"},
    "V": _SCORED,
}
_SPARE = {"spare": (0, 1, 5, 64, 1000)}
# Replaced by what the forward pass gives.
_READ: dict[str, dict[str, str | Maker]] = {
    **_SEEN,
    "output": {"forward": "plain"},
    "lse": {"forward": "plain"},
    "d_output": _SCORED,
}
DESIGNS = (
    Design("attention_scores", scalars=_SCALES, arrays={"Q": _SEEN["Q"], "K": _SEEN["Q"]}, work=_square),
    Design("attention_output", arrays={"weights": {"from_scores": "plain"}}, finish=_probabilities, work=_square),
    Design("flash_attention", _HEADS_TO_KV, _SCALES, _SEEN, _grouped, work=_square),
    Design(
        "attention_forward",
        {**_HEADS_TO_KV, **_CACHE, **_SPARE},
        _SCALES,
        _SEEN,
        _cached,
        finish=_empty_cache_behind,
        work=_square,
    ),
    Design("attention_backward", _HEADS_TO_KV, _SCALES, _READ, _grouped, _forward_first, _square),
    Design("kv_cache_append", {"kv_capacity": (), **_SPARE}, {"position": (0, 1, 5, 63, 1000)}, derive=_appended),
)
