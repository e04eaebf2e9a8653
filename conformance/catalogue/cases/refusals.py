"""Calls that must be refused: derived from the header, argument by argument, condition by condition, place by place.

A refused call returns ASSAYER_INVALID and has written nothing.  The buffers are real and of the right size; what is
passed in place of an argument is given by `override`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bindings.header.records import Function, Parameter
from conformance import operations
from conformance.catalogue.families import facts_of
from conformance.ids import OF_MANY

from .broken import broken, names_from_zero, size_names, too_many_bytes
from .entries import Entry, count, inconsistent, out_of_range, places
from .misplaced import misplaced
from .spec import Arguments, Case

INVALID, UNSUPPORTED = -2, -4
_MANY, _MOST = 2**17 + 3, 2**23  # entries of an index array, and what all arrays of the call may hold
_FEW = 2**16  # numbers that a call reads which takes no time
_STEP = 2  # of what is moved by more than one
_TOLD = 4  # entries that are named
_TRIED = 4  # cases of an operation, of which refusals are built on the one that yields the most


@dataclass(frozen=True)
class Refusal:
    """A call of one operation with an argument that cannot be.

    override: what C gets in place of an argument, or of an entry of a host array ("params[3]"): None is a null pointer.
    entries: or what index arrays hold.  A device cannot look at these before it returns.
    """

    operation: str
    name: str
    base: Case  # a good call, of which one argument is replaced
    override: Mapping[str, Any] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    is_in_range: bool = False  # each entry is; it is all of them together that cannot be

    @property
    def id(self) -> str:
        return f"{self.operation}/refused/{self.name}"

    @property
    def fault(self) -> str:
        """What is wrong with the call, in words."""
        wrong = [f"{name} = {'null' if bad is None else bad}" for name, bad in self.override.items()]
        more = ["..."] if len(self.entries) > _TOLD else []
        return ", ".join([*wrong, *map(str, self.entries[:_TOLD]), *more])

    def arguments(self, seed: int = 0) -> Arguments:
        arguments = self.base.arguments(seed)
        for entry in self.entries:
            entry.put(arguments)
        return arguments


def refusals(cases: Sequence[Case]) -> list[Refusal]:
    """Return every refusal of one operation, built on that one of its first cases which yields the most.

    A condition that cannot be broken alone there, as one between the same numbers would break too, is on another case.
    """
    found = max((list(_refusals(case)) for case in cases[:_TRIED]), key=len)
    told = {_broken(refusal) for refusal in found}
    function = operations.OPERATIONS[cases[0].operation]
    found += _of_long_arrays(function, found, cases)
    found += _of_many_entries(function, cases)
    found += _of_many_rows(function, found, cases)
    found += _between_numbers(function, found, cases)
    untold = {(name, each.text.replace(" ", "")) for each in function.requires for name in each.names} - told
    for case in cases:
        if not untold:
            break
        others = [one for one in _refusals(case) if _broken(one) in untold]
        found += others
        untold -= {_broken(one) for one in others}
    return found


def _of_long_arrays(function: Function, found: Sequence[Refusal], cases: Sequence[Case]) -> Iterator[Refusal]:
    """What stands last in index arrays once more, where they are longest: it may be that some entries are looked at."""
    base = max(cases, key=lambda case: _entries(function, case.sizes))
    last = {entry.place for refusal in found for entry in refusal.entries}
    if not last or _entries(function, base.sizes) <= max(last) + 1:
        return
    for refusal in _of_entries(function, base):
        if max(entry.place for entry in refusal.entries) > max(last):
            yield replace(refusal, name=f"{refusal.name}_of_{'x'.join(map(str, _counts(base.sizes)))}")


def _of_many_entries(function: Function, cases: Sequence[Case]) -> Iterator[Refusal]:
    """What stands last in index arrays of more entries than 65,535 blocks of two rows look at."""

    def elements(sizes: Mapping[str, Any]) -> int:
        return sum(count(parameter, sizes) for parameter in operations.read_arrays(function))

    for parameter in (p for p in function.parameters if p.limit and len(p.shape[0].size.names) == 1):
        [name] = parameter.shape[0].size.names
        for case in sorted(cases, key=lambda one: elements({**one.sizes, name: _MANY})):
            sizes = {**case.sizes, name: _MANY}
            base = replace(case, name=f"{case.name}_{name}={_MANY}", sizes=sizes)
            if elements(sizes) > _MOST or not all(condition(sizes) for condition in function.requires):
                continue
            last = count(parameter, sizes) - 1
            for told, entries in out_of_range(parameter, function, sizes):
                if entries[0].place == last and told.endswith("]_too_large"):
                    yield Refusal(base.operation, f"{told}{OF_MANY}{name}", base, entries=entries)
            break


def _of_many_rows(function: Function, found: Sequence[Refusal], cases: Sequence[Case]) -> Iterator[Refusal]:
    """Offsets that cannot be together once more, where there are rows enough for several tiles of a product."""
    facts = facts_of(function.operation)
    if not facts.offsets:
        return
    ranges, known = function.by_name[facts.offsets].limit, {refusal.entries for refusal in found}
    assert ranges
    few = [case for case in cases if sum(count(p, case.sizes) for p in operations.read_arrays(function)) <= _FEW]
    base = max(few, key=lambda case: int(ranges[1](case.sizes)))
    for name, entries in inconsistent(facts, function, base.sizes):
        if entries not in known:
            told = f"{name}_of_{'x'.join(map(str, _counts(base.sizes)))}"
            yield Refusal(base.operation, told, base, entries=entries, is_in_range=True)


def _between_numbers(function: Function, found: Sequence[Refusal], cases: Sequence[Case]) -> Iterator[Refusal]:
    """What breaks a condition between several numbers once more, where the scalars that are no sizes are larger.

    Where a stride is 1 a kernel that is too long leaves no place for it, and the array of the results is too small;
    where it is larger, a quotient rounds to a place that there is not.  A padding that counts once too often shows
    where there is one.
    """
    between = {each.text.replace(" ", "") for each in function.requires if len(each.names) > 1}
    known = {refusal.name for refusal in found}
    largest = max(
        cases, key=lambda case: math.prod(number for number in _others(function, case).values() if number > 1)
    )
    for base in (largest, _of_steps(function, largest)) if between else ():
        for refusal in _refusals(base):
            if _broken(refusal)[1] in between and refusal.name not in known:
                known.add(refusal.name)
                yield refusal


def _others(function: Function, case: Case) -> dict[str, int]:
    """The whole numbers of a case that are no sizes of arrays."""
    sizes = {*size_names(function), *names_from_zero(function)}
    return {name: size for name, size in case.sizes.items() if name not in sizes and isinstance(size, int)}


def _of_steps(function: Function, case: Case) -> Case:
    """A case whose numbers that are no sizes are 2 at least, as far as conditions allow."""
    sizes = dict(case.sizes)
    for name in (name for name, number in _others(function, case).items() if number < _STEP):
        larger = {**sizes, name: _STEP}
        sizes = larger if all(condition(larger) for condition in function.requires) else sizes
    return replace(case, name=f"{case.name}_by_steps", sizes=sizes)


def _entries(function: Function, sizes: Mapping[str, Any]) -> int:
    """How many entries the longest index array has."""
    return max((count(p, sizes) for p in function.parameters if p.limit), default=0)


def _counts(sizes: Mapping[str, Any]) -> list[int]:
    return [size for size in sizes.values() if isinstance(size, int)]


def _broken(refusal: Refusal) -> tuple[str, str]:
    """The number that is replaced, and the condition that it breaks alone."""
    return next(iter(refusal.override), ""), refusal.name.partition("_breaks_")[2]


def _refusals(base: Case) -> Iterator[Refusal]:
    function = operations.OPERATIONS[base.operation]
    for name, override in _overrides(function, base.sizes):
        yield Refusal(base.operation, name, base, override)
    if operations.layout_arrays(function):
        for name, override in misplaced(function, base.arguments()):
            yield Refusal(base.operation, name, base, override)
    yield from _of_entries(function, base)


def _of_entries(function: Function, base: Case) -> Iterator[Refusal]:
    """Yield calls with entries of index arrays that cannot be, each by itself or with the others."""
    for parameter in (p for p in function.parameters if p.limit):
        for name, entries in out_of_range(parameter, function, base.sizes):
            yield Refusal(base.operation, name, base, entries=entries)
    for name, entries in inconsistent(facts_of(base.operation), function, base.sizes):
        yield Refusal(base.operation, name, base, entries=entries, is_in_range=True)


def _overrides(function: Function, sizes: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield by name what cannot stand in place of arguments, given the sizes of a good call."""
    for parameter in function.parameters:
        if parameter.stars and parameter.name != "stream":
            yield from _of_array(function, parameter, sizes)
        if parameter.name in size_names(function):
            yield f"zero_{parameter.name}", {parameter.name: 0}
        if parameter.name in (*size_names(function), *names_from_zero(function)):
            yield f"negative_{parameter.name}", {parameter.name: -1}
    for name, large in too_many_bytes(function, sizes):
        yield f"bytes_of_{name}", large
    yield from broken(function, sizes)


def _of_array(
    function: Function, parameter: Parameter, sizes: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield null pointers, in lists at each kind of place, and lengths of a list's arrays."""
    name = parameter.name
    is_empty = any(axis.or_zero and axis.size(sizes) == 0 for axis in parameter.shape)
    if not is_empty and (not parameter.is_optional or parameter.is_read(sizes)):
        yield f"null_{name}", {name: None}
    if parameter.each:
        for place in places(sizes[parameter.each[0]]):
            yield f"null_{name}[{place}]", {f"{name}[{place}]": None}
    if name in operations.signature(function).lengths:
        for entry in (f"{name}[{place}]" for place in places(len(sizes[name]))):
            yield f"zero_{entry}", {entry: 0}
            yield f"negative_{entry}", {entry: -1}
            yield f"bytes_of_{entry}_past_int64", {entry: parameter.type.range[1]}
