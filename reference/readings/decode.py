"""Wrong readings of the choice of the next token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference.arrays import Array, descending
from reference.ops import decode as ops
from reference.ops.softmax import softmax

from .reading import Given, Reading, fed, giving

SAMPLERS = (ops.sample, ops.topk_sample, ops.topp_sample)

Uniform = Callable[[Array], Array]  # one u per row, of the seeds
Taken = Callable[[Array, Array], Array]  # which entries a walk may stop at, of u and the running sums


def _advanced(states: Array) -> Array:
    return (states * 1664525 + 1013904223) & 0xFFFFFFFF


def _rows(seeds: Array) -> Array:
    return np.arange(len(seeds), dtype=np.uint64)


def _state(seeds: Array, mixed_with_row: bool = True) -> Array:
    rows = _rows(seeds) * np.uint64(12345 if mixed_with_row else 0)
    return _advanced((seeds ^ rows) & 0xFFFFFFFF)


# What the generator begins with, or how it goes on, read otherwise: the state that u is taken from.
_STATES: tuple[tuple[str, str, Uniform], ...] = (
    ("row mixed in as it is", "It is not multiplied first.", lambda s: _advanced((s ^ _rows(s)) & 0xFFFFFFFF)),
    (
        "row added to the seed",
        "The sum is taken for the exclusive or.",
        lambda s: _advanced((s + _rows(s) * np.uint64(12345)) & 0xFFFFFFFF),
    ),
    (
        "upper half of the seed mixed in",
        "Its 64 bits are folded to 32 and not cut off.",
        lambda s: _state(s ^ s >> np.uint64(32)),
    ),
    ("two steps before the draw", "The generator is advanced once too often.", lambda s: _advanced(_state(s))),
)


def _drawn_from(state: Uniform) -> Uniform:
    return lambda seeds: (state(seeds) >> 8) * 2.0**-24


def uniform(seeds: Array) -> Array:
    """One u for every row, in [0, 1), as the samplers draw it."""
    return _drawn_from(_state)(seeds)


def _less(u: Array, sums: Array) -> Array:
    return u < sums


def _candidates(g: Given) -> tuple[Array, Array]:
    """The columns in the order of the walk, and their probabilities, of whichever sampler g belongs to."""
    logits = g["logits"]
    if "k" not in g and "top_p" not in g:
        return np.broadcast_to(np.arange(logits.shape[1]), logits.shape), softmax(logits / g["temperature"])
    if "k" in g:
        order = descending(logits)[:, : g["k"]]
        return order, softmax(np.take_along_axis(logits, order, axis=1) / g["temperature"])
    probabilities = softmax(logits / g["temperature"])
    order = descending(probabilities)
    return order, _prefix(np.take_along_axis(probabilities, order, axis=1), g["top_p"])


def _prefix(p: Array, top_p: float) -> Array:
    before = np.concatenate([np.full_like(p[:, :1], -1.0), np.cumsum(p, axis=1)[:, :-1]], axis=1)
    p = np.where((before < top_p) | (top_p >= 1), p, p.dtype.type(0))
    p = np.where(np.arange(p.shape[1]) == 0, np.maximum(p, np.finfo(p.dtype).tiny), p)
    return p / np.sum(p, axis=1, keepdims=True)


def _drawn(order: Array, p: Array, u: Array, taken: Taken = _less) -> Array:
    stops = taken(u[:, None], np.cumsum(p, axis=1))
    last = p.shape[1] - 1 - np.argmax(p[:, ::-1] > 0, axis=1)
    place = np.where(stops.any(axis=1), np.argmax(stops, axis=1), last)
    return np.take_along_axis(order, place[:, None], axis=1)[:, 0].astype(np.int32)


def _sampled(function: Callable[..., Any], uniform: Uniform = uniform, taken: Taken = _less) -> Callable[..., Any]:
    """A sampler with another u or another comparison."""

    def change(result: Array, g: Given) -> Array:
        return result if g["temperature"] == 0 else _drawn(*_candidates(g), uniform(g["seeds"]), taken)

    return giving(function, change)


def _walked(function: Callable[..., Any], candidates: Callable[[Given], tuple[Array, Array]]) -> Callable[..., Any]:
    """A sampler with other candidates."""

    def change(result: Array, g: Given) -> Array:
        return result if g["temperature"] == 0 else _drawn(*candidates(g), uniform(g["seeds"]))

    return giving(function, change)


def _in_column_order(g: Given) -> tuple[Array, Array]:
    order, p = _candidates(g)
    columns = np.argsort(order, axis=1, kind="stable")
    return np.take_along_axis(order, columns, axis=1), np.take_along_axis(p, columns, axis=1)


def _higher_ties(values: Array) -> Array:
    return values.shape[1] - 1 - descending(values[:, ::-1])


def _topk_higher_ties(g: Given) -> tuple[Array, Array]:
    order = _higher_ties(g["logits"])[:, : g["k"]]
    return order, softmax(np.take_along_axis(g["logits"], order, axis=1) / g["temperature"])


def _topk_not_renormalised(g: Given) -> tuple[Array, Array]:
    order = descending(g["logits"])[:, : g["k"]]
    return order, np.take_along_axis(softmax(g["logits"] / g["temperature"]), order, axis=1)


def _topp_sorted(g: Given) -> tuple[Array, Array]:
    p = softmax(g["logits"] / g["temperature"])
    order = descending(p)
    return order, np.take_along_axis(p, order, axis=1)


def _topp_higher_ties(g: Given) -> tuple[Array, Array]:
    p = softmax(g["logits"] / g["temperature"])
    order = _higher_ties(p)
    return order, _prefix(np.take_along_axis(p, order, axis=1), g["top_p"])


def _topp_stops_before(g: Given) -> tuple[Array, Array]:
    """The entry that reaches top_p is left out."""
    order, p = _topp_sorted(g)
    kept = (np.cumsum(p, axis=1) <= g["top_p"]) | (np.arange(p.shape[1]) == 0)
    p = np.where(kept, p, p.dtype.type(0))
    return order, p / np.sum(p, axis=1, keepdims=True)


def _topp_one_more(g: Given) -> tuple[Array, Array]:
    """Where a sum is top_p, and not more, the next entry is kept too."""
    order, p = _topp_sorted(g)
    before = np.cumsum(p, axis=1) - p
    p = np.where((before <= g["top_p"]) | (np.arange(p.shape[1]) == 0), p, p.dtype.type(0))
    return order, p / np.sum(p, axis=1, keepdims=True)


def _through_float(seeds: Array) -> Array:
    largest = np.nextafter(np.float32(2.0**64), np.float32(0))  # the last one that is a seed again
    return np.minimum(seeds.astype(np.float32), largest).astype(np.uint64)


def _topp_not_renormalised(g: Given) -> tuple[Array, Array]:
    order, p = _topp_sorted(g)
    return order, np.where(_prefix(p, g["top_p"]) > 0, p, p.dtype.type(0))


READINGS = (
    Reading(
        "argmax",
        "highest index among equals",
        "A later equal one replaces the earlier.",
        giving(ops.argmax, lambda r, g: _higher_ties(g["logits"])[:, 0].astype(np.int32)),
    ),
    Reading(
        "argmax",
        "NaN passed over",
        "No comparison with NaN holds, so that it is never taken.",
        fed(ops.argmax, logits=lambda g: np.where(np.isnan(g["logits"]), g["logits"].dtype.type(-np.inf), g["logits"])),
    ),
    *(
        reading
        for function in SAMPLERS
        for reading in (
            Reading(
                function.__name__,
                "u <= cumulative",
                "An entry is taken where u equals the running sum.",
                _sampled(function, taken=lambda u, sums: u <= sums),
            ),
            Reading(
                function.__name__,
                "state / 2^32",
                "u is rounded to float32 and can reach 1.",
                _sampled(function, lambda seeds: np.asarray(_state(seeds), np.float32) / np.float32(2**32)),
            ),
            Reading(
                function.__name__,
                "row not mixed in",
                "Rows with one seed draw one u.",
                _sampled(function, _drawn_from(lambda seeds: _state(seeds, False))),
            ),
            Reading(
                function.__name__,
                "first row's seed for all",
                "Every row reads seeds[0].",
                fed(function, seeds=lambda g: np.full_like(g["seeds"], g["seeds"][0])),
            ),
            Reading(
                function.__name__,
                "seeds as 32-bit floats",
                "A seed keeps 24 bits: it crosses between languages as a float.",
                fed(function, seeds=lambda g: _through_float(g["seeds"])),
            ),
            Reading(
                function.__name__,
                "seed taken for u",
                "The generator is not advanced before the first draw.",
                _sampled(function, lambda seeds: ((seeds & 0xFFFFFFFF) >> 8) * 2.0**-24),
            ),
            Reading(
                function.__name__,
                "temperature ignored",
                "The logits are not divided.",
                fed(function, temperature=lambda g: 1.0 if g["temperature"] != 0 else 0.0),
            ),
            Reading(
                function.__name__,
                "temperature multiplied",
                "The logits are multiplied by the temperature.",
                fed(function, temperature=lambda g: 1.0 / g["temperature"] if g["temperature"] != 0 else 0.0),
            ),
        )
    ),
    *(
        Reading(function.__name__, name, why, _sampled(function, _drawn_from(state)))
        for function in SAMPLERS
        for name, why, state in _STATES
    ),
    *(
        Reading(
            function.__name__,
            "a low temperature taken for 0",
            "It is compared with a small number, not with 0: of equal logits the first is taken.",
            fed(function, temperature=lambda g: g["temperature"] if g["temperature"] >= 1e-5 else 0.0),
        )
        for function in SAMPLERS
    ),
    *(
        Reading(
            function.__name__,
            "walked in column order",
            "The candidates are not sorted for the walk.",
            _walked(function, _in_column_order),
        )
        for function in (ops.topk_sample, ops.topp_sample)
    ),
    Reading(
        "topk_sample",
        "ties by higher index",
        "A later equal one replaces the earlier.",
        _walked(ops.topk_sample, _topk_higher_ties),
    ),
    Reading(
        "topk_sample",
        "not renormalised",
        "The softmax is taken over all columns.",
        _walked(ops.topk_sample, _topk_not_renormalised),
    ),
    Reading(
        "topp_sample",
        "ties by higher index",
        "A later equal one replaces the earlier.",
        _walked(ops.topp_sample, _topp_higher_ties),
    ),
    Reading(
        "topp_sample",
        "prefix ends before top_p",
        "The entry that reaches top_p is left out.",
        _walked(ops.topp_sample, _topp_stops_before),
    ),
    Reading(
        "topp_sample",
        "one more where a sum is top_p",
        "The walk goes on while the sum is no more than top_p, not while it is less.",
        _walked(ops.topp_sample, _topp_one_more),
    ),
    Reading(
        "topp_sample",
        "not renormalised",
        "u is compared with the sums of all columns.",
        _walked(ops.topp_sample, _topp_not_renormalised),
    ),
    Reading(
        "topp_sample",
        "top_p ignored",
        "Every column is kept.",
        fed(ops.topp_sample, top_p=lambda g: 1.0),
    ),
)
