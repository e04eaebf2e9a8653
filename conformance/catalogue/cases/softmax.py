"""Cases of softmax, the router's top-k, and their gradients."""

from __future__ import annotations

import reference
from conformance.catalogue.design.levels import sizes_to
from conformance.catalogue.factors import Design
from conformance.catalogue.facts import MOST_CHOSEN, MOST_EXPERTS, Facts, KnownSum, log
from conformance.catalogue.full_model import EXPERTS, TOKENS, TOP_K, VOCAB
from conformance.limits.choices import follow_routing

from .data import Draw
from .spec import (
    Arguments,
    Sizes,
    Spec,
    infinite_beside_the_chosen,
    nan_further_along,
    none_infinite,
    rows_apart,
    sizes,
    zeros_on_top,
)

EVERY = sizes("rows cols", (1, 2), (1, 33), (3, 31), (5, 257), (2, 1025), (64, 64), (7, 100))
TAILS = sizes("rows cols", (3, 8193), (127, 13), (2, 1031), (130, 5), (1, 40001))
SOME = sizes("rows cols", (3, 33), (2, 1025))
SHORT = sizes("rows cols", (31, 4), (17, 8), (9, 16), (7, 32), (67, 64))  # widths that ports have code of their own for
WIDE = sizes("rows cols", (3, 40), (3, 300), (2, 1030), (2, 8193))

CHOICES = sizes("rows cols k", (1, 2, 1), (7, 4, 2), (33, 16, 4), (5, 65, 8), (3, 8, 8), (2, 1025, 5), (257, 8, 2))
SHARED_CHOICES = sizes("rows cols k", (130, 130, 40))
MANY_CHOICES = sizes("rows cols k", (9, 70, 40))  # more than a warp has lanes
WIDE_CHOICES = sizes("rows cols k", (3, 40, 2), (2, 300, 3))
LEFT_CHOICES = sizes("rows cols k", (2, 3000, 40))  # more than are chosen, even with room to spare
FAR_CHOICES = sizes("rows cols k", (5, 3000, 40), (5, 1025, 3), (5, 40, 33), (5, 9001, 40))
TWO_PARTS = sizes("rows cols k", (1, 8193, 1))
LONG_CHOICES = sizes("rows cols k", (3, 40001, 16))  # rows of which a block holds no more than a part
SOME_CHOICES = sizes("rows cols k", (33, 16, 4), (5, 65, 8), (9, 33, 3))


def _probabilities(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    return {"output": reference.softmax(made["output"])}


def _routing(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
    logits = draw.of("logits").normal((sizes["rows"], sizes["cols"]))
    weights, indices = reference.softmax_topk(logits, sizes["k"])
    return {"weights": weights, "indices": indices}


SPECS = (
    Spec("softmax", {"plain": EVERY + SHORT, "tails": TAILS, "large": SOME + SHORT, "swamp": SOME}),
    Spec("softmax", {"masked": SOME + SHORT, "special": SOME + SHORT}),
    Spec("softmax", {"late": WIDE + SHORT + sizes("rows cols", (2, 65537))}, why="maximum_in_last_column"),
    Spec("softmax", {"beyond": WIDE}, why="overflow_before_the_maximum"),
    Spec("softmax", {"below": SOME + SHORT}, why="maximum_below_zero"),
    Spec("softmax", {"lowest": SOME + SHORT}, why="maximum_below_any_start"),
    Spec("softmax", {"degenerate": SOME}, why="constant_rows"),
    Spec("softmax", {"degenerate": sizes("rows cols", (33, 1), (1, 1))}, why="one_column"),
    Spec("softmax_backward", {"plain": EVERY + SHORT, "tails": TAILS, "late": SOME + SHORT}, finish=_probabilities),
    Spec("softmax_backward", {"exact": SOME, "cancel": SOME + SHORT}),
    Spec("softmax_backward", {"special": SOME + SHORT}, {"output": none_infinite}),
    Spec(
        "softmax_backward",
        {"plain": SOME + SHORT},
        finish=infinite_beside_the_chosen("output", "d_output"),
        why="a_probability_of_0_meets_infinity",
    ),
    Spec(
        "softmax_topk", {"plain": CHOICES + SHARED_CHOICES, "late": SOME_CHOICES + LONG_CHOICES, "tiny": SOME_CHOICES}
    ),
    Spec("softmax_topk", {"late": TWO_PARTS}, why="largest_in_the_second_part"),
    Spec("softmax_topk", {"beyond": WIDE_CHOICES}, why="overflow_before_the_maximum"),
    Spec("softmax_topk", {"lowest": SOME_CHOICES[:2]}, why="maximum_below_any_start"),
    Spec("softmax_topk", {"plain": SOME_CHOICES[:2]}, {"input": rows_apart}, why="rows_far_apart"),
    Spec("softmax_topk", {"exact": SOME_CHOICES}, why="ties_by_lower_index"),
    Spec("softmax_topk", {"lone_nan": MANY_CHOICES}, why="nan_is_the_largest"),  # of either sign, and not all chosen
    Spec("softmax_topk", {"plain": FAR_CHOICES}, {"input": nan_further_along}, why="nan_far_along"),
    Spec(
        "softmax_topk",
        {"plain": SOME_CHOICES + MANY_CHOICES + LEFT_CHOICES},
        {"input": zeros_on_top},
        why="zeros_are_equal",
    ),
    Spec("softmax_topk", {"ties": sizes("rows cols k", (64, 500, 3))}, why="ties_between_blocks"),
    Spec("softmax_topk", {"degenerate": SOME_CHOICES}, why="all_equal"),
    Spec(
        "softmax_topk_backward",
        {"plain": CHOICES[1:] + SHARED_CHOICES + LONG_CHOICES, "tails": SOME_CHOICES, "cancel": SOME_CHOICES},
        finish=_routing,
    ),
    Spec(
        "softmax_topk_backward",
        {"degenerate": sizes("rows cols k", (9, 33, 1))},
        finish=_routing,
        why="one_choice",
        trivial="a single weight is always 1",
    ),
)

_VOCABULARY = {"rows": TOKENS, "cols": VOCAB}
_ROUTER = {"rows": TOKENS, "cols": EXPERTS, "k": TOP_K}
FACTS = (
    Facts("softmax", _VOCABULARY, known_sums=(KnownSum("input", "output", "cols", log, lambda out, n: 1 / out),)),
    Facts("softmax_backward", _VOCABULARY),
    Facts(
        "softmax_topk",
        _ROUTER,
        longest_sum=MOST_CHOSEN,
        most_columns=MOST_EXPERTS,
        follow_choice=follow_routing,
        known_sums=(KnownSum("input", "weights", "cols", log, lambda out, n: 1 / out, also="k"),),
    ),
    Facts("softmax_topk_backward", _ROUTER, longest_sum=MOST_CHOSEN),
)

_FOLLOWS = {"from_logits": "plain"}  # replaced by what the forward pass gives
# Past the longest choice of any model another way of choosing begins: a sort, where there was a list of the largest.
_CHOSEN = {"k": (*sizes_to(MOST_CHOSEN), 33, 40, 65)}
DESIGNS = (
    Design("softmax_topk", sizes=_CHOSEN),
    Design("softmax_backward", finish=_probabilities),
    Design("softmax_topk_backward", arrays={"weights": _FOLLOWS, "indices": _FOLLOWS}, finish=_routing),
)
