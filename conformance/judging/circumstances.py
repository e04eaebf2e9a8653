"""When an operation fails: what its failing cases have in common and its passing ones have not.

One case tells where numbers are wrong; that a tail of 4 is lost, or that nothing is launched past 48 KB of shared
memory, is told by the sizes and scalars of all of them.  So every simple condition on them is tried, and the one that
holds in every failing case and in fewest others is said, where chance would not have done it.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import ids, operations
from conformance.catalogue.cases import case_named
from conformance.catalogue.full import FULL

from .results import Result
from .spans import CHANCE

Call = Mapping[str, Any]  # sizes and scalars of a case, and what its arrays hold, by name
Test = Callable[[Call], bool]
_Tried = tuple[str, NDArray[np.bool_]]  # a condition in words, and in which passing cases it holds
_BLOCKS = tuple(2**n for n in range(1, 11))
_CHUNKS = tuple(2**n for n in range(5, 17))  # by which arrays of a list are cut
_PRODUCT = "the number of elements"  # how the name of a product of sizes begins
_MOSTLY = 2  # so many fail for one that passes, of the cases in which a condition holds
_MANY = 4  # cases that pass in spite of a condition
_FEW = 8  # or a condition that not one in so many of the passing cases meets: it has to be, though it is not all


@dataclass(frozen=True)
class _Condition:
    words: str
    holds: Test


def circumstances(failed: Sequence[Result], judged: Iterable[Result]) -> str:
    """Say when cases fail: "only where cols >= 12289"; nothing where no simple condition tells them from the others.

    Where too few fail to tell, say if they are all that there are of the largest sizes: "the only case where ...".

    failed: some cases of one operation; judged: all of its cases, of all its formats, those among them.
    """
    bad = [call for result in failed if (call := _call_of(result.id))]
    wrong = {result.id for result in failed}
    good = [call for result in judged if result.id not in wrong and result.is_fine and (call := _call_of(result.id))]
    if not bad or not good:
        return ""
    single = [(one.words, np.array([one.holds(call) for call in good])) for one in _conditions(bad)]
    simple, closer = _best(single, len(bad)), _best([*_both(single)], len(bad))
    # Two conditions at once are said only where many cases pass in spite of one, and few in spite of both.
    told = closer if closer and (simple is None or simple[1] >= _MANY > closer[1]) else simple
    if told is None:
        return "" if any(result.is_full for result in failed) else _outermost(bad, good)
    words, inside = told
    return f"only where {words}" + (f" ({inside} such case{'s' if inside > 1 else ''} passed)" if inside else "")


def _outermost(bad: Sequence[Call], good: Sequence[Call]) -> str:
    """That the failing cases are just those of the largest, or the smallest, value of a size: a fact, if no proof.

    Few cases have it; which of them fail, chance may have brought about.
    """
    for name in (name for name in bad[0] if all(isinstance(call.get(name), int) for call in (*bad, *good))):
        failing, passing = [call[name] for call in bad], [call[name] for call in good]
        if min(failing) > max(passing):
            return f"the only case{'s' if len(bad) > 1 else ''} where {name} >= {min(failing)}"
        if max(failing) < min(passing):
            return f"the only case{'s' if len(bad) > 1 else ''} where {name} <= {max(failing)}"
    return ""


def _best(tried: Sequence[_Tried], failing: int) -> tuple[str, int] | None:
    """The condition that fewest passing cases meet, and how many do; None where chance may have found it."""
    words, held = min(tried, key=lambda one: int(one[1].sum()), default=("", np.ones(0, bool)))
    inside = int(held.sum())
    return (words, inside) if _is_told(failing, inside, held.size, len(tried)) else None


def _both(single: Sequence[_Tried]) -> Iterator[_Tried]:
    """Two conditions at once, each of which tells some passing cases from the failing ones."""
    telling = [(words, held) for words, held in single if not held.all()]
    for (one, held), (other, also) in itertools.combinations(telling, 2):
        yield f"{one} and {other}", held & also


def _is_told(failing: int, inside: int, passing: int, tried: int) -> bool:
    """Whether most cases in which a condition holds fail, or few others meet it, which is hardly chance.

    inside: how many pass though it holds; tried: how many conditions there were to choose from.
    """
    if inside == passing or (_MOSTLY * inside > failing and _FEW * inside > passing):
        return False
    among, total = inside + failing, passing + failing
    chance = sum(math.log((among - i) / (total - i)) for i in range(failing))
    return chance + math.log(tried) < math.log(CHANCE)


def _conditions(bad: Sequence[Call]) -> Iterator[_Condition]:
    """Every simple condition that holds in all of these calls, the simplest first."""
    names = [name for name in bad[0] if all(name in call for call in bad)]
    for name in names:
        values = [call[name] for call in bad]
        yield from _of_one(name, values)
    sizes = [name for name in names if all(isinstance(call[name], int) for call in bad)]
    for one, other in itertools.permutations(sizes, 2):
        yield from _of_two(one, other, [(call[one], call[other]) for call in bad])


def _of_one(name: str, values: Sequence[Any]) -> Iterator[_Condition]:
    if isinstance(values[0], str):
        return _of_words(name, values)
    return _of_lengths(name, values) if isinstance(values[0], frozenset) else _of_numbers(name, values)


def _of_words(name: str, values: Sequence[str]) -> Iterator[_Condition]:
    """What fills an array: one data set, or two."""
    some = sorted(set(values))
    if len(some) <= 2:
        yield _Condition(f"{name} holds {' or '.join(some)} data", _of(name, lambda value: value in some))


def _of_lengths(name: str, values: Sequence[frozenset[int]]) -> Iterator[_Condition]:
    """A list one of whose arrays is whole chunks."""
    for chunk in _CHUNKS:
        is_whole = functools.partial(_has_whole, chunk)
        if all(map(is_whole, values)):
            yield _Condition(f"{name} is a multiple of {chunk}", _of(name, is_whole))


def _has_whole(chunk: int, lengths: frozenset[int]) -> bool:
    return any(length and length % chunk == 0 for length in lengths)


def _of_numbers(name: str, values: Sequence[float]) -> Iterator[_Condition]:
    low, high = min(values), max(values)
    if low == high:
        yield _Condition(f"{name} = {low:g}", _of(name, lambda value: value == low))
    if 0 not in values:
        yield _Condition(f"{name} is not 0", _of(name, lambda value: value != 0))
    if 1 not in values:
        yield _Condition(f"{name} is not 1", _of(name, lambda value: value != 1))
    if high < 0:
        yield _Condition(f"{name} < 0", _of(name, lambda value: value < 0))
    yield _Condition(f"{name} >= {low:.9g}", _of(name, lambda value: value >= low))
    yield _Condition(f"{name} <= {high:.9g}", _of(name, lambda value: value <= high))
    if all(isinstance(value, int) for value in values):
        for block in _BLOCKS:
            yield from _of_rests(name, {int(value) for value in values}, block)


def _of_rests(name: str, values: set[int], block: int) -> Iterator[_Condition]:
    """Of divisions by what kernels cut an axis into; also for sizes of one block and more.

    Products of sizes are cut into whole blocks or not: what else is left of one, chance alone has in common.
    """
    rests = {value % block for value in values}
    if 0 not in rests:
        yield _Condition(f"{name} % {block} != 0", _of(name, lambda value: value % block != 0))
        if min(values) > block:
            words = f"{name} > {block} and {name} % {block} != 0"
            yield _Condition(words, _of(name, lambda value: value > block and value % block != 0))
    if len(rests) == 1 and len(values) > 1:
        [rest] = rests
        if rest and name.startswith(_PRODUCT):
            return
        yield _Condition(f"{name} % {block} = {rest}", _of(name, lambda value: value % block == rest))


def _of_two(one: str, other: str, values: Sequence[tuple[int, int]]) -> Iterator[_Condition]:
    def compared(test: Callable[[int, int], bool]) -> Test:
        return lambda call: one in call and other in call and test(call[one], call[other])

    if all(a > b for a, b in values):
        yield _Condition(f"{one} > {other}", compared(operator.gt))
    if one < other and all(a == b for a, b in values):
        yield _Condition(f"{one} = {other}", compared(operator.eq))
    if one < other and all(a != b for a, b in values):
        yield _Condition(f"{one} is not {other}", compared(operator.ne))


def _of(name: str, test: Callable[[Any], bool]) -> Test:
    """A test of one entry, of calls that have it."""
    return lambda call: name in call and test(call[name])


@functools.cache
def _call_of(id: str) -> Call | None:
    """The numbers of a case's call, and what fills each of its arrays; None of what is no single call."""
    if ids.is_full(id):
        return _numbers(FULL[id].operation, FULL[id].sizes) if id in FULL else None
    if ids.is_of_step(id) or ids.is_probe(id) or ids.is_refusal(id) or ids.is_sequence(id):
        return None
    if (case := case_named(id)) is None:
        return None
    arrays = operations.read_arrays(operations.OPERATIONS[case.operation])
    filled = {p.name: case.spec.inputs.get(p.name, case.data) for p in arrays}
    return {**_numbers(case.operation, case.sizes), **{name: v for name, v in filled.items() if isinstance(v, str)}}


def _numbers(operation: str, given: Mapping[str, Any]) -> Call:
    """Sizes and scalars; of a list how many, the largest and the smallest, of lengths all; of outputs the elements."""
    found: dict[str, Any] = {}
    lengths = {one.each[1] for one in operations.read_arrays(operations.OPERATIONS[operation]) if one.each}
    for name, value in given.items():
        if isinstance(value, (tuple, list, range)) and value:
            found |= {"count": len(value), f"the largest of {name}": int(max(value))}
            found |= {f"the smallest of {name}": int(min(value))}
            found |= {f"one of {name}": frozenset(value)} if name in lengths else {}
        elif isinstance(value, (int, float)):
            found[name] = value
    for parameter in operations.written_arrays(operations.OPERATIONS[operation]):
        if not parameter.each and len(parameter.shape) > 1:
            count = math.prod(int(axis.size(given)) for axis in parameter.shape)
            found[f"{_PRODUCT} of {parameter.name}"] = count
    return found | _terms(operation, given)


def _terms(operation: str, given: Mapping[str, Any]) -> dict[str, int]:
    """How many numbers stand behind each index of an input's first axis, where that is no size: what a sum is of.

    Likewise behind those of the first two, which in convolutions are a plane.
    """
    found = {}
    for one in operations.read_arrays(operations.OPERATIONS[operation]):
        sizes = [] if one.each else [int(axis.size(given)) for axis in one.shape]
        for fixed in range(1, min(3, len(sizes) - 1)):
            found[f"{_PRODUCT} of {one.name}{'[0]' * fixed}"] = math.prod(sizes[fixed:])
    return found
