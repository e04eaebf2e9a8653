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
from reference.readings import Reading

from .reductions import HIDDEN, MAXIMA, MORE_MAXIMA, MORE_PRODUCTS, MORE_SUMS, OPERANDS, STALE, SUMS, plainly


def _adding(total: Sum) -> type[Replica]:
    return type("Adding", (Replica,), {"reductions": {np.add: total}})


def _adding_rows(total: Sum) -> type[Replica]:
    """Its sums over the first axis of several are a faulty kernel's, as of a gradient over rows; others are right."""

    class AddingRows(_Multiplying):
        def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
            if ufunc is np.add and method == "reduce" and _is_of_rows(inputs[0], options):
                kind = _adding(total)
                return np.asarray(ufunc.reduce(np.asarray(inputs[0]).view(kind), **options)).view(AddingRows)
            return super().__array_ufunc__(ufunc, method, *inputs, **options)

    return AddingRows


def _is_of_rows(array: Any, options: Mapping[str, Any]) -> bool:
    """Whether a reduction is over the first axis of several."""
    axis = options.get("axis", 0)
    return bool(np.ndim(array) > 1 and axis is not None and 0 in np.atleast_1d(axis) % np.ndim(array))


def _staling(total: Sum) -> type[Replica]:
    """Its products are right: a tile of those is a block's own."""
    return type("Staling", (_Multiplying,), {"reductions": {np.add: total}})


def _comparing(largest: Sum) -> type[Replica]:
    return type("Comparing", (_Multiplying,), {"reductions": {np.add: plainly, np.maximum: largest}})


class _Multiplying(Replica):
    """Its products are NumPy's, of operands that are prepared."""

    reductions: ClassVar[Mapping[np.ufunc, Sum]] = {np.add: plainly}

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
        (MORE_SUMS, _adding, used["add"] or used["matmul"]),
        (MORE_PRODUCTS, _adding, used["matmul"]),
        (MORE_MAXIMA, _comparing, used["maximum"]),
    )
    for table, kind, is_used in tables:
        for name, why, wrong in table if is_used else ():
            if name not in stated:
                yield Reading(operation, name, why, _computed(operation, kind(wrong)))
    if used["sums of rows"] and used["sums of columns"]:
        for name, why, wrong in (*SUMS, *MORE_SUMS):
            yield Reading(
                operation, f"{name}, in sums over the rows alone", why, _computed(operation, _adding_rows(wrong))
            )


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
    used = dict.fromkeys(("add", "several sums", "sums of rows", "sums of columns", "maximum", "matmul"), False)

    class Watching(Replica):
        def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
            if method == "reduce" or ufunc is np.matmul:
                used[ufunc.__name__] = True
            result = super().__array_ufunc__(ufunc, method, *inputs, **options)
            if ufunc is np.add and method == "reduce":
                used["several sums"] |= np.size(result) > 1
                used["sums of rows" if _is_of_rows(inputs[0], options) else "sums of columns"] = True
            return result

    held = [case for case in CASES.values() if case.operation == operation]
    held = [case for case in held if not case.spec.trivial] or held
    by_function = {case.sizes["function"]: case for case in held if "function" in case.sizes}
    for case in (held[1], *by_function.values()):
        _computed(operation, Watching)(**case.arguments())
    return used
