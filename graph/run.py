"""A graph evaluated on a namespace of operations: forward, losses, and backward with gradients accumulated."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from reference.arrays import Array
from reference.namespace import Ops

from .checked import Checked
from .errors import GraphError, refuse
from .kinds import KINDS, Context
from .kinds.norms import BatchNorm
from .records import place


@dataclass
class Forward:
    """What a forward pass gives.

    values: every input and value by name; parameters: those that it was run with; saved: by record, what its backward
    needs; losses: by the value's name, (1,); state: running statistics behind it; weights: what each loss counts.
    """

    values: dict[str, Array]
    parameters: dict[str, Array]
    training: bool
    seed: int
    step: int
    saved: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    losses: dict[str, Array] = field(default_factory=dict)
    state: dict[str, Array] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)

    @property
    def loss(self) -> float:
        """The sum of weight * loss; waits for losses that lie on a device."""
        return sum(self.weights[name] * _number(array) for name, array in self.losses.items())


@dataclass
class Backward:
    """Gradients of the sum of weight * loss: of every value that a loss depends on, and of every trained parameter.

    A parameter that no loss depends on has None.
    """

    values: dict[str, Array]
    parameters: dict[str, Array | None]


def _number(array: Array) -> float:
    """The only value of an array, or of a noise number, whose values are its v."""
    return float(array.v[0]) if hasattr(array, "v") else float(array[0])


class Run:
    """A checked graph on a namespace of operations: the reference, on any kind of number, or a library.

    `draws`: where dropout takes key and offset from in place of context.philox_of, by the record's number.
    """

    def __init__(self, checked: Checked, ops: Ops, draws: Callable[[int], Array] | None = None) -> None:
        self.checked, self.ops, self._draws = checked, ops, draws

    def forward(
        self,
        arrays: Mapping[str, Array],
        *,
        training: bool = True,
        seed: int = 0,
        step: int = 0,
        losses: bool = True,
    ) -> Forward:
        """Evaluate every record; arrays: all inputs and parameters by name.

        losses: false leaves the losses out, and what only they read need not be given. Raises GraphError for an array
        that is missing, unknown, of another shape, or not of whole numbers where class numbers are due.
        """
        graph, skipped = self.checked.graph, set() if losses else set(self.checked.losses)
        self.check(arrays, skipped)
        parameters = {name: arrays[name] for name in graph.parameters if name in arrays}
        values = {name: arrays[name] for name in graph.inputs if name in arrays}
        found = Forward(values, parameters, training, seed, step)
        for number in self.checked.order:
            if number not in skipped:
                self._evaluate(number, found)
        return found

    def _evaluate(self, number: int, found: Forward) -> None:
        record = self.checked.graph.records[number]
        kind = KINDS[record.kind]
        inputs, parameters = self._arguments(number, found)
        output, saved = kind.forward(self.ops, record, inputs, parameters, self._context(number, found))
        found.values[record.output], found.saved[number] = output, saved
        if kind.is_loss:
            found.losses[record.output] = output
            found.weights[record.output] = record.attributes["weight"]
        if found.training and isinstance(kind, BatchNorm):
            found.state.update(kind.updated(record, saved))

    def _arguments(self, number: int, found: Forward) -> tuple[list[Array], list[Array]]:
        record = self.checked.graph.records[number]
        inputs = [found.values[name] for name in record.inputs]
        # Two records that share running statistics update them one after the other.
        return inputs, [found.state.get(name, found.parameters[name]) for name in record.parameters]

    def _context(self, number: int, found: Forward) -> Context:
        return Context(found.training, found.seed, found.step, number, self._draws)

    def backward(self, forward: Forward) -> Backward:
        """Return the gradients of the sum of weight * loss; a value or parameter used twice has the sum of both.

        Raises GraphError for a graph without a loss, and for a pass that was not one of training.
        """
        if not forward.losses:
            raise refuse("backward", "a forward pass with a loss", "one without")
        if not forward.training:
            raise refuse("backward", "a forward pass with training=True", "one with training=False")
        values: dict[str, Array] = {}
        parameters: dict[str, Array | None] = dict.fromkeys(self.checked.trainable)
        for number in reversed(self.checked.order):
            record = self.checked.graph.records[number]
            kind = KINDS[record.kind]
            d_output = values.get(record.output)
            if d_output is None and not kind.is_loss:
                continue
            d_inputs, d_parameters = kind.backward(
                self.ops, record, *self._arguments(number, forward), forward.values[record.output],
                forward.saved[number], d_output, self._context(number, forward),
            )  # fmt: skip
            for name, gradient in zip(record.inputs, d_inputs, strict=True):
                self._accumulate(values, name, gradient)
            for name, gradient in zip(record.parameters, d_parameters, strict=True):
                self._accumulate(parameters, name, gradient)
        return Backward(values, parameters)

    def _accumulate(self, into: dict[str, Any], name: str, gradient: Array | None) -> None:
        if gradient is None:
            return
        held = into.get(name)
        if held is not None:
            gradient = self.ops.add(held.reshape(-1), gradient.reshape(-1)).reshape(gradient.shape)
        into[name] = gradient

    def check_training(self) -> None:
        """Raise GraphError where a record can be evaluated on its shapes, but not trained."""
        for number, record in enumerate(self.checked.graph.records):
            shapes = [self.checked.shapes[name] for name in record.inputs]
            KINDS[record.kind].check_training(place(number, record), record, shapes)

    def check(self, arrays: Mapping[str, Array], skipped: Collection[int] = ()) -> None:
        """Raise GraphError unless the arrays are those that all records but the skipped ones need."""
        graph = self.checked.graph
        known = {*graph.inputs, *graph.parameters}
        records = (record for number, record in enumerate(graph.records) if number not in skipped)
        needed = {name for record in records for name in (*record.inputs, *record.parameters)} & known
        for name in (name for name in (*graph.inputs, *graph.parameters) if name in needed and name not in arrays):
            raise refuse(f"run: {name}", f"an array of shape {self.checked.shapes[name]}", "none")
        for name, array in arrays.items():
            if name not in known:
                raise GraphError(f"run: {name}: expected the name of an input or a parameter, got an unknown one")
            self._check_array(name, array)

    def _check_array(self, name: str, array: Array) -> None:
        shape, integers = self.checked.shapes[name], name in self.checked.integers
        if not (hasattr(array, "shape") and hasattr(array, "dtype")):
            raise refuse(f"run: {name}", f"an array of shape {shape}", type(array).__name__)
        if tuple(array.shape) != shape:
            raise refuse(f"run: {name}", f"shape {shape}", tuple(array.shape))
        if integers != (array.dtype.kind in "iu"):
            expected = "whole numbers (int32)" if integers else "floating-point numbers"
            raise refuse(f"run: {name}", expected, array.dtype)
