"""Sums and maxima as faulty kernels take them: of some of the terms, of some twice, kept in a shorter format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.variants.honest.replicas import Floats, Sum
from conformance.variants.honest.tensor_cores import truncated
from reference.readings.reading import bfloat16, rounded_to, tf32


def plainly(terms: Floats) -> Floats:
    """Return the right sum."""
    return np.asarray(np.sum(terms, axis=-1))


def _some(which: Callable[[int], slice], reduction: Callable[..., Any]) -> Sum:
    """A reduction of some of the terms."""
    return lambda terms: np.asarray(reduction(terms[..., which(terms.shape[-1])], axis=-1))


def _first(count: int) -> Callable[[int], slice]:
    return lambda _: slice(count)


def _whole_tiles(tile: int) -> Callable[[int], slice]:
    return lambda terms: slice(max(tile, terms // tile * tile))


def _multiple(count: int) -> Callable[[int], slice]:
    return lambda terms: slice(terms // count * count)


def _rest(count: int) -> Callable[[int], slice]:
    """Whole multiples of a count; all where there is not one."""
    return lambda terms: slice(terms // count * count or terms)


def _plus(added: float) -> Sum:
    return lambda terms: np.asarray(np.sum(terms, axis=-1) + np.float32(added))


def _slice_counted(start: int, count: int, times: int) -> Sum:
    """A slice of the terms counted so many times, where there are more terms than it; below 0 from the end."""

    def function(terms: Floats) -> Floats:
        n = terms.shape[-1]
        first = start % n if n else 0
        weights = np.ones(n, np.float32)
        weights[first : first + count] = times if n > count else 1
        return np.asarray(np.sum(terms * weights, axis=-1))

    return function


def _without_last_part(parts: int) -> Callable[[int], slice]:
    """All but the last of so many parts of a sum; all where they are not as many."""

    def kept(terms: int) -> slice:
        each = -(-terms // parts)
        return slice((parts - 1) * each) if (parts - 1) * each < terms else slice(terms)

    return kept


def _all_but_last(terms: int) -> slice:
    return slice(max(1, terms - 1))


def _one_lost(terms: Floats) -> Floats:
    """Two threads read the same sum, and the earlier one's addition is lost."""
    kept = np.arange(terms.shape[-1]) != terms.shape[-1] // 2
    return np.asarray(np.sum(terms, axis=-1, where=kept if terms.shape[-1] > 1 else True))


def _stale(reduction: Callable[..., Any]) -> Sum:
    """Each row finds what the row before has left."""

    def function(terms: Floats) -> Floats:
        own = np.asarray(reduction(terms, axis=-1))
        flat = own.reshape(-1)
        return np.concatenate([flat[:1], flat[:-1]]).reshape(own.shape)

    return function


def _kept(keep: Callable[[Any], Any]) -> Sum:
    """One after the other, every partial sum kept in a shorter format."""

    def function(terms: Floats) -> Floats:
        total = np.zeros(terms.shape[:-1])
        for place in range(terms.shape[-1]):
            total = keep(total + terms[..., place].astype(np.float64))
        return np.asarray(total, np.float32)

    return function


def _half(values: Any) -> Any:
    return values.astype(np.float16).astype(np.float64)


SUMS: tuple[tuple[str, str, Sum], ...] = (
    *(
        (f"first {count} terms of a sum alone", why, _some(_first(count), np.sum))
        for count, why in (
            (32, "One warp's sum is taken for the block's."),
            (256, "One block adds as many as it has threads, without a loop."),
            (1024, "The largest block adds as many as it has threads, without a loop."),
        )
    ),
    *(
        (
            f"last tile of {tile} terms missing",
            "A sum ends with the last whole tile.",
            _some(_whole_tiles(tile), np.sum),
        )
        for tile in (32, 128)
    ),
    ("last term of a sum missing", "The loop ends one too early.", _some(_all_but_last, np.sum)),
    ("one addition lost", "Threads add without atomics, and one overwrites another's sum.", _one_lost),
    ("sums kept in float16", "The accumulator is a half.", _kept(_half)),
    ("sums kept in bfloat16", "The accumulator is a bfloat16.", _kept(bfloat16)),
    ("sums kept in TF32", "The accumulator has the bits of a tensor core's operand.", _kept(tf32)),
    ("sums cut off", "Every addition truncates, as in a tensor core.", _kept(truncated)),
    *(
        (
            f"terms past the last multiple of {count} missing",
            "The loop takes so many terms at once, and leaves the rest.",
            _some(_multiple(count), np.sum),
        )
        for count in (2, 4, 8, 16)
    ),
)
HIDDEN = {"sums cut off"}  # by the rounding of a result that is stored in 16 bits
STALE = ("sum of the row before", "Shared memory is read before it is written.", _stale(np.sum))
MAXIMA: tuple[tuple[str, str, Sum], ...] = (
    *(
        (f"maximum of the first {count} columns", why, _some(_first(count), np.max))
        for count, why in (
            (32, "One warp's maximum is taken for the row's."),
            (256, "One block compares as many columns as it has threads."),
            (1024, "One block's maximum is taken for the row's."),
        )
    ),
    ("maximum of the row before", "Shared memory is read before it is written.", _stale(np.max)),
)
_COUNTS = tuple(2**n for n in range(2, 16))
MORE_SUMS: tuple[tuple[str, str, Sum], ...] = (
    *((f"first {n} terms of a sum alone", "A loop ends too early.", _some(_first(n), np.sum)) for n in _COUNTS),
    *(
        (f"terms past the last multiple of {n} missing", "A loop leaves the rest.", _some(_rest(n), np.sum))
        for n in _COUNTS
    ),
    *(
        (
            f"the last of {n} parts of a sum missing",
            "It is not joined with the others.",
            _some(_without_last_part(n), np.sum),
        )
        for n in (2, 4, 8, 16, 32, 64)
    ),
    *(
        (f"{added:g} added to a sum", "The sum is to be divided by, and is protected from 0.", _plus(added))
        for added in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10)
    ),
)
MORE_PRODUCTS: tuple[tuple[str, str, Sum], ...] = (
    (
        "sums cut to the 14 digits of fp8",
        "One accumulator of Hopper's fp8 unit goes through all of K, and is never added to a float32.",
        _kept(rounded_to(13, np.trunc)),
    ),
    *(
        (f"{which} {n} products {what}", why, _slice_counted(place * n, n, times))
        for n in (16, 32, 64)
        for which, place in (("first", 0), ("second", 1), ("last", -1))
        for what, why, times in (
            ("left out", "A stage of the pipeline is overwritten before it is used.", 0),
            ("counted twice", "A stage of the pipeline is used again before it is filled.", 2),
        )
    ),
)
MORE_MAXIMA: tuple[tuple[str, str, Sum], ...] = (
    *((f"maximum of the first {n} columns", "A loop ends too early.", _some(_first(n), np.max)) for n in _COUNTS),
    *(
        (f"maximum without what is past the last multiple of {n}", "A loop leaves the rest.", _some(_rest(n), np.max))
        for n in _COUNTS
    ),
)
OPERANDS: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("operands rounded to TF32", "Tensor cores are used without saying so.", tf32),
    ("operands rounded to bfloat16", "The product is computed in half precision.", bfloat16),
    ("operands cut off to TF32", "The low bits are dropped, not rounded.", rounded_to(10, np.trunc)),
)
