"""Outputs that are choices: which may differ from the reference's, and what follows from the choice made.

A choice is right when it is the reference's, or when the entries it confuses differ by less than the noise of the
scores the choice is made by, and are not exactly equal (equal entries have a rule, and the rule is not noise).
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
    gap = np.abs(mine.v - due.v)
    window = _window(mine, due)
    fine = (safe == expected["indices"]) | ((gap > 0) & (gap <= window))
    accepted = fine.all(axis=1) & distinct & in_range
    indices = np.where(accepted[:, None], safe, expected["indices"]).astype(np.int32)
    taken = np.take_along_axis(probabilities, indices, axis=1)
    return {"weights": taken / np.sum(taken, axis=-1, keepdims=True), "indices": indices}


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
    gaps = ranked.v[:, :k] - ranked.v[:, 1 : k + 1]
    window = _window(ranked[:, :k], ranked[:, 1 : k + 1])
    return int((gaps <= window).sum())


def follow_sampling(arguments: Arguments, expected: dict[str, Any], got: Mapping[str, Array]) -> dict[str, Any]:
    """A walk over cumulative probabilities may stop one entry off where u lies within the noise of the boundary."""
    choice, due = got["output"], expected["output"]
    if choice.shape != due.shape or np.array_equal(choice, due) or not arguments["temperature"] > 0:
        return expected
    settled = due.copy()
    for row in np.flatnonzero(choice != due):
        if not _may_stop_at(arguments, int(row), int(choice[row])):
            break  # one wrong choice decides
        settled[row] = choice[row]
    return {"output": settled}


def _may_stop_at(arguments: Arguments, row: int, choice: int) -> bool:
    logits = arguments["logits"][row : row + 1]
    seeds = _same_draw(arguments["seeds"], row)
    u = float(_uniform(seeds[0]))
    for order, probabilities in _walks(arguments, logits):
        places = np.flatnonzero(order == choice)
        if not len(places) or not probabilities.v[places[0]] > 0:
            continue
        ends: Any = np.cumsum(probabilities, axis=0)
        place = int(places[0])
        window = _window(ends)
        above = u < ends.v[place] + window[place] or place == len(order) - 1
        below = place == 0 or u >= ends.v[place - 1] - window[place - 1]
        if above and below:
            return True
    return False


def _walks(arguments: Arguments, logits: Array) -> list[tuple[Array, Any]]:
    """Return every admissible order of entries with their probabilities: one, or one for each prefix top-p may keep."""
    hot: Any = exact(logits) / exact(arguments["temperature"])  # in either order: the larger error is that of this one
    shifted = hot - np.max(hot)
    if "k" in arguments:
        order = np.argsort(-logits[0], kind="stable")[: arguments["k"]]
        return [(order, reference.softmax(shifted[:, order])[0])]
    probabilities = reference.softmax(shifted)[0]
    if "top_p" not in arguments:
        return [(np.arange(logits.shape[1]), probabilities)]
    order = np.argsort(-probabilities.v, kind="stable")
    ranked = probabilities[order]
    if arguments["top_p"] >= 1:
        return [(order, ranked)]
    ends: Any = np.cumsum(ranked, axis=0)
    near = (np.abs(ends.v - arguments["top_p"]) <= _window(ends)) & (ends.variance > 0)
    due = min(int(np.argmax(ends.v >= arguments["top_p"])), len(order) - 1) if arguments["top_p"] > 0 else 0
    lasts = {due, *np.flatnonzero(near).tolist(), *(np.flatnonzero(near) + 1).tolist()}
    kept = [ranked[: last + 1] for last in sorted(lasts) if last < len(order)]
    return [(order[: len(part)], part / np.sum(part, axis=0, keepdims=True)) for part in kept]


def _same_draw(seeds: Array, row: int) -> Array:
    """The seed that draws, as row 0, what the given one draws as this row."""
    return seeds[row : row + 1] ^ np.uint64(row * 12345)


def _uniform(seed: np.uint64) -> float:
    state = (int(seed) & 0xFFFFFFFF) * 1664525 + 1013904223 & 0xFFFFFFFF
    return (state >> 8) * 2.0**-24
