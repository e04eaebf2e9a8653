"""Where a number passes through an operation as it is, and where numbers are added up: found on the reference.

A channel leads from an input to the last element of an output.  That element must be a fixed multiple of the number put
in (carry), or of the sum of the numbers along one axis (sum), with all other numbers 1 or 0.  Sums of exponentials and
of squares are known by their formula.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance import operations
from conformance.catalogue.families import facts_of

from .arguments import Array, axes, build, evaluated, floats

_FEW = 4  # numbers added up while looking for channels
_LARGEST = 1 << 23  # elements of an array that a probe may ask for


def _same(values: Array) -> Array:
    return values


@dataclass(frozen=True)
class Channel:
    """`factor`: what a number put in comes out as; `scales`: the factor is shared among the numbers (a mean)."""

    operation: str
    input: str
    output: str
    axis: str  # that numbers are added up along; "" for one number
    rest: float  # what the other arrays hold
    factor: float = 1.0
    scales: bool = False
    put: Callable[[Array], Array] = _same  # what is put in for the terms to be these
    take: Callable[[float, int], float] = lambda out, n: out  # the sum from what came out
    whole: str = ""  # a scalar that is as large as the axis is long

    @property
    def described(self) -> str:
        """What tells it from others."""
        return f"{self.operation} {self.input} {self.output} {self.axis} {self.rest} {self.factor} {self.scales}"

    @property
    def is_exact(self) -> bool:
        """Whether numbers go in as they are, and come out times a power of two."""
        return self.is_linear and abs(np.frexp(self.factor)[0]) == 0.5

    @property
    def is_linear(self) -> bool:
        """Whether the numbers go in as they are."""
        return self.put is _same

    def arguments(self, *numbers: float) -> dict[str, Any]:
        """Return the arguments of a call that puts these numbers in."""
        held = self.put(np.array(numbers, np.float64))
        made = build(self.operation, self.axis, len(numbers), self.rest, {self.input: held})
        return made | ({self.whole: len(numbers)} if self.whole else {})

    def read(self, outputs: Mapping[str, Any]) -> Any:
        """Return the element that the channel leads to; outputs by flat name."""
        return outputs[self.output].reshape(-1)[-1 if self.is_linear else 0]

    def total(self, out: float, count: int) -> float:
        """Return the sum of so many numbers from what came out."""
        if not self.is_linear:
            return self.take(out, count)
        return out / (self.factor * _FEW / count if self.scales else self.factor)

    def is_affordable(self, count: int) -> bool:
        """Whether no array grows beyond what a probe may ask for."""
        function = operations.OPERATIONS[self.operation]
        return all(count ** axes(p).count(self.axis) <= _LARGEST for p in function.parameters if p.is_array)


def _known(operation: str) -> Iterator[Channel]:
    """Sums that numbers go into by way of a function; of float32 arrays, as all that is put in."""
    if operations.is_sixteen_bit(operation):
        return
    for known in facts_of(operation).known_sums:
        yield Channel(operation, known.input, known.output, known.axis, known.rest, put=known.put, take=known.total,
                      whole=known.also)  # fmt: skip


@functools.cache
def carries(operation: str) -> tuple[Channel, ...]:
    """Return the channels that one number passes through, one for each input and output that there is one for."""
    found: dict[tuple[str, str], Channel] = {}
    for parameter in floats(operation):
        for rest in (1.0, 0.0):
            try:
                outs = [evaluated(operation, _one(operation, parameter.name, rest, x)) for x in (1.0, 2.0, 4.0, 0.5)]
            except ValueError:
                continue
            for name, first in outs[0].items():
                factor = float(first.reshape(-1)[-1])
                ratios = [float(out[name].reshape(-1)[-1]) for out in outs[1:]]
                if factor and np.isfinite(factor) and ratios == [2 * factor, 4 * factor, 0.5 * factor]:
                    key = parameter.name, name
                    found.setdefault(key, Channel(operation, *key, "", rest, factor))
    return tuple(found.values())


def _one(operation: str, name: str, rest: float, x: float) -> dict[str, Any]:
    return build(operation, "", 1, rest, {name: np.array(x)})


@functools.cache
def sums(operation: str) -> tuple[Channel, ...]:
    """Return the channels that add numbers up, linear ones first."""
    found = [
        channel
        for parameter in floats(operation)
        for axis in dict.fromkeys(filter(None, axes(parameter)))
        for rest in (1.0, 0.0)
        for channel in _linear(operation, parameter.name, axis, rest)
    ]
    return (*{(c.input, c.output, c.axis): c for c in reversed(found)}.values(), *_known(operation))


def _linear(operation: str, name: str, axis: str, rest: float) -> Iterator[Channel]:
    def out(*numbers: float) -> dict[str, Any]:
        return evaluated(operation, build(operation, axis, len(numbers), rest, {name: np.array(numbers)}))

    try:
        units = [out(*row) for row in np.eye(_FEW)]
        whole, longer = out(1, 2, 4, 8), out(*[1] + [0] * (2 * _FEW - 1))
    except ValueError:  # this axis cannot have such a length by itself
        return
    for output, value in units[0].items():
        factors = {float(unit[output].reshape(-1)[-1]) for unit in units}
        factor = float(value.reshape(-1)[-1])
        if len(factors) == 1 and factor and np.isfinite(factor) and float(whole[output].reshape(-1)[-1]) == 15 * factor:
            shared = float(longer[output].reshape(-1)[-1]) != factor
            yield Channel(operation, name, output, axis, rest, factor, shared)
