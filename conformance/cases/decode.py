"""Cases of the decoding strategies: one decision a row, over many rows."""

from __future__ import annotations

from typing import Any

from .spec import Spec, seeds, sizes

EVERY = sizes("batch vocab_size", (40, 2), (33, 33), (64, 257), (17, 1025), (5, 8193))
SOME = sizes("batch vocab_size", (64, 33), (65, 130))


def _times(rows: list[dict[str, Any]], **values: Any) -> list[dict[str, Any]]:
    """Every row with every value of one scalar."""
    [(name, choices)] = values.items()
    return [{**row, name: value} for row in rows for value in choices]


_HEAT = _times(EVERY, temperature=(1.0, 0.5, 1.7))
_WARM = _times(SOME, temperature=(1.0, 0.7))
_GREEDY = _times(SOME, temperature=(0.0,))
_TOPK = _times(_times(EVERY, k=(1, 5, 40)), temperature=(1.0,)) + _times(_times(SOME, k=(3,)), temperature=(0.6,))
_WHOLE = _times(_times(SOME, k=(10000,)), temperature=(1.0,))
_TOPP = _times(_times(EVERY, top_p=(0.1, 0.9)), temperature=(1.0,)) + _times(
    _times(SOME, top_p=(0.5, 1.0, 1.5, 0.0, -1.0)), temperature=(0.8,)
)
_SEEDS = {"seeds": seeds}

SPECS = (
    Spec("argmax", {"plain": EVERY, "late": EVERY, "range": SOME, "special": SOME, "large": SOME}),
    Spec("argmax", {"exact": SOME}, why="ties_by_lower_index"),
    Spec("sample", {"plain": _HEAT, "late": _WARM, "large": _WARM, "masked": _WARM}, _SEEDS),
    Spec("sample", {"degenerate": _WARM}, _SEEDS, why="uniform"),
    Spec("sample", {"plain": _GREEDY}, _SEEDS, why="greedy"),
    Spec("topk_sample", {"plain": _TOPK, "late": _TOPK[-2:], "masked": _TOPK[-2:]}, _SEEDS),
    Spec("topk_sample", {"exact": _TOPK[-2:]}, _SEEDS, why="ties_by_lower_index"),
    Spec("topk_sample", {"plain": _WHOLE}, _SEEDS, why="k_above_vocab"),
    Spec("topk_sample", {"plain": _times(_GREEDY, k=(4,))}, _SEEDS, why="greedy"),
    Spec("topp_sample", {"plain": _TOPP, "late": _TOPP[-4:], "masked": _TOPP[-4:]}, _SEEDS),
    Spec("topp_sample", {"exact": _TOPP[-4:]}, _SEEDS, why="ties_by_lower_index"),
    Spec("topp_sample", {"plain": _times(_GREEDY, top_p=(0.9,))}, _SEEDS, why="greedy"),
)
