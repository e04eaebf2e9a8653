"""The locked step: every record is judged on what the engine itself gave it to read.

Forward, a record's output is due from the values that were handed in for its inputs; backward, a gradient from those
that were handed in for the outputs of the records that read it.  What was not handed in, or holds no numbers, is taken
as it has to be, so that what lies behind it is judged all the same.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.limits.noise import Noisy, exact
from graph import Record

from .choices import Watched
from .handed import Handed
from .step import Step
from .task import Task
from .update import clip


def noisy(array: Any) -> Noisy:
    return exact(array, worst=False)


class Local(Step):
    """A step on noise numbers that goes on with what an engine has handed in.

    near: of each record, how many of its choices lie within the noise.
    """

    def __init__(self, task: Task, came: Handed) -> None:
        super().__init__(Watched(noisy), task, noisy)
        self.came = came
        self.near: Counter[int] = Counter()

    def goes_on(self, name: str, computed: Any) -> Any:
        return noisy(self.came.arrays[name]) if self.came.is_usable(name) else computed

    def forward_of(self, number: int, inputs: Sequence[Any], parameters: Sequence[Any]) -> tuple[Any, Any]:
        found = super().forward_of(number, inputs, parameters)
        self._count(number)
        return found

    def backward_of(self, number: int, *given: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        found = super().backward_of(number, *given)
        self._count(number)
        return found

    def _count(self, number: int) -> None:
        self.near[number] += self.ops.near
        self.ops.near = 0

    @functools.cached_property
    def clipped(self) -> Mapping[str, Any]:
        """What was handed in of the parameters' gradients, by their names, all clipped by one norm."""
        gradients = {name: self.goes_on_with(f"gradient.{name}") for name in self.task.trained}
        return clip(self.ops, self.task.settings.clip_norm, gradients)

    # ---- for diagnosis: one record once more ---------------------------------------------------------------------
    def read_by(self, number: int) -> tuple[list[Any], list[Any]]:
        """What a record read."""
        return self._read(number)

    def forward_with(
        self, number: int, record: Record, read: tuple[Sequence[Any], Sequence[Any]] | None = None
    ) -> tuple[Any, Any]:
        """The output of a record in place of another, and what its backward needs; read: in place of what it read."""
        inputs, parameters = read or self.read_by(number)
        with np.errstate(all="ignore"):
            task = self.task
            found: tuple[Any, Any] = task.kind(number).forward(
                self.ops, record, inputs, parameters, task.context(number)
            )
        return found

    def backward_with(self, number: int, record: Record, forward: tuple[Any, Any]) -> dict[str, list[Any]]:
        """What a record in place of another adds to the gradients of what it reads, by flat name."""
        task = self.task
        read, held = self.read_by(number)
        is_loss = task.kind(number).is_loss
        d_output = None if is_loss else self.goes_on_with(f"gradient.{record.output}")
        with np.errstate(all="ignore"):
            found = task.kind(number).backward(self.ops, record, read, held, *forward, d_output, task.context(number))
        parts: dict[str, list[Any]] = {}
        for names, arrays in zip((record.inputs, record.parameters), found, strict=True):
            for name, array in zip(names, arrays, strict=True):
                if array is not None:
                    parts.setdefault(f"gradient.{name}", []).append(array)
        return parts


def with_attributes(record: Record, **changed: Any) -> Record:
    """A record with some attributes replaced."""
    return replace(record, attributes={**record.attributes, **changed})
