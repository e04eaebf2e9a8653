"""A call that failed, and each of its wrong outputs: what an explanation is tried on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bindings import Signature
from bindings.header.records import Parameter
from conformance import operations
from conformance.candidates.poison import poison
from conformance.judging.verdict import judge
from conformance.limits.expectation import Expected, expect
from conformance.limits.measure import measure
from conformance.limits.noise import FLOAT32, FORMATS, Noisy, Precision, exact, stored, using
from conformance.operations import axis_names

Array = NDArray[Any]
Mask = NDArray[np.bool_]
_FEW = 256  # elements of a large array that an explanation is tried on first


@dataclass(frozen=True)
class Failed:
    """A call that failed.

    expected, got: outputs by flat name, as they were judged; last: what the candidate returned from the call before;
    again: what the same call gave once more, on outputs that held another poison; None where that is not known.
    sizes: the call's sizes and scalars by name, where they are not those of its arguments, as of a part of a call.
    carried_out: the operation as it is computed for such a part, where that is not on its arguments alone.
    computed: what implementations of other unit roundoffs must give, as far as anybody has asked.
    """

    operation: str
    arguments: Mapping[str, Any]
    expected: Expected
    got: Mapping[str, Array]
    last: Mapping[str, Array]
    again: Mapping[str, Array] | None = None
    sizes: Mapping[str, Any] | None = None
    carried_out: Callable[..., Any] | None = None
    computed: dict[float, Expected] = field(default_factory=dict)

    @cached_property
    def inputs(self) -> dict[str, Array]:
        """Every array the call was given, by flat name."""
        return operations.flat({n: v for n, v in self.arguments.items() if isinstance(v, (np.ndarray, list))})

    @cached_property
    def numbers(self) -> dict[str, float]:
        """Every size and scalar of the call by name."""
        sizes = self.sizes or Signature(operations.OPERATIONS[self.operation]).sizes(self.arguments)
        return {name: float(value) for name, value in sizes.items() if np.ndim(value) == 0}

    def computed_with(self, unit: float) -> Expected:
        """What an implementation of another unit roundoff must give."""
        if unit not in self.computed:
            with using(replace(FLOAT32, unit=unit)):
                self.computed[unit] = expect(self.operation, self.arguments, self.carried_out)
        return self.computed[unit]


@dataclass(frozen=True)
class Wrong:
    """One output of it that is wrong."""

    call: Failed
    output: str

    @cached_property
    def got(self) -> Array:
        return np.asarray(self.call.got[self.output])

    @cached_property
    def right(self) -> Any:
        """What should have come: noise numbers where it is floating point, else the plain array."""
        wanted = self.call.expected[self.output]
        return exact(wanted) if not isinstance(wanted, Noisy) and wanted.dtype.kind == "f" else wanted

    @cached_property
    def values(self) -> Array:
        """What should have come, as plain float64 numbers."""
        return np.asarray(self.right.v if isinstance(self.right, Noisy) else self.right, np.float64)

    @cached_property
    def inputs(self) -> dict[str, Array]:
        """The arrays the call was given, by flat name; of lists those with the output's own place in its list."""
        mine = self.output.partition("[")[2]
        return {name: array for name, array in self.call.inputs.items() if name.partition("[")[2] in ("", mine)}

    @cached_property
    def choices(self) -> int:
        """How many different values should have come."""
        return max(2, np.unique(self.values).size)

    @cached_property
    def beyond(self) -> Mask:
        """The elements beyond their limit."""
        return measure(self.right, self.got).share > 1

    @property
    def bad(self) -> Mask:
        """The elements beyond their limit; all where none is, and the failure is one of averages."""
        return self.beyond if self.beyond.any() else np.ones(self.got.shape, bool)

    @cached_property
    def again(self) -> Array | None:
        """What came the second time; None where that is not known."""
        return None if self.call.again is None else np.asarray(self.call.again[self.output])

    @property
    def parameter(self) -> Parameter:
        """How the header declares it."""
        return operations.declared(operations.OPERATIONS[self.call.operation], self.output)

    @property
    def smallest(self) -> float:
        """The smallest number that is not subnormal as the output is stored."""
        return (self.format or FLOAT32).smallest

    @property
    def format(self) -> Precision | None:
        """The format that the output is stored in; None of whole numbers."""
        return FORMATS.get(self.parameter.element)

    def poison(self, run: int) -> Array:
        """What each element held before a run, unless it was to be read."""
        return poison(self.parameter.type.dtype, run)

    def with_poison(self, right: Any, run: int) -> Any:
        """The sum of right values and what stood there, as it is stored."""
        if not isinstance(right, Noisy):
            return right + self.poison(run)
        total = right + exact(self.poison(run).astype(np.float64))
        return stored(total, FORMATS[self.parameter.element]) if self.parameter.type.is_half else total

    @property
    def axes(self) -> tuple[str, ...]:
        """What a place along each axis is called."""
        return axis_names(self.call.operation, self.output)

    def holds(self, explained: Any, got: Array | None = None) -> bool:
        """Whether what came (or a part of it) is what the explanation says, decided as every verdict is."""
        came = self.got if got is None else got
        if came.size > _FEW:
            some = np.linspace(0, came.size - 1, _FEW).astype(int)
            if (measure(explained.reshape(-1)[some], came.reshape(-1)[some]).share > 1).any():
                return False
        return bool(came.size) and judge(self.output, explained, came).passed


class Undeclared(Wrong):
    """A wrong tensor of a step or of a graph, which the header declares nowhere: it is of float32."""

    @property
    def format(self) -> Precision:
        return FLOAT32

    def poison(self, run: int) -> Array:
        return poison(np.dtype(np.float32), run)
