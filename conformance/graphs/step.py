"""One step of a task on a namespace of operations, record by record: what the judge expects, and what readings bend.

It shares with the room `graph` what each kind of record computes, and nothing of how records are put together: what
gradients are sums of, and the update, are said once more here.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from conformance.limits.noise import Noisy
from graph.kinds.norms import BatchNorm
from reference.namespace import Ops

from .task import Task
from .update import update

Array = Any  # of the namespace's kind
Results = dict[str, Array]


class Part(NamedTuple):
    """What a gradient has of one record; of a value that it reads twice, two."""

    number: int
    array: Array


class Step:
    """A step that is made once.

    convert: makes an array of the namespace's kind.  results: everything that it came to, by flat name;
    parts: what each gradient is the sum of; saved: what each record kept for backward.
    """

    def __init__(self, ops: Ops, task: Task, convert: Callable[[Any], Array] = np.asarray) -> None:
        self.ops, self.task, self.convert = ops, task, convert
        self.results: Results = {}
        self.parts: dict[str, list[Part]] = {}
        self.saved: dict[int, tuple[Array, Any]] = {}  # by record: its output as it was computed, and the rest
        self.parameters = {name: self._given(array) for name, array in task.parameters.items()}
        self.values = {name: self._given(array) for name, array in task.inputs.items()}

    def _given(self, array: Any) -> Array:
        return self.convert(array) if array.dtype.kind == "f" else array

    # ---- what a reading, or the judge of single records, does otherwise ------------------------------------------
    def goes_on(self, name: str, computed: Array) -> Array:
        """What the records behind a result read of it."""
        return computed

    def forward_of(self, number: int, inputs: Sequence[Array], parameters: Sequence[Array]) -> tuple[Array, Any]:
        """A record's output, and what its backward needs beside it."""
        task = self.task
        record = task.records[number]
        found: tuple[Array, Any] = task.kind(number).forward(self.ops, record, inputs, parameters, task.context(number))
        return found

    def backward_of(
        self, number: int, inputs: Sequence[Array], parameters: Sequence[Array], d_output: Array
    ) -> tuple[Sequence[Array | None], Sequence[Array | None]]:
        """The gradients of what a record reads, None where there is none: inputs, then parameters."""
        task = self.task
        output, saved = self.saved[number]
        found: tuple[Sequence[Array | None], Sequence[Array | None]] = task.kind(number).backward(
            self.ops, task.records[number], inputs, parameters, output, saved, d_output, task.context(number)
        )
        return found

    def total(self, name: str, parts: Sequence[Part]) -> Array:
        """A gradient of what all records that read a value or parameter add to it."""
        return settled(functools.reduce(operator.add, (part.array for part in parts)))

    def updated(self, gradients: Mapping[str, Array]) -> Mapping[str, Array]:
        """The parameters after the update."""
        return update(self.ops, self.task.settings, {n: self.parameters[n] for n in gradients}, gradients)

    # ---- the step ------------------------------------------------------------------------------------------------
    def run(self) -> Results:
        """Make the step and return its results by flat name."""
        with np.errstate(all="ignore"):
            for number in self.task.order:
                self._forward(number)
            for number in reversed(self.task.order if self.task.settings.training else ()):
                self._backward(number)
            self.results |= {name: self._added(name) for name in self.parts}
            if self.task.settings.optimizer and self.task.trained:
                gradients = {name: self.goes_on_with(f"gradient.{name}") for name in self.task.trained}
                after = self.updated(gradients)
                self.results |= {f"parameter.{name}": array for name, array in after.items()}
        return self.results

    def _forward(self, number: int) -> None:
        task, record = self.task, self.task.records[number]
        read, held = self._read(number)
        self.saved[number] = output, _ = self.forward_of(number, read, held)
        name = f"{'loss' if record.output in task.losses else 'value'}.{record.output}"
        self.results[name] = output
        self.values[record.output] = self.goes_on(name, output)
        kind = task.kind(number)
        if isinstance(kind, BatchNorm) and task.settings.training:
            after = kind.updated(record, self.saved[number][1])
            self.results |= {f"state.{one}": array for one, array in after.items()}

    def _read(self, number: int) -> tuple[list[Array], list[Array]]:
        record = self.task.records[number]
        return [self.values[name] for name in record.inputs], [self.parameters[name] for name in record.parameters]

    def _backward(self, number: int) -> None:
        """Add what a record has to the gradients of what it reads, once that of its output is whole."""
        task, record = self.task, self.task.records[number]
        is_loss = task.kind(number).is_loss
        gradient = f"gradient.{record.output}"
        if not is_loss and gradient not in self.parts:
            return
        if not is_loss:
            self.results[gradient] = self._added(gradient)
        d_output = None if is_loss else self.goes_on_with(gradient)
        of_inputs, of_parameters = self.backward_of(number, *self._read(number), d_output)
        for name, array in (
            *zip(record.inputs, of_inputs, strict=True),
            *zip(record.parameters, of_parameters, strict=True),
        ):
            if array is not None and f"gradient.{name}" in task.known:
                self.parts.setdefault(f"gradient.{name}", []).append(Part(number, array))

    def _added(self, name: str) -> Array:
        """A gradient once all its parts are there; each is added up once."""
        return self.results[name] if name in self.results else self.total(name, self.parts[name])

    def goes_on_with(self, name: str) -> Array:
        """A gradient as the records before it read it."""
        return self.goes_on(name, self.results[name])


def settled(array: Array) -> Array:
    """An array as it lies in memory: of noise numbers, how it was made is forgotten."""
    return array.as_read() if isinstance(array, Noisy) else array
