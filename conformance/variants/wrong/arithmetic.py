"""What kernels do wrong while they add, compare and store, made mechanically of every operation that does so.

The operation is the reference's own, on arrays whose sums, maxima and products are those of a faulty kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

import reference
from bindings.header.records import Parameter
from conformance import operations
from conformance.catalogue.cases import CASES
from conformance.catalogue.families import facts_of
from conformance.limits.noise import FORMATS, Noisy
from conformance.variants.honest.replicas import Floats, Replica, Sum
from conformance.variants.honest.tensor_cores import truncated
from reference.readings import Reading
from reference.readings.reading import bfloat16, rounded_to, tf32


def _plainly(terms: Floats) -> Floats:
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
_MORE_SUMS: tuple[tuple[str, str, Sum], ...] = (
    *((f"first {n} terms of a sum alone", "A loop ends too early.", _some(_first(n), np.sum)) for n in _COUNTS),
    *(
        (f"terms past the last multiple of {n} missing", "A loop leaves the rest.", _some(_rest(n), np.sum))
        for n in _COUNTS
    ),
    *(
        (f"{added:g} added to a sum", "The sum is to be divided by, and is protected from 0.", _plus(added))
        for added in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10)
    ),
)
_MORE_PRODUCTS: tuple[tuple[str, str, Sum], ...] = (
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
_MORE_MAXIMA: tuple[tuple[str, str, Sum], ...] = (
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


def _adding(total: Sum) -> type[Replica]:
    return type("Adding", (Replica,), {"reductions": {np.add: total}})


def _staling(total: Sum) -> type[Replica]:
    """Its products are right: a tile of those is a block's own."""
    return type("Staling", (_Multiplying,), {"reductions": {np.add: total}})


def _comparing(largest: Sum) -> type[Replica]:
    return type("Comparing", (_Multiplying,), {"reductions": {np.add: _plainly, np.maximum: largest}})


class _Multiplying(Replica):
    """Its products are NumPy's, of operands that are prepared."""

    reductions: ClassVar[Mapping[np.ufunc, Sum]] = {np.add: _plainly}

    @staticmethod
    def prepared(operand: Floats) -> Floats:
        return operand

    def multiplied(self, a: Floats, b: Floats) -> Floats:
        return np.asarray(self.prepared(a) @ self.prepared(b))


def _preparing(rounding: Callable[[Any], Any]) -> type[Replica]:
    return type("Preparing", (_Multiplying,), {"prepared": staticmethod(rounding)})


def _computed(operation: str, kind: type[Replica]) -> Callable[..., Any]:
    """The operation on arrays of this kind."""
    function = getattr(reference, operation)

    def prepared(value: Any) -> Any:
        if isinstance(value, list):
            return [prepared(v) for v in value]
        if isinstance(value, Noisy):
            raise TypeError("numbers that carry noise have an arithmetic of their own")
        return value.view(kind) if isinstance(value, np.ndarray) and value.dtype == np.float32 else value

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        results = function(*map(prepared, args), **{name: prepared(value) for name, value in kwargs.items()})
        return mapped(np.asarray, results)

    return called


def mapped(change: Callable[[Any], Any], results: Any) -> Any:
    """Return an operation's results, each array changed."""
    if isinstance(results, tuple | list):
        return type(results)(mapped(change, result) for result in results)
    return change(results)


def arithmetic(operation: str) -> Iterator[Reading]:
    """Yield what a kernel of this operation can do wrong, as far as it adds, compares or multiplies."""
    equal = facts_of(operation).equal
    for name, why, kind in _faulty(operation):
        yield Reading(operation, name, why, _computed(operation, kind), equal.get(name, ""))


def slips(operation: str) -> Iterator[Reading]:
    """Yield what else can go wrong as this operation adds and compares: what a failure is compared with, and no more.

    Nothing asks of the cases that they tell so many counts.
    """
    used, stated = used_by(operation), {name for name, _, _ in _faulty(operation)}
    tables = (
        (_MORE_SUMS, _adding, used["add"] or used["matmul"]),
        (_MORE_PRODUCTS, _adding, used["matmul"]),
        (_MORE_MAXIMA, _comparing, used["maximum"]),
    )
    for table, kind, is_used in tables:
        for name, why, wrong in table if is_used else ():
            if name not in stated:
                yield Reading(operation, name, why, _computed(operation, kind(wrong)))


def _faulty(operation: str) -> Iterator[tuple[str, str, type[Replica]]]:
    used, facts = used_by(operation), facts_of(operation)
    if used["add"] or used["matmul"]:
        stored_short = all(p.type.is_half for p in operations.written_arrays(operations.OPERATIONS[operation]))
        sums = [row for row in SUMS if row[0] not in HIDDEN or not stored_short]
        yield from _some_of(sums, _adding, facts.longest_sum)
    if used["several sums"]:
        yield from _some_of((STALE,), _staling)
    if used["maximum"]:
        yield from _some_of(MAXIMA, _comparing, facts.most_columns)
    if used["matmul"]:
        read = [p for p in operations.read_arrays(operations.OPERATIONS[operation]) if p.direction == "in"]
        read = [p for p in read if not facts.factors or p.name in facts.factors]
        yield from _some_of([row for row in OPERANDS if shows(read, row[2])], _preparing)


def shows(parameters: Iterable[Parameter], rounding: Callable[[Any], Any]) -> bool:
    """Whether rounding changes the numbers of any of these arrays: not where all are declared in no finer a format."""
    formats = (FORMATS[p.element] for p in parameters if p.element in FORMATS)
    return any(rounding(x) != x for x in (np.float32(1 + 2.0**-format.bits) for format in formats))


def _some_of(
    table: Sequence[tuple[str, str, Any]], kind: Callable[[Any], type[Replica]], longest: int | None = None
) -> Iterator[tuple[str, str, type[Replica]]]:
    """A row of the table each, less those about more terms than there ever are."""
    for name, why, wrong in table:
        counts = [int(word) for word in name.split() if word.isdigit()]
        if longest is None or all(count < longest for count in counts):
            yield name, why, kind(wrong)


@functools.cache
def used_by(operation: str) -> Mapping[str, bool]:
    """Whether the operation adds, compares, multiplies along an axis: seen on the first of its larger cases.

    Where a number says what is computed, one case of each is looked at.  A case that has next to nothing to do, such as
    a tensor without elements, shows nothing.
    """
    used = dict.fromkeys(("add", "several sums", "maximum", "matmul"), False)

    class Watching(Replica):
        def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
            if method == "reduce" or ufunc is np.matmul:
                used[ufunc.__name__] = True
            result = super().__array_ufunc__(ufunc, method, *inputs, **options)
            if ufunc is np.add and method == "reduce":
                used["several sums"] |= np.size(result) > 1
            return result

    held = [case for case in CASES.values() if case.operation == operation]
    held = [case for case in held if not case.spec.trivial] or held
    by_function = {case.sizes["function"]: case for case in held if "function" in case.sizes}
    for case in (held[1], *by_function.values()):
        _computed(operation, Watching)(**case.arguments())
    return used
