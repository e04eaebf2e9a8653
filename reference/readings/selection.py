"""Wrong readings of the search for the largest: by a tree of threads, past NaN, below a maximum that is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from reference.arrays import Array, descending
from reference.ops import decode
from reference.ops.softmax import softmax, softmax_topk

from .decode import uniform
from .reading import Given, Reading, fed, giving

_BLOCKS = (32, 256, 1024)  # threads of a warp and of blocks
_MOST_EXPERTS = 512  # that a router chooses from
Larger = Callable[[Array, Array], Array]  # whether the second of two is taken for the larger


def _or_nan(held: Array, met: Array) -> Array:
    return (met > held) | (np.isnan(met) & ~np.isnan(held))


def _greater(held: Array, met: Array) -> Array:
    return met > held


def _taken(held: tuple[Array, Array], met: tuple[Array, Array], larger: Larger) -> tuple[Array, Array]:
    """Of two lists of (values, columns) the larger, place by place; the one that is held where they are equal."""
    change = larger(held[0], met[0])
    return np.where(change, met[0], held[0]), np.where(change, met[1], held[1])


def _by_tree(logits: Array, threads: int, larger: Larger) -> Array:
    """Each thread keeps the largest of every so many columns, then half of them meet the other half, and so on."""
    batch, columns = logits.shape
    steps = -(-columns // threads)
    values = np.full((batch, steps * threads), -np.inf, logits.dtype)
    values[:, :columns] = logits
    places = np.broadcast_to(np.arange(steps * threads), values.shape)
    by_step = [
        (values[:, at : at + threads], places[:, at : at + threads]) for at in range(0, steps * threads, threads)
    ]
    held = by_step[0]
    for met in by_step[1:]:
        held = _taken(held, met, larger)
    while held[0].shape[1] > 1:
        half = held[0].shape[1] // 2
        left, right = ((held[0][:, part], held[1][:, part]) for part in (slice(half), slice(half, None)))
        held = _taken(left, right, larger)
    return np.minimum(held[1][:, 0], columns - 1).astype(np.int32)


def _nan_as_least(logits: Array) -> Array:
    return np.where(np.isnan(logits), logits.dtype.type(-np.inf), logits)


def _first_nan_alone(logits: Array) -> Array:
    """No comparison with NaN holds: only the NaN that the search begins with is kept."""
    return np.where(np.arange(logits.shape[1]) == 0, logits, _nan_as_least(logits))


def _trees(threads: int) -> Iterator[Reading]:
    """The search by so many threads: right about NaN, passing it over, and keeping what each thread begins with."""
    name, ties = f"tree of {threads} threads", "Of equal ones the tree keeps the first that it meets"
    reading = partial(Reading, "argmax")
    yield reading(name, f"{ties}.", lambda logits: _by_tree(logits, threads, _or_nan))
    yield reading(
        f"{name}, NaN passed over",
        f"{ties}, and no comparison with NaN holds.",
        lambda logits: _by_tree(_nan_as_least(logits), threads, _greater),
    )
    yield reading(
        f"{name}, NaN kept where a thread begins",
        f"{ties}, and a thread's first NaN is never replaced.",
        lambda logits: _by_tree(logits, threads, _greater),
    )


def _shifted(input: Array, columns: int) -> Array:
    """Exponentials shifted by the maximum of the first columns: infinite where the true one lies far beyond."""
    return np.exp(input - np.max(input[:, :columns], axis=-1, keepdims=True))


def _never_nan(columns: int, input: Array, k: int) -> tuple[Array, Array]:
    """The probabilities that are no numbers are never larger than another."""
    exponentials = _shifted(input, columns)
    probabilities = exponentials / np.sum(exponentials, axis=-1, keepdims=True)
    indices = descending(_nan_as_least(probabilities))[:, :k]
    return _over_their_sum(probabilities, indices)


def _by_logits(columns: int, input: Array, k: int) -> tuple[Array, Array]:
    return _over_their_sum(_shifted(input, columns), descending(input)[:, :k])


def _over_their_sum(values: Array, indices: Array) -> tuple[Array, Array]:
    chosen = np.take_along_axis(values, indices, axis=-1)
    return chosen / np.sum(chosen, axis=-1, keepdims=True), indices.astype(np.int32)


def _walked(columns: int, result: Array, g: Given) -> Array:
    """u times the sum is compared with running sums: where the sum is infinite, none is ever larger."""
    if g["temperature"] == 0:
        return result
    logits = g["logits"]
    order = descending(logits) if "top_p" in g else np.broadcast_to(np.arange(logits.shape[1]), logits.shape)
    weights = np.take_along_axis(_shifted(logits / g["temperature"], columns), order, axis=1)
    sums = np.cumsum(weights, axis=1)
    if g.get("top_p", 1.0) < 1:
        before = np.concatenate([np.full_like(sums[:, :1], -np.inf), sums[:, :-1]], axis=1)
        weights = np.where(before < g["top_p"] * sums[:, -1:], weights, 0.0)
        sums = np.cumsum(weights, axis=1)
    stops = uniform(g["seeds"])[:, None] * sums[:, -1:] < sums
    last = weights.shape[1] - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
    place = np.where(stops.any(axis=1), np.argmax(stops, axis=1), last)
    return np.take_along_axis(order, place[:, None], axis=1)[:, 0].astype(np.int32)


def _early_maxima(columns: int) -> Iterator[Reading]:
    """The maximum of the first columns, and what then comes of exponentials that are infinite."""
    name, why = f"maximum of the first {columns} columns", "A warp's or a block's maximum is taken for the row's"
    for function in (decode.sample, decode.topp_sample):
        yield Reading(
            function.__name__,
            f"{name}, sums not divided",
            f"{why}; of infinite sums none is above another.",
            giving(function, partial(_walked, columns)),
        )
    if columns < _MOST_EXPERTS:
        reading = partial(Reading, "softmax_topk")
        yield reading(f"{name}, NaN never chosen", f"{why}; NaN is above nothing.", partial(_never_nan, columns))
        yield reading(f"{name}, chosen by logits", f"{why} in the weights alone.", partial(_by_logits, columns))


def _last_block_first(block: int, columns: int) -> Array:
    return np.argsort(-(np.arange(columns) // block), kind="stable")


def _by_lane(lanes: int, columns: int) -> Array:
    """What the first lane looks at, then what the second does."""
    return np.argsort(np.arange(columns) % lanes, kind="stable")


def _ranked(order: Array, values: Array) -> Array:
    """Columns in descending order of their values; equal ones as they stand in an order."""
    return np.asarray(order[descending(values[:, order])])


def _ties(name: str, why: str, order: Callable[[int], Array], few: bool) -> Iterator[Reading]:
    """Equal ones are taken in the order of so many columns; few: also where there are no more than experts."""

    def topk(input: Array, k: int) -> tuple[Array, Array]:
        probabilities = softmax(input)
        return _over_their_sum(probabilities, _ranked(order(input.shape[1]), probabilities)[:, :k])

    yield Reading("argmax", name, why, lambda logits: _ranked(order(logits.shape[1]), logits)[:, 0].astype(np.int32))
    if few:
        yield Reading("softmax_topk", name, why, topk)


def _up_to(columns: int, logits: Array) -> Array:
    return np.where(np.arange(logits.shape[1]) < columns, logits, logits.dtype.type(-np.inf))


def _blocks(columns: int) -> Iterator[Reading]:
    """Of several blocks the last is asked first where they have equal ones, or none but the first is asked."""
    name, why = (
        f"columns past the first {columns} not looked at",
        "One warp's or block's result is taken for the row's.",
    )
    late = "A later block's result replaces an equal earlier one."
    for function in (decode.argmax, decode.sample, decode.topk_sample, decode.topp_sample):
        yield Reading(function.__name__, name, why, fed(function, logits=lambda g: _up_to(columns, g["logits"])))
    few = columns < _MOST_EXPERTS
    if few:
        yield Reading("softmax_topk", name, why, lambda input, k: softmax_topk(_up_to(columns, input), k))
    yield from _ties(
        f"ties between blocks of {columns} columns by higher index", late, partial(_last_block_first, columns), few
    )
    early = "A lane takes every so many columns; of lanes that hold equal ones the first wins."
    yield from _ties(f"ties by the lowest of {columns} lanes", early, partial(_by_lane, columns), few)


def _by_sign(x: Array) -> Array:
    """As keys made of bits have it, in which minus zero is the number below zero."""
    return np.where((x == 0) & np.signbit(x), x.dtype.type(-(2.0**-149)), x)


_ZEROS, _BITS = "minus zero below zero", "Numbers are compared as keys that are made of their bits."

READINGS = (
    Reading("argmax", _ZEROS, _BITS, fed(decode.argmax, logits=lambda g: _by_sign(g["logits"]))),
    Reading(
        "softmax_topk",
        _ZEROS,
        _BITS,
        lambda input, k: _over_their_sum(softmax(input), descending(_by_sign(input))[:, :k]),
    ),
    Reading(
        "argmax",
        "NaN kept at place 0",
        "The search begins with the first column, and no comparison with NaN holds.",
        fed(decode.argmax, logits=lambda g: _first_nan_alone(g["logits"])),
    ),
    *(reading for threads in _BLOCKS for reading in _trees(threads)),
    *(reading for columns in _BLOCKS for reading in _early_maxima(columns)),
    *(reading for columns in _BLOCKS for reading in _blocks(columns)),
)
