"""Cases of routing: laying tokens out by expert, dispatch, combination, and the auxiliary loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import reference
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import MOST_CHOSEN, MOST_EXPERTS, Facts, KnownSum, log
from conformance.catalogue.full_model import AUX_ALPHA, EXPERTS, HIDDEN, TOKENS, TOP_K
from conformance.limits.choices import follow_router

from .data import Array, Draw
from .spec import Arguments, Maker, Sizes, Spec, ids, permutation, rows_apart, scaled, sizes, zeros_on_top

ROUTES = sizes(
    "tokens top_k n_experts",
    (2, 1, 2),
    (33, 2, 4),
    (64, 4, 16),
    (7, 3, 65),
    (257, 2, 8),
    (1025, 1, 3),
    (1, 4, 4),
    (9, 2, 300),
)
ROWS = sizes(
    "tokens top_k hidden_dim",
    (5, 2, 3),
    (33, 2, 17),
    (12, 3, 36),  # rows of fours and of no eights: sixteen bytes of float32, not of 16 bits
    (64, 4, 64),
    (5, 3, 257),
    (257, 2, 8),
    (31, 1, 1025),
    (11, 3, 13),
)
# More pairs than a block sorts: equal experts stand in several of its tiles.
_MANY_ROUTES = sizes("tokens top_k n_experts", (2100, 3, 5), (8300, 1, 300))
_MORE_THAN_SIXTEEN_BITS = sizes("tokens top_k n_experts", (1500, 1, 3), (65_700, 1, 3))  # rows of one expert
SOME_ROWS = sizes("tokens top_k hidden_dim", (33, 2, 17), (64, 4, 64))
BALANCE = sizes(
    "batch_seq n_experts top_k alpha",
    (2, 3, 1, 0.01),
    (33, 4, 2, 0.01),
    (257, 16, 4, 0.1),
    (1025, 8, 2, 0.01),
    (64, 65, 3, 1.0),
    (70, 300, 4, 0.1),
    (5, 4, 4, 1.0),
    (300, 65, 2, 0.1),
)
SPREAD = sizes(
    "batch_seq n_experts alpha scale",
    (3, 5, 0.01, 1.0),
    (33, 4, 0.01, 1.0),
    (257, 16, 0.1, 0.5),
    (64, 65, 1.0, -2.0),
    (5, 300, 0.1, 1.0),
    (257, 80, 0.1, 1.0),
    (65538, 2, 1.0, 1.0),  # so many that their square has more than 32 bits
)


ROUTERS = sizes(
    "tokens n_experts top_k alpha",
    (1, 2, 1, 0.01),
    (7, 4, 2, 0.01),
    (33, 16, 4, 0.1),
    (65, 65, 8, 1.0),
    (3, 8, 8, 0.5),
    (300, 8, 2, 0.01),
    (1030, 5, 1, 0.1),
    (2100, 5, 2, 0.1),  # more tiles of 64 tokens than a warp has lanes
)
WIDE_ROUTERS = sizes("tokens n_experts top_k alpha", (9, 130, 40, 0.1), (5, 512, 3, 0.1), (70, 600, 4, 1.0))
_TIED = sizes("tokens n_experts top_k alpha", (4, 500, 3, 0.1), (64, 500, 3, 0.1))
SOME_ROUTERS = sizes("tokens n_experts top_k alpha", (33, 16, 4, 0.1), (5, 65, 8, 1.0), (9, 33, 3, 0.5))
ROUTED = sizes(
    "tokens n_experts top_k alpha scale",
    (2, 3, 1, 1.0, 1.0),
    (7, 4, 2, 3.0, 1.0),
    (33, 16, 4, 30.0, 0.5),
    (65, 65, 8, 10.0, -2.0),
    (3, 8, 8, 1.0, 1.0),
    (300, 8, 2, 300.0, 0.5),
    (9, 130, 40, 10.0, 1.0),
    (5, 1030, 3, 1.0, 1.0),
    (1030, 33, 3, 300.0, 0.5),  # so many numbers that threads share them
    (5, 17, 3, 3.0, 0.5),
    (2, 8201, 3, 30.0, 1.0),  # a row of which a block holds no more than a part
    (65538, 2, 1, 300.0, 1.0),  # so many tokens that their square has more than 32 bits
)
SOME_ROUTED = ROUTED[1:4]


def _distinct(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """For each token different experts, in no particular order."""
    return np.argsort(draw.uniform((shape[0], sizes["n_experts"])), axis=1)[:, : shape[1]]


def _crowded(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every token to the same, last, experts: the others own no row."""
    return np.broadcast_to(sizes["n_experts"] - 1 - np.arange(shape[1]), shape)


def _to_the_second(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every token to the second expert, but for one in a thousand, which goes to the first."""
    return np.asarray(np.arange(shape[0])[:, None] % 1000 != 999, np.int32) + np.zeros(shape, np.int32)


def _to_the_last(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Logits by which every token chooses the last experts: the others are given none."""
    chosen = np.arange(shape[1]) >= shape[1] - sizes["top_k"]
    return np.asarray(draw.normal(shape) + np.where(chosen, 16.0, 0.0))


def _probabilities(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    return {"router_probs": reference.softmax(made["router_probs"])}


def _routed(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    """What topk_router gives of logits."""
    weights, indices, probs, _, f_counts, _ = reference.topk_router(made["probs"], sizes["top_k"], 1.0)
    return {"weights": weights, "indices": indices, "probs": probs, "f_counts": f_counts}


def _counts(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """How many tokens chose each expert: some none, the last one some."""
    chosen = (draw.of("some").integers(0, 2, shape) == 1) | (np.arange(shape[0]) == shape[0] - 1)
    return np.where(chosen, draw.integers(1, sizes["batch_seq"] + 1, shape), 0)


def _rows(operation: str) -> Spec:
    data = {"plain": ROWS, "tails": ROWS[4:], "exact": SOME_ROWS, "range": SOME_ROWS, "cancel": SOME_ROWS}
    return Spec(operation, data | {"special": SOME_ROWS[:1]}, {"position": permutation})


SPECS = (
    Spec("expert_sort", {"plain": ROUTES}, {"indices": _distinct}),
    Spec(
        "expert_sort", {"plain": sizes("tokens top_k n_experts", (5, 1, 1))}, {"indices": _distinct}, why="one_expert"
    ),
    Spec("expert_sort", {"tails": ROUTES[1:5]}, {"indices": ids("n_experts")}, why="repeated_choices"),
    Spec("expert_sort", {"ties": _MANY_ROUTES}, {"indices": ids("n_experts")}, why="many_pairs_to_few"),
    Spec("expert_sort", {"degenerate": ROUTES[1:5]}, {"indices": _crowded}, why="experts_without_tokens"),
    Spec("expert_sort", {"degenerate": _MORE_THAN_SIXTEEN_BITS}, {"indices": _to_the_second}, why="most_to_one"),
    Spec(
        "expert_dispatch",
        {"plain": ROWS, "special": SOME_ROWS, "signed": SOME_ROWS},
        {"position": permutation},
        signed_zeros=True,
    ),
    _rows("expert_dispatch_backward"),
    _rows("expert_combine"),
    _rows("expert_combine_backward"),
    Spec("aux_loss_forward", {"plain": BALANCE, "large": BALANCE[1:3]}, {"expert_indices": _distinct}, _probabilities),
    Spec(
        "aux_loss_forward",
        {"degenerate": BALANCE[1:4]},
        {"expert_indices": _crowded},
        _probabilities,
        why="experts_without_tokens",
    ),
    Spec(
        "aux_loss_forward",
        {"tails": BALANCE[1:5]},
        {"expert_indices": ids("n_experts")},
        _probabilities,
        why="repeated_choices",
    ),
    Spec("aux_loss_backward", {"plain": SPREAD}, {"f_counts": _counts}),
    Spec("topk_router_backward", {"plain": ROUTED, "tails": ROUTED[5:10], "cancel": SOME_ROUTED}, finish=_routed),
    Spec(
        "topk_router_backward",
        {"tiny": SOME_ROUTED},
        {"d_weights": scaled("plain", 0.0)},
        _routed,
        why="auxiliary_loss_alone",
    ),
    Spec(
        "topk_router_backward",
        {"tails": [{**row, "scale": 0.0} for row in SOME_ROUTED]},
        finish=_routed,
        why="weights_alone",
    ),
    Spec("topk_router", {"plain": ROUTERS + WIDE_ROUTERS, "tails": ROUTERS[5:7], "tiny": SOME_ROUTERS}),
    Spec("topk_router", {"late": SOME_ROUTERS, "large": SOME_ROUTERS, "special": SOME_ROUTERS}),
    Spec("topk_router", {"beyond": WIDE_ROUTERS}, why="overflow_before_the_maximum"),
    Spec("topk_router", {"below": SOME_ROUTERS}, why="maximum_below_zero"),
    Spec("topk_router", {"lowest": SOME_ROUTERS[:2]}, why="maximum_below_any_start"),
    Spec("topk_router", {"plain": SOME_ROUTERS[:2]}, {"logits": rows_apart}, why="rows_far_apart"),
    Spec("topk_router", {"exact": SOME_ROUTERS}, why="ties_by_lower_index"),
    Spec("topk_router", {"lone_nan": WIDE_ROUTERS[:1]}, why="nan_is_the_largest"),
    Spec("topk_router", {"plain": SOME_ROUTERS + WIDE_ROUTERS[:1]}, {"logits": zeros_on_top}, why="zeros_are_equal"),
    Spec("topk_router", {"ties": _TIED}, why="ties_between_blocks"),
    Spec("topk_router", {"degenerate": SOME_ROUTERS}, why="all_equal"),
    Spec("topk_router", {"plain": SOME_ROUTERS}, {"logits": _to_the_last}, why="experts_without_tokens"),
)

_ROUTED = {"tokens": TOKENS, "top_k": TOP_K, "hidden_dim": HIDDEN}
_LOAD = {"batch_seq": TOKENS, "n_experts": EXPERTS}
FACTS = (
    Facts("expert_sort", {"tokens": TOKENS, "top_k": TOP_K, "n_experts": EXPERTS}),
    Facts("expert_dispatch", _ROUTED, only_moves=True, permutation="position"),
    Facts("expert_dispatch_backward", _ROUTED, longest_sum=MOST_CHOSEN),
    Facts("expert_combine", _ROUTED, multiplies=True, longest_sum=MOST_CHOSEN),
    Facts("expert_combine_backward", _ROUTED, multiplies=True, factors=("input", "d_output"), permutation="position"),
    Facts("aux_loss_forward", {**_LOAD, "top_k": TOP_K, "alpha": AUX_ALPHA}),
    Facts(
        "topk_router",
        {"tokens": TOKENS, "n_experts": EXPERTS, "top_k": TOP_K, "alpha": AUX_ALPHA},
        longest_sum=MOST_CHOSEN,
        most_columns=MOST_EXPERTS,
        follow_choice=follow_router,
        known_sums=(KnownSum("logits", "weights", "n_experts", log, lambda out, n: 1 / out, also="top_k"),),
    ),
    Facts(
        "topk_router_backward",
        {"tokens": TOKENS, "n_experts": EXPERTS, "top_k": TOP_K, "alpha": AUX_ALPHA, "scale": 1.0},
        longest_sum=MOST_CHOSEN,
        most_columns=MOST_EXPERTS,
    ),
    Facts("aux_loss_backward", {**_LOAD, "alpha": AUX_ALPHA, "scale": 1.0}),
)


def _in_place(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every row where it was."""
    return np.arange(np.prod(shape)).reshape(shape)


def _backwards(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """The last row first."""
    return _in_place(draw, shape, sizes).reshape(-1)[::-1].reshape(shape)


def _by_turns(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Each token's experts follow those of the token before it."""
    return np.asarray(_in_place(draw, shape, sizes) % sizes["n_experts"])


def _one_count(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every token to the first expert."""
    return np.where(np.arange(shape[0]) == 0, sizes["batch_seq"], 0)


def _more_than_chosen(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """So many experts that a token can choose different ones."""
    return {**row, "n_experts": row["top_k"] + row["others"]}


_POSITIONS: dict[str, str | Maker] = {"any": permutation, "in_place": _in_place, "backwards": _backwards}
_CHOSEN: dict[str, str | Maker] = {
    "any": _distinct,
    "crowded": _crowded,
    "by_turns": _by_turns,
    "repeated": ids("n_experts"),  # a token that names an expert twice holds it once
}
_OTHERS = {"n_experts": (), "others": (0, 1, 2, 5, 12, 31, 61, 126, 256, 480)}
_MOVES = ("expert_dispatch", "expert_dispatch_backward", "expert_combine", "expert_combine_backward")
DESIGNS = (
    *(Design(operation, arrays={"position": _POSITIONS}) for operation in _MOVES),
    Design(
        "aux_loss_forward",
        _OTHERS,
        {"alpha": (0.01, 1.0, 0.0)},
        {"expert_indices": _CHOSEN},
        _more_than_chosen,
        _probabilities,
    ),
    Design("topk_router", _OTHERS, {"alpha": (0.01, 1.0, 0.0)}, derive=_more_than_chosen),
    Design(
        "topk_router_backward",
        _OTHERS,
        {"alpha": (0.01, 1.0, 0.0)},
        {name: {"from_logits": "plain"} for name in ("weights", "indices", "f_counts")},
        _more_than_chosen,
        _routed,
    ),
    Design("aux_loss_backward", arrays={"f_counts": {"some": _counts, "one": _one_count}}),
)
