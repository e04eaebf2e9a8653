"""Calls in sequence: what one call leaves behind must not reach the next.

A case is one call on memory of its own.  These are calls in a row, whose arrays lie where those of the call before lay.
Which cases they are made of is decided by the cases' sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bindings.header.records import Parameter
from conformance import operations
from conformance.catalogue.design.space import space_of

from .broken import size_names
from .refusals import Refusal
from .spec import Case, Sizes

SMALL, LARGE = 1 << 7, 1 << 14  # elements of a call: nearest to the first, at most the second
LONG = 1 << 16  # elements of a call on one of two threads, at most: it has to last until the other is on its way
MIDDLING = 1 << 9  # elements of a row
WORK = 1 << 6  # the product of a call's sizes is at most so many times its elements: some cases are small and slow
VECTOR = 16  # bytes: what a thread of a device moves at most, and only from a multiple of as many
_LONG_ROW = 4 * VECTOR  # bytes of an array of one axis that has packs wherever it begins
THOUSAND = 1 << 10  # calls in a row
EMULATED_THOUSAND = 1 << 7  # where each call is the CPU's work for every thread of a grid
MANY_LONG = 1 << 8  # calls in a row of as many elements as one of two threads has
_SCALARS = 6  # that are changed in turn, at most
_FURTHER = 2  # calls in threads of a library's own, besides a long one and one of many rows
# Of each thread: calls at most, seconds of both threads' processor time and of a clock's at most, calls at least.
AT_ONCE = MOST, PROCESSOR_S, CLOCK_S, LEAST = 1 << 12, 0.15, 2.0, 1 << 2
# Of each of the calls in threads of the library's own; the processor time is that of all of these.
THREADED = THREADED_MOST, THREADED_S, _, _ = 1 << 8, 0.1, CLOCK_S, LEAST


class Way(StrEnum):
    """How the calls of a sequence are made."""

    IN_TURN = "one after another"
    DISPLACED = "one array after another begins elsewhere"
    REPEATED = "again and again"
    AT_ONCE = "on two threads at once"
    THREADED = "in threads of the library's own"
    WITHOUT_MEMORY = "without memory"


@dataclass(frozen=True)
class SequencedCall:
    """One call of a sequence: a case's, and how it differs from that."""

    case: Case
    draw: int = 0  # added to the run's seed: other numbers in arrays of the same sizes
    run: int = 1  # in whose buffers its arrays lie: those of 1 end at guard zones, those of 2 begin behind them
    refusal: Refusal | None = None  # what it is in place of a good call
    displaced: str = ""  # the array that alone begins at no multiple of 16 bytes, in run 3

    @property
    def label(self) -> str:
        """What it is called among the others."""
        if self.refusal:
            return f"{self.refusal.fault}, to be refused"
        alone = f" where {self.displaced} alone begins at no multiple of {VECTOR} bytes" if self.displaced else ""
        elsewhere = " elsewhere" * (self.run != 1 and not self.displaced)
        return self.case.name + " with other numbers" * bool(self.draw) + elsewhere + alone


@dataclass(frozen=True)
class CallSequence:
    """Calls of one operation; `why`: what kind of library they find.

    is_fresh: the operation's first call of its process has to be the first of these.
    times: how often a call is made that is made again and again.
    """

    operation: str
    name: str
    why: str
    calls: tuple[SequencedCall, ...]
    way: Way = Way.IN_TURN
    is_fresh: bool = False
    times: int = THOUSAND

    @property
    def id(self) -> str:
        return f"{self.operation}/sequence/{self.name}"

    def label(self, place: int) -> str:
        """Name a call by its number, its sizes and those of the call before: call 3 of 5 (64x64 after 7x100)."""
        after = f" after {self.calls[place - 1].label}" if place and self.way is not Way.DISPLACED else ""
        return f"call {place + 1} of {len(self.calls)} ({self.calls[place].label}{after})"


def with_other_numbers(case: Case, seed: int, draw: int) -> dict[str, Any]:
    """Return a case's arguments of the seed so many later.

    An array that is the same for every seed, as a table of angles or the offsets of experts, is another one of its
    kind: a library may keep what it has made of the first.
    """
    made, before = case.arguments(seed + draw), case.arguments(seed + draw - 1)
    function = operations.OPERATIONS[case.operation]
    for name in {parameter.name for parameter in operations.read_arrays(function)} - operations.layout_arrays(function):
        if isinstance(made.get(name), np.ndarray) and _are_the_same(made[name], before[name]):
            made[name] = _another(made[name], draw)
    return made


def _are_the_same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.size > 0 and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _another(array: NDArray[Any], draw: int) -> NDArray[Any]:
    """Rows in another order; of offsets the groups."""
    if array.dtype.kind == "f":
        return np.roll(array, draw, axis=0)
    is_offsets = array.ndim == 1 and array[0] == 0 and bool(np.all(np.diff(array) >= 0))
    return array[-1] - array[::-1] if is_offsets and draw % 2 else array


def sequences(cases: Iterable[Case], refusals: Iterable[Refusal]) -> list[CallSequence]:
    """Return every sequence of an operation that has these cases and calls to be refused."""
    telling = [case for case in cases if not case.spec.trivial] or list(cases)
    plain = [case for case in telling if case.data == "plain"] or telling
    small, large = _nearest(plain, SMALL), _largest(plain, LARGE)
    middle = _nearest(plain, math.isqrt(elements(small) * elements(large)))
    found = [_alternating(small, middle, large), _same_sizes(small), *_other_scalars(small), *_displaced(telling)]
    found += [_thousand(small), _many_long(_largest(telling, LONG)), _threads(telling), _own_threads(telling)]
    found += [_without_memory(small, _largest(telling, LONG))]
    refusals = list(refusals)
    # What an array holds, no device looks at; what it does with it has cases of its own.
    refused = {tuple(refusal.override): refusal for refusal in refusals if not refusal.entries}
    if refused:
        found.append(_after_refused(small, [*refused.values()]))
    return [*found, _refused_thousand(refusals)] if refusals else found


def elements(case: Case) -> int:
    """Return how many elements a call of the case is given; where it is given no array, the product of its sizes."""
    return case.elements or _product(case)


def _product(case: Case) -> int:
    """The product of all sizes: about how many operations a call comes to."""
    names = size_names(operations.OPERATIONS[case.operation])
    return math.prod(case.sizes.get(name, 1) for name in names)


def _nearest(cases: Sequence[Case], count: int) -> Case:
    return min(cases, key=lambda case: abs(math.log(max(1, elements(case)) / max(1, count))))


def _largest(cases: Sequence[Case], most: int) -> Case:
    """The largest that is not too large; if all are, the smallest."""
    affordable = [case for case in cases if elements(case) <= most and _product(case) <= WORK * most]
    return max(affordable, key=elements) if affordable else min(cases, key=elements)


def _of_most_rows(cases: Sequence[Case], most: int) -> Case:
    """The one whose arrays have the most rows, of those that are not too large; of equals the largest."""
    affordable = [case for case in cases if elements(case) <= most and _product(case) <= WORK * most]
    return max(affordable, key=lambda case: (_rows(case), elements(case))) if affordable else _largest(cases, most)


def _rows(case: Case) -> int:
    """How many rows the array of most rows has, all axes but the last taken together."""
    function = operations.OPERATIONS[case.operation]
    arrays = (*operations.read_arrays(function), *operations.written_arrays(function))
    shapes = [[axis.size(case.sizes) for axis in p.shape[:-1]] for p in arrays if not p.each]
    return max(map(math.prod, shapes), default=1)


def _alternating(small: Case, middle: Case, large: Case) -> CallSequence:
    calls = (small, large, small, middle, large)
    why = "sizes that alternate: finds memory sized by the first call, and plans that are kept for other sizes"
    return CallSequence(small.operation, "alternating", why, tuple(map(SequencedCall, calls)), is_fresh=True)


def _same_sizes(case: Case) -> CallSequence:
    calls = (
        SequencedCall(case),
        SequencedCall(case, draw=1),
        SequencedCall(case, draw=2, run=2),
        SequencedCall(case, draw=1, run=2),
        SequencedCall(case),
    )
    why = (
        "the same sizes, other numbers, in arrays that stay and arrays that move: finds results kept by address or size"
    )
    return CallSequence(case.operation, "same_sizes", why, calls)


def _other_scalars(case: Case) -> list[CallSequence]:
    """The same sizes with one number after another changed and put back; none where there is none to change."""
    changed = [other for name, levels in _levels(case) for other in _changed(case, name, levels)][:_SCALARS]
    if not changed:
        return []
    calls = [SequencedCall(case)]
    for other in changed:
        calls += [SequencedCall(other), SequencedCall(case)]
    why = (
        "the same sizes, one number after another changed and put back: finds what is kept by some arguments, where it "
        "depends on more"
    )
    return [CallSequence(case.operation, "other_scalars", why, tuple(calls))]


def _levels(case: Case) -> list[tuple[str, Sequence[float]]]:
    """Numbers that stand in no shape, with the values that they take in designed cases."""
    function = operations.OPERATIONS[case.operation]
    if operations.layout_arrays(function):
        return []  # what is told of a tensor's layout cannot change alone
    shapes = {name for p in function.parameters for axis in p.shape for name in axis.size.names}
    scalars = {*operations.scalars(function)} - shapes
    return [(factor.name, factor.levels) for factor in space_of(case.operation).factors if factor.name in scalars]


def _changed(case: Case, name: str, levels: Sequence[float]) -> list[Case]:
    """The case with one number changed to the plainest other one that the header allows."""
    requires = operations.OPERATIONS[case.operation].requires
    for value in levels:
        sizes = {**case.sizes, name: value}
        if value != case.sizes[name] and all(condition(sizes) for condition in requires):
            return [replace(case, name=f"{case.name}_{name}={value:g}", sizes=sizes)]
    return []


def _after_refused(case: Case, refused: Sequence[Refusal]) -> CallSequence:
    calls = [SequencedCall(case)]
    for refusal in refused:
        calls += [SequencedCall(refusal.base, refusal=refusal), SequencedCall(case)]
    why = "a good call after one that is to be refused, for each argument: finds what a refusal leaves behind"
    return CallSequence(case.operation, "after_refused", why, tuple(calls))


def _displaced(cases: Sequence[Case]) -> list[CallSequence]:
    """Of the case in which most arrays have rows that are moved in packs; none where no two arrays ever have."""
    small = [case for case in cases if elements(case) <= LONG] or cases
    most = max(len(_in_packs(case)) for case in small)
    case = _nearest([case for case in small if len(_in_packs(case)) == most], SMALL)
    names = _in_packs(case)
    if len(names) < 2:
        return []  # what an array does alone, run 3 of every case shows
    calls = tuple(SequencedCall(case, run=3, displaced=name) for name in names)
    why = (
        f"one array after another begins at no multiple of {VECTOR} bytes, all others do: finds who looks at the "
        "alignment of one array and moves packs of another"
    )
    return [CallSequence(case.operation, "displaced", why, calls, Way.DISPLACED)]


def _in_packs(case: Case) -> list[str]:
    """The arrays of a call that may be moved in packs: those of rows that are whole packs, and long rows alone."""
    function = operations.OPERATIONS[case.operation]
    arrays = {p.name: p for p in (*operations.read_arrays(function), *operations.written_arrays(function))}
    return [name for name, p in arrays.items() if not p.host and _is_in_packs(p, case.sizes)]


def _is_in_packs(parameter: Parameter, sizes: Sizes) -> bool:
    item: int = parameter.type.dtype.itemsize
    if parameter.each:
        return bool(max(sizes[parameter.each[1]]) * item >= _LONG_ROW)
    bytes_of: list[int] = [axis.size(sizes) * item for axis in parameter.shape]
    *outer, row = bytes_of or [0]
    return row >= _LONG_ROW if not outer else row > 0 and row % VECTOR == 0


def _thousand(case: Case) -> CallSequence:
    why = (
        f"one call {THOUSAND} times ({EMULATED_THOUSAND} on an emulated device, where it takes far longer): the same "
        "bits each time, and the process's memory, working directory and locale as they were"
    )
    return CallSequence(case.operation, "thousand", why, (SequencedCall(case),), Way.REPEATED)


def _many_long(case: Case) -> CallSequence:
    why = (
        f"one long call {MANY_LONG} times: finds a leak of what is taken for a second part of an array, and for each "
        "further one"
    )
    return CallSequence(case.operation, "many_long", why, (SequencedCall(case),), Way.REPEATED, times=MANY_LONG)


def _refused_thousand(refusals: Sequence[Refusal]) -> CallSequence:
    """Of what is looked at last, if there is such a thing: entries of index arrays, all together."""
    refusal = max(refusals, key=lambda one: (one.is_in_range, bool(one.entries)))
    call = SequencedCall(refusal.base, refusal=refusal)
    why = f"one call that is to be refused {THOUSAND} times: finds memory that a refusal does not give back"
    return CallSequence(refusal.operation, "refused_thousand", why, (call,), Way.REPEATED)


def _without_memory(small: Case, long: Case) -> CallSequence:
    why = (
        "each time as the first call of a process whose malloc gives the library nothing, and once more with memory: "
        "finds who uses what was not there, returns 0 all the same, or has written"
    )
    several = (small,) if small.id == long.id else (small, long)
    return CallSequence(small.operation, "without_memory", why, tuple(map(SequencedCall, several)), Way.WITHOUT_MEMORY)


def _long_and_tall(cases: Sequence[Case]) -> tuple[SequencedCall, SequencedCall]:
    """The longest call that is not too long, and another of many rows."""
    long = _largest(cases, LONG)
    other = _of_most_rows([case for case in cases if elements(case) != elements(long)] or cases, LONG)
    return SequencedCall(long), SequencedCall(other)


def _threads(cases: Sequence[Case]) -> CallSequence:
    why = (
        f"two threads, each with its own processor, arrays and stream, make {MOST} calls each, or as many as they can "
        f"in {PROCESSOR_S:g} s of processor time, but {LEAST} at least: finds memory that all calls share, also what a "
        "row shares for a moment, as one of the calls has many rows"
    )
    return CallSequence(cases[0].operation, "threads", why, _long_and_tall(cases), Way.AT_ONCE)


def _own_threads(cases: Sequence[Case]) -> CallSequence:
    why = (
        "a library that computes in several threads, on however few processors: a long call and one of many rows, "
        f"each {THREADED_MOST} times, or as often as {THREADED_S:g} s of processor time allow: finds a row, a buffer "
        "or a sum that its threads share within one call, and tasks that do not wait for each other"
    )
    calls = [*_long_and_tall(cases), *_of_many_rows(cases)]
    calls += _of_most(cases, [call.case for call in calls])
    return CallSequence(cases[0].operation, "own_threads", why, tuple(calls), Way.THREADED)


def _of_many_rows(cases: Sequence[Case]) -> list[SequencedCall]:
    """A call of middling rows, so many that threads share them; none where no size says how many rows there are.

    Cases have long rows or many: a row that threads have in common shows where each of them has several.
    """
    function = operations.OPERATIONS[cases[0].operation]
    outputs = [p for p in operations.written_arrays(function) if len(p.shape) > 1 and not p.each]
    names = outputs[0].shape[0].size.names if outputs and not operations.layout_arrays(function) else ()
    if len(names) != 1:
        return []
    [name] = names

    def of_row(case: Case) -> float:
        return float(elements(case) / case.sizes[name])

    case = min(cases, key=lambda one: abs(math.log(max(1.0, of_row(one)) / MIDDLING)))
    sizes = {**case.sizes, name: math.ceil(2 * LARGE / max(1.0, of_row(case)))}
    found = replace(case, name=f"{case.name}_{name}={sizes[name]}", sizes=sizes)
    is_good = all(condition(sizes) for condition in function.requires) and elements(found) <= LONG
    is_more = sizes[name] > case.sizes[name] and _product(found) <= WORK * LONG
    return [SequencedCall(found)] if is_good and is_more else []


def _of_most(cases: Sequence[Case], chosen: Sequence[Case]) -> list[SequencedCall]:
    """Calls that threads share in which another size is larger than in the chosen ones, those that grow most first."""
    shared = [case for case in cases if LARGE <= elements(case) <= LONG and _product(case) <= WORK * LONG]
    found: dict[str, tuple[float, Case]] = {}
    for name in size_names(operations.OPERATIONS[cases[0].operation]):
        if not shared or name not in shared[0].sizes:
            continue
        case = max(shared, key=lambda one: (one.sizes[name], -elements(one)))
        most = max(one.sizes[name] for one in chosen)
        if case.sizes[name] > most:
            found[case.id] = max(
                found.get(case.id, (0.0, case)), (case.sizes[name] / most, case), key=lambda one: one[0]
            )
    grown = sorted(found.values(), key=lambda one: -one[0])
    return [SequencedCall(case) for _, case in grown[:_FURTHER]]
