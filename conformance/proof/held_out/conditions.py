"""Conditions under which a fault shows: such that a held-out case meets them, and no case that remains."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conformance.catalogue.design.levels import CLASS_ENDS

from .properties import Kind, Property, properties_of, value_of

_LARGE, _SMALL = 10, -10  # exponents past which an array is called large, or small
_MANY = 100  # a scalar from here on is called large
_EXPONENT, _DISTANCE = "exponent", "distance between maxima"
Arguments: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Condition:
    """That a property lies between two numbers, both ends among them."""

    of: Property
    kind: Kind
    least: float
    most: float

    def holds(self, value: float) -> bool:
        """Whether a property with this value meets it; NaN meets none."""
        return self.least <= value <= self.most

    @property
    def described(self) -> str:
        """What it says, for a person."""
        name = self.of.described
        if self.kind == "values" and self.of.what not in (_EXPONENT, _DISTANCE):
            return f"{self.of.argument} has {self.of.what}"
        if self.least == self.most:
            return f"{name} == {self.least:g}"
        return f"{name} >= {self.least:g}" if math.isinf(self.most) else f"{name} <= {self.most:g}"


Conditions: TypeAlias = tuple[Condition, ...]  # that are met together


def hold(conditions: Conditions, operation: str, arguments: Arguments) -> bool:
    """Whether a call meets all of some conditions."""
    return all(one.holds(value_of(operation, arguments, one.of)) for one in conditions)


def conditions_of(operation: str, arguments: Arguments) -> list[Condition]:
    """Return the conditions that a call meets, of every property: the bounds are its own values, or ends of classes."""
    every = properties_of(operation)
    return [one for of, kind in every.items() for one in _of(of, kind, value_of(operation, arguments, of))]


def _of(of: Property, kind: Kind, value: float) -> Iterator[Condition]:
    """Yield the conditions that one property's value meets."""
    for least, most in dict.fromkeys(_bounds(of, kind, value)):
        yield Condition(of, kind, float(least), float(most))


def _bounds(of: Property, kind: Kind, value: float) -> Iterator[tuple[float, float]]:
    if kind == "size" and of.what == "value":
        above, below = [end for end in CLASS_ENDS if end < value], [end for end in CLASS_ENDS if end >= value]
        yield value, value
        yield from ((least, math.inf) for least in (value, *(end + 1 for end in above[-1:])) if least > 1)
        yield from ((-math.inf, most) for most in (value, *below[:1]))
    elif kind != "values":
        yield value, value
        if kind == "scalar" and value >= _MANY:
            yield value, math.inf
    elif of.what == _EXPONENT:
        if value >= _LARGE:
            yield value, math.inf
        elif value <= _SMALL:
            yield -math.inf, value
    elif value > 0 and not (of.what == _DISTANCE and value.is_integer() and int(value) & (int(value) - 1)):
        yield value, value  # maxima stand a power of two apart where that is meant; any other distance is chance


def only_here(
    operation: str, conditions: Sequence[Condition], others: Sequence[Arguments], sizes: Sequence[Arguments]
) -> list[Conditions]:
    """Return every one or two conditions that no other call meets; of two, neither would do alone.

    others: the arguments of the other calls.  sizes: the sizes and scalars of calls whose arrays may hold anything.
    """
    met = np.array(
        [*_table(operation, conditions, others), *(_possible_by_size(conditions, each) for each in sizes)], bool
    )
    count = len(conditions)
    together = met.T.astype(np.int64) @ met if len(met) else np.zeros((count, count), np.int64)
    alone = np.diag(together) == 0
    singles = [(one,) for one, is_alone in zip(conditions, alone, strict=True) if is_alone]
    pairs = [
        (conditions[i], conditions[j])
        for i, j in np.argwhere(np.triu(together == 0, 1))
        if not alone[i] and not alone[j] and conditions[i].of.argument != conditions[j].of.argument
    ]
    return [*singles, *pairs]


def _table(operation: str, conditions: Sequence[Condition], calls: Sequence[Arguments]) -> Iterator[NDArray[np.bool_]]:
    """Yield for each call which conditions it meets."""
    wanted = list(dict.fromkeys(one.of for one in conditions))
    for arguments in calls:
        values = {of: value_of(operation, arguments, of) for of in wanted}
        yield np.array([one.holds(values[one.of]) for one in conditions])


def _possible_by_size(conditions: Sequence[Condition], sizes: Arguments) -> NDArray[np.bool_]:
    """Which conditions a call of these sizes and scalars meets, or might; what is not told may be anything."""
    return np.array(
        [
            one.of.what != "value"
            or not isinstance(size := sizes.get(one.of.argument), int | float)
            or one.holds(float(size))
            for one in conditions
        ]
    )
