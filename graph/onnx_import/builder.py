"""The graph while it is made of a model's nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.kinds import KINDS
from graph.reading import record
from graph.records import Record, place

from .refused import expect
from .views import TURNED, Shape, View, plain

Array = NDArray[Any]


class Builder:
    """Tensors of the model by their names: constants, or views of values; and the records that write those."""

    def __init__(self, constants: Mapping[str, Array], inputs: Mapping[str, Shape], integers: frozenset[str]) -> None:
        """constants, inputs: of the model, by name; integers: the inputs that hold whole numbers."""
        self.constants, self.integers = dict(constants), integers
        self.shapes: dict[str, Shape] = dict(inputs)  # of the graph's values
        self.views: dict[str, View] = {name: plain(name, len(shape)) for name, shape in inputs.items()}
        self.records: list[Record] = []
        self.parameters: dict[str, Array] = {}

    def constant(self, name: str) -> Array | None:
        """A tensor's numbers, None where it is computed or left out."""
        return self.constants.get(name)

    def view(self, name: str) -> View:
        """What a tensor is in the graph.  Raises NotApplicableError for a constant."""
        expect(name in self.views, f"{name or 'an input'} is a constant, or left out, where the graph has a value")
        return self.views[name]

    def shape(self, name: str) -> Shape:
        """A tensor's shape."""
        if (held := self.constants.get(name)) is not None:
            return held.shape
        view = self.view(name)
        return view.shape(self.shapes[view.value])

    def value(self, name: str) -> str:
        """The graph's value with a tensor's very shape.  Raises NotApplicableError where its axes have to turn."""
        view, due = self.view(name), self.shape(name)
        expect(view.is_plain, TURNED)
        if self.shapes[view.value] == due:
            return view.value
        return self.reshaped(view.value, due, f"{name}.{'x'.join(map(str, due))}")

    def seen_as(self, name: str, axes: tuple[int | None, ...]) -> str:
        """The graph's value of which a tensor is this view.  Raises NotApplicableError where it is another."""
        view = self.view(name)
        expect(view.axes == axes, TURNED)
        return view.value

    def reshaped(self, value: str, shape: Shape, output: str) -> str:
        """Add the record that gives a value another shape, its first axis kept; return what that writes."""
        expect(shape[:1] == self.shapes[value][:1], "a shape with another batch, which the graph keeps")
        if output not in self.shapes:
            self.add("reshape", [value], output, shape=[0, *shape[1:]])
        return output

    def parameter(self, name: str, array: Array) -> str:
        """Take an array as a parameter and return the name that it has; one that several nodes share is taken once."""
        taken, count = name, 1
        while taken in self.parameters and not _same(self.parameters[taken], array):
            count += 1
            taken = f"{name}.{count}"
        self.parameters[taken] = np.ascontiguousarray(array)
        return taken

    def add(
        self, kind: str, inputs: Sequence[str], output: str, parameters: Sequence[str] = (), /, **attributes: Any
    ) -> None:
        """Add a record of values, and note that the tensor `output` is what it writes.  Raises GraphError."""
        made = record(kind, inputs, parameters, output, len(self.records), **attributes)
        of_inputs = [self.shapes[name] for name in inputs]
        of_parameters = [self.parameters[name].shape for name in parameters]
        where = place(len(self.records), made)
        self.shapes[output] = KINDS[kind].infer(where, made, of_inputs, of_parameters)
        self.views[output] = plain(output, len(self.shapes[output]))
        self.records.append(made)

    def alias(self, output: str, view: View) -> None:
        """Note that a tensor is a view of a value that is there."""
        self.views[output] = view


def _same(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and np.array_equal(a, b)
