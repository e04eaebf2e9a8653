"""Outputs that are choices: which may differ from the reference's, and what follows from the choice made.

A choice is right when it is the reference's, or when the entries it confuses differ by less than the noise of the
scores the choice is made by; of exactly equal entries the first comes first (they have a rule, and it is not noise).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference

from .measure import SIGMAS
from .noise import Noisy, exact

Array = NDArray[Any]
Arguments = Mapping[str, Any]
ROUTING = "softmax_topk"  # the operation by which the model routes


def follow_routing(arguments: Arguments, expected: dict[str, Any], got: Mapping[str, Array]) -> dict[str, Any]:
    """Top-k by softmax probability: two entries may change places while their probabilities lie within the noise."""
    chosen = got["indices"]
    if chosen.shape != expected["indices"].shape or np.array_equal(chosen, expected["indices"]):
        return expected
    probabilities: Any = reference.softmax(_noisy(arguments["input"]))
    columns = probabilities.shape[1]
    distinct = np.array([len(set(row)) == len(row) for row in chosen.tolist()])
    in_range = ((chosen >= 0) & (chosen < columns)).all(axis=1)
    safe = np.where(chosen >= 0, chosen, 0) % columns
    mine: Any
    due: Any
    mine, due = (np.take_along_axis(probabilities, i, axis=1) for i in (safe, expected["indices"]))
    gap, window = np.abs(mine.v - due.v), _window(mine, due)
    fine = (safe == expected["indices"]) | (gap <= window) | (np.isfinite(gap) & ~np.isfinite(window))
    accepted = fine.all(axis=1) & distinct & in_range & _equals_in_order(_noisy(arguments["input"]).v, safe)
    indices = np.where(accepted[:, None], safe, expected["indices"]).astype(np.int32)
    taken = np.take_along_axis(probabilities, indices, axis=1)
    return {"weights": taken / np.sum(taken, axis=-1, keepdims=True), "indices": indices}


def follow_router(arguments: Arguments, expected: dict[str, Any], got: Mapping[str, Array]) -> dict[str, Any]:
    """As follow_routing; the counts, and the loss, are of the experts that were chosen."""
    logits = arguments["logits"]
    followed = follow_routing({"input": logits}, expected, got)
    if followed is expected:
        return expected
    probabilities: Any = reference.softmax(_noisy(logits))
    aux_loss, f_counts, _ = reference.aux_loss_forward(probabilities, followed["indices"], arguments["alpha"])
    return {**expected, **followed, "aux_loss": aux_loss, "f_counts": f_counts}


def _equals_in_order(scores: Array, chosen: Array) -> NDArray[np.bool_]:
    """Say of each row whether, of equal scores, the first are chosen, and the first first."""
    rows, k = chosen.shape
    ranks = np.full(scores.shape, k)
    np.put_along_axis(ranks, chosen, np.broadcast_to(np.arange(k), (rows, k)), axis=1)
    order = np.argsort(scores, axis=1, kind="stable")
    scores, ranks = (np.take_along_axis(part, order, axis=1) for part in (scores, ranks))
    overtaken = (scores[:, 1:] == scores[:, :-1]) & (ranks[:, 1:] < k) & (ranks[:, :-1] >= ranks[:, 1:])
    return np.asarray(~np.any(overtaken, axis=1))


def _noisy(scores: Any) -> Noisy:
    return scores if isinstance(scores, Noisy) else exact(scores)


def _window(*scores: Any) -> Array:
    """How far apart scores, or one and its boundary, may be and still change places."""
    leans = [score.lean for score in scores if score.lean is not None]
    return np.asarray(SIGMAS * np.sqrt(sum(score.variance for score in scores)) + sum(leans))


def near_choices(logits: Any, k: int) -> int:
    """Count the top-k choices between neighbours in rank whose probabilities lie within the noise."""
    probabilities: Any = reference.softmax(logits)
    order = np.argsort(-probabilities.v, axis=1)
    ranked: Any = np.take_along_axis(probabilities, order, axis=1)
    pairs = min(k, ranked.shape[1] - 1)  # behind the last of all there is no other
    better, next_one = ranked[:, :pairs], ranked[:, 1 : pairs + 1]
    return int((better.v - next_one.v <= _window(better, next_one)).sum())


def follow_sampling(arguments: Arguments, expected: dict[str, Any], got: Mapping[str, Array]) -> dict[str, Any]:
    """A walk over cumulative probabilities may stop one entry off where u lies within the noise of the boundary.

    Where the probabilities are no numbers, any column is right: the header leaves it open.
    """
    choice, due = got["output"], expected["output"]
    if choice.shape != due.shape or np.array_equal(choice, due) or not arguments["temperature"] > 0:
        return expected
    settled = due.copy()
    columns = arguments["logits"].shape[1]
    for row in np.flatnonzero(choice != due):
        if not (0 <= choice[row] < columns and _may_stop_at(arguments, int(row), int(choice[row]))):
            break  # one wrong choice decides
        settled[row] = choice[row]
    return {"output": settled}


def _may_stop_at(arguments: Arguments, row: int, choice: int) -> bool:
    logits = arguments["logits"][row : row + 1]
    if not np.isfinite(np.max(logits)):  # all are less by the largest, which makes no number of any probability
        return True
    u = float(_uniform(_same_draw(arguments["seeds"], row)[0]))
    probabilities, order = _walked(arguments, logits)
    if not np.all(np.isfinite(probabilities.v) & np.isfinite(probabilities.variance)):
        return True
    if not probabilities.v[choice] > 0:
        return False
    early, late = _ranked(order, logits[0], probabilities, choice) if "top_p" in arguments else (order, order)
    lengths = _prefixes(arguments.get("top_p", 1.0), probabilities[order])
    return any(_may_end_at(u, choice, early[:length], late[:length], probabilities) for length in lengths)


@np.errstate(invalid="ignore")  # infinite logits make probabilities that are no numbers: then any choice may stand
def _walked(arguments: Arguments, logits: Array) -> tuple[Any, Array]:
    """The probability of every column, and the columns in the order that they are walked in."""
    hot: Any = exact(logits) / exact(arguments["temperature"])  # in either order: the larger error is that of this one
    shifted = hot - np.max(hot)
    if "k" in arguments:
        order = np.argsort(-logits[0], kind="stable")[: arguments["k"]]
        chosen: Any = reference.softmax(shifted[:, order])[0]
        slot = np.full(logits.shape[1], len(order))  # which of the chosen a column is; the one behind them for none
        slot[order] = np.arange(len(order))
        return np.concatenate([chosen, np.zeros_like(chosen[:1])])[slot], order
    probabilities: Any = reference.softmax(shifted)[0]
    if "top_p" in arguments:
        return probabilities, np.argsort(-probabilities.v, kind="stable")
    return probabilities, np.arange(logits.shape[1])


def _ranked(order: Array, logits: Array, probabilities: Any, choice: int) -> tuple[Array, Array]:
    """The order with the choice before, and behind, every column whose probability lies within the noise of its own.

    Columns of one logit have a rule.  Others may have equal probabilities in one precision, and not in another.
    """
    mine = probabilities[[choice]]
    near = (logits != logits[choice]) & (np.abs(probabilities.v - mine.v) <= _window(probabilities, mine))
    place = int(np.flatnonzero(order == choice)[0])
    places, others = [place, *np.flatnonzero(near[order]).tolist()], np.delete(order, place)
    return np.insert(others, min(places), choice), np.insert(others, max(places), choice)


def _prefixes(top_p: float, ranked: Any) -> list[int]:
    """How many columns may be walked: all, or as many as reach top_p, as far as the noise can tell."""
    count = len(ranked)
    if top_p >= 1:
        return [count]
    ends: Any = np.cumsum(ranked, axis=0)
    near = np.flatnonzero((np.abs(ends.v - top_p) <= _window(ends)) & (ends.variance > 0))
    due = min(int(np.argmax(ends.v >= top_p)), count - 1) if top_p > 0 else 0
    lasts = {due, *near.tolist(), *(near + 1).tolist()}
    return [last + 1 for last in sorted(lasts) if last < count]


def _may_end_at(u: float, choice: int, early: Array, late: Array, probabilities: Any) -> bool:
    """Whether u may lie in the choice's part: from where it begins in the early order to where it ends in the late."""
    if choice not in early:
        return False
    begins, ends = _ends(early, probabilities), _ends(late, probabilities)
    before = int(np.flatnonzero(early == choice)[0]) - 1
    last = int(np.flatnonzero(late == choice)[0]) if choice in late else len(late) - 1
    after_begin = before < 0 or u >= begins.v[before] - _window(begins)[before]
    return bool(after_begin and (last == len(late) - 1 or u < ends.v[last] + _window(ends)[last]))


def _ends(order: Array, probabilities: Any) -> Any:
    """Cumulative probabilities of what is walked, which sum to 1."""
    walked = probabilities[order]
    if len(walked) < np.count_nonzero(probabilities.v):
        walked = walked / np.sum(walked, axis=0, keepdims=True)
    return np.cumsum(walked, axis=0)


def _same_draw(seeds: Array, row: int) -> Array:
    """The seed that draws, as row 0, what the given one draws as this row."""
    return seeds[row : row + 1] ^ np.uint64(row * 12345)


def _uniform(seed: np.uint64) -> float:
    state = (int(seed) & 0xFFFFFFFF) * 1664525 + 1013904223 & 0xFFFFFFFF
    return (state >> 8) * 2.0**-24
