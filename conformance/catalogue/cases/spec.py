"""How a case is stated: an operation, its sizes and scalars, and which data set fills each array.

A `Spec` is one line of a family's catalogue: it stands for one case for every pair of a data set and sizes.  The
header says which arrays there are and what shapes they have, so a spec names only what differs from plain data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bindings.header.records import Parameter
from conformance import operations
from reference import random

from .data import DATA, Draw, special

Sizes = Mapping[str, Any]
Arguments = dict[str, Any]
Maker = Callable[[Draw, tuple[int, ...], Sizes], NDArray[Any]]
Finish = Callable[[Arguments, Sizes, Draw], Arguments]


def sizes(names: str, *rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Return one mapping for each row: sizes("rows cols", (1, 1), (3, 33))."""
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


@dataclass(frozen=True)
class Case:
    """One call of one operation and how its inputs come about."""

    operation: str
    data: str
    name: str
    sizes: Sizes
    spec: Spec

    @property
    def id(self) -> str:
        return f"{self.operation}/{self.data}/{self.name}"

    @cached_property
    def elements(self) -> int:
        """How many elements the call is given; 0 where it is given no array."""
        given = operations.read_arrays(operations.OPERATIONS[self.operation])
        return sum(_elements(parameter, self.sizes) for parameter in given)

    def arguments(self, seed: int = 0) -> Arguments:
        """Return the call's arrays and scalars by header name; the same for the same id and seed, always."""
        draw = Draw(random.stream("case", self.id, seed))
        made: Arguments = {}
        function = operations.OPERATIONS[self.operation]
        for parameter in operations.read_arrays(function):
            if parameter.name in operations.layout_arrays(function):
                made[parameter.name] = np.array(self.sizes[parameter.name], np.int64)
            else:
                made[parameter.name] = operations.fill(parameter, self.sizes, partial(self._make, parameter.name, draw))
        for name in operations.scalars(function):
            made[name] = self.sizes[name]
        if self.spec.finish:
            made |= self.spec.finish(made, self.sizes, draw)
        return operations.typed(function, made)

    def _make(self, name: str, draw: Draw, shape: tuple[int, ...]) -> NDArray[Any]:
        maker, source = self.spec.inputs.get(name, self.data), draw.of(name)
        return DATA[maker](source, shape) if isinstance(maker, str) else maker(source, shape, self.sizes)


def _elements(parameter: Parameter, sizes: Sizes) -> int:
    if parameter.each:
        return sum(sizes[parameter.each[1]])
    return math.prod(axis.size(sizes) for axis in parameter.shape)


@dataclass(frozen=True)
class Spec:
    """Cases of one operation: every data set at every one of its sizes."""

    operation: str
    data: Mapping[str, Sequence[Sizes]]
    inputs: Mapping[str, str | Maker] = field(default_factory=dict)
    finish: Finish | None = None  # makes the arrays that follow from the others
    why: str = ""  # the reason this line exists, where the data set's own is not all; part of the id
    signed_zeros: bool = False  # the sign of a zero counts, where the result is exact
    trivial: str = ""  # why doing next to nothing is right here
    derive: Callable[[Sizes], Sizes] = dict  # a row -> the call's sizes, scalars, and what its shapes and strides hold
    by_design: bool = False  # one of many cases that cover a space together: what passes here fails in others

    def cases(self) -> Iterator[Case]:
        for data, rows in self.data.items():
            for row in rows:
                words = [f"{v:g}" if isinstance(v, float) else str(v) for v in row.values()]
                text = ("_" if any(isinstance(v, str) for v in row.values()) else "x").join(words)
                name = f"{self.why}_{text}" if self.why else text
                yield Case(self.operation, data, name, self.derive(row), self)


def ids(high: str | int, low: int = 0) -> Maker:
    """Integers from low up to, not including, a size given by name."""

    def make(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[Any]:
        return draw.integers(low, sizes[high] if isinstance(high, str) else high, shape)

    return make


def scaled(data: str, factor: float) -> Maker:
    """A data set times a factor."""
    return lambda draw, shape, sizes: DATA[data](draw, shape) * factor


def rows_apart(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[Any]:
    """Normal numbers, every other row 200 above its neighbours: exp overflows with another row's maximum."""
    return np.asarray(draw.normal(shape) + 200.0 * (np.arange(shape[0])[:, None] % 2))


def zeros_on_top(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[Any]:
    """Zeros of both signs, which are equal, above negative numbers."""
    zeros = np.where(draw.of("sign").integers(0, 2, shape) == 1, -0.0, 0.0)
    return np.where(draw.of("zero").integers(0, 3, shape) == 0, zeros, -np.abs(draw.normal(shape)))


def none_infinite(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[Any]:
    """Zeros, as masks leave them, and NaN among numbers: no softmax gives an infinite weight."""
    weights = special(draw, shape)
    return np.where(np.isinf(weights), 0.0, weights)


def nan_further_along(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[Any]:
    """Normal numbers, and in each row one NaN, further along than in the row before."""
    rows, columns = shape
    places = np.arange(1, rows + 1) * columns // (rows + 1)
    return np.where(np.arange(columns) == places[:, None], np.nan, draw.normal(shape))


def infinite_beside_the_chosen(weights: str, gradient: str) -> Finish:
    """Weights of which one in each row is 1 and the others are 0, one of which meets infinity in every other row."""

    def finish(made: Arguments, sizes: Sizes, draw: Draw) -> Arguments:
        shape = made[gradient].shape
        columns, rows = np.arange(shape[-1]), np.arange(np.prod(shape[:-1])).reshape(shape[:-1])
        chosen = draw.of("chosen").integers(0, shape[-1], shape[:-1])
        infinite = (columns == (chosen[..., None] + 1) % shape[-1]) & (rows[..., None] % 2 == 0)
        return {
            weights: np.where(columns == chosen[..., None], 1.0, 0.0),
            gradient: np.where(infinite, np.inf, made[gradient]),
        }

    return finish


def nan(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[Any]:
    """Nothing but NaN: memory that must not be read."""
    return np.full(shape, np.nan)


def permutation(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[Any]:
    """Every row number once."""
    return draw.permutation(int(np.prod(shape))).reshape(shape)


def seeds(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> NDArray[Any]:
    """Well mixed 64-bit seeds."""
    return np.array([random.stream(draw.seed, i) for i in range(shape[0])], np.uint64)
