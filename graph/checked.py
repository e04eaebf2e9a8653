"""Shapes of everything in a graph, inferred and checked before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from .errors import GraphError, refuse
from .kinds import KINDS
from .kinds.kind import Open, Shape
from .order import order
from .reading import Graph
from .records import place


@dataclass(frozen=True)
class Checked:
    """A graph whose records fit together.

    order: the records' numbers in an order of evaluation; shapes: of every input, parameter and value by name;
    integers: the inputs that hold int32; state: the parameters that have no gradient, as a forward pass updates them.
    """

    graph: Graph
    order: tuple[int, ...]
    shapes: dict[str, Shape]
    integers: frozenset[str]
    state: frozenset[str]

    @property
    def trainable(self) -> tuple[str, ...]:
        """The parameters that have a gradient."""
        return tuple(name for name in self.graph.parameters if name not in self.state)

    @cached_property
    def losses(self) -> tuple[int, ...]:
        """The numbers of the records that are losses, in order of evaluation."""
        return tuple(n for n in self.order if KINDS[self.graph.records[n].kind].is_loss)

    @cached_property
    def contributing(self) -> frozenset[str]:
        """The values and inputs that a loss depends on, by way of what has a gradient."""
        found: set[str] = set()
        for number in reversed(self.order):
            record = self.graph.records[number]
            kind = KINDS[record.kind]
            if kind.is_loss or record.output in found:
                found.update(kind.differentiable(record))
        return frozenset(found)

    @property
    def learning(self) -> frozenset[str]:
        """The parameters that a loss depends on, and that have a gradient so."""
        losses, records = {*self.losses}, enumerate(self.graph.records)
        reached = [record for n, record in records if n in losses or record.output in self.contributing]
        return frozenset(name for record in reached for name in record.parameters) - self.state


def check(graph: Graph, shapes: Mapping[str, tuple[int, ...]]) -> Checked:
    """Return the graph with the shape of every value; shapes: those of all inputs and parameters, and no others.

    Raises GraphError that names the record, what was expected and what came: cycles, unknown names, values written
    twice, wrong shapes, losses that are read, names without a shape and shapes without a reader.
    """
    given = {name: _shape(name, shape) for name, shape in shapes.items()}
    found = _inferred(graph, given, complete=True)
    _check_read(graph, given)
    used = {name for record in graph.records for name in record.inputs}
    for name in graph.inputs:
        if name not in used:
            raise GraphError(f"input {name}: expected one that a record reads, got one that none does")
    return found


def parameter_shapes(graph: Graph, input_shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Shape]:
    """Return what shapes the parameters must have, by the inputs' and by attributes such as units and filters.

    Raises GraphError where these do not tell, or where records that share a parameter disagree, and for a shape that no
    record reads.
    """
    given = {name: _shape(name, shape) for name, shape in input_shapes.items()}
    _check_read(graph, given)
    found = _inferred(graph, given, complete=False)
    return {name: found.shapes[name] for name in graph.parameters}


def check_values(where: str, checked: Checked, names: Collection[str]) -> None:
    """Raise GraphError for a name that is none of an input or a value."""
    for name in names:
        if name not in checked.shapes or name in checked.graph.parameters:
            raise refuse(where, "names of values", name)


def _check_read(graph: Graph, given: Collection[str]) -> None:
    read = {*graph.inputs, *graph.parameters}
    for name in given:
        if name not in read:
            raise GraphError(f"{name}: expected the name of an input or a parameter, got one that no record reads")


def _shape(name: str, shape: object) -> Shape:
    lengths = tuple(shape) if isinstance(shape, tuple | list) else ()
    if not lengths or not all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in lengths):
        raise refuse(f"{name}: shape", "lengths of 1 or more", shape)
    return lengths


def _inferred(graph: Graph, given: dict[str, Shape], complete: bool) -> Checked:
    """complete: every parameter's shape is given; else they follow from the records."""
    evaluated, shapes = order(graph), dict(given)
    for name in graph.inputs:
        if name not in given:
            raise refuse(f"input {name}", "its shape", "none")
    integers, numbers, state, trained = set[str](), set[str](), set[str](), set[str]()
    for number in evaluated:
        record, where = graph.records[number], place(number, graph.records[number])
        kind = KINDS[record.kind]
        inputs = [shapes[name] for name in record.inputs]
        due = kind.parameter_shapes(where, record, inputs)
        for name, lengths in zip(record.parameters, due, strict=True):
            _settle(where, name, lengths, shapes, complete)
        shapes[record.output] = kind.infer(where, record, inputs, [shapes[name] for name in record.parameters])
        whole = kind.integer_inputs(record)
        integers.update(whole)
        numbers.update(name for name in (*record.inputs, record.output) if name not in whole)
        state.update(kind.state_parameters(record))
        trained.update(kind.state_parameters(record, state=False))
    _check_uses(graph, integers, numbers, state, trained)
    return Checked(graph, evaluated, shapes, frozenset(integers), frozenset(state))


def _settle(where: str, name: str, due: Open, shapes: dict[str, Shape], complete: bool) -> None:
    """Check a parameter's shape, or take it from the record where none is known."""
    known = shapes.get(name)
    if known is None and (complete or None in due):
        expected = f"its shape, {_said(due)}" if complete else "a shape that attributes tell"
        raise refuse(f"{where}: parameter {name}", expected, "none" if complete else _said(due))
    if known is None:
        shapes[name] = tuple(length for length in due if length is not None)
    elif len(known) != len(due) or any(one not in (None, n) for one, n in zip(due, known, strict=True)):
        raise refuse(f"{where}: parameter {name}", f"shape {_said(due)}", known)


def _said(shape: Open) -> str:
    lengths = ", ".join("any" if length is None else str(length) for length in shape)
    return f"({lengths},)" if len(shape) == 1 else f"({lengths})"


def _check_uses(graph: Graph, integers: set[str], numbers: set[str], state: set[str], trained: set[str]) -> None:
    """No value is both whole numbers and others, no parameter both trained and state, and no loss is read."""
    losses = {record.output for record in graph.records if KINDS[record.kind].is_loss}
    if both := integers & numbers:
        raise GraphError(f"{min(both)}: expected either numbers or class numbers (int32), got a value read as both")
    if both := state & trained:
        raise GraphError(f"parameter {min(both)}: expected one that is trained or running statistics, got both")
    for number, record in enumerate(graph.records):
        if read := losses & set(record.inputs):
            expected = "a value that is no loss; losses are summed by their weights"
            raise refuse(f"{place(number, record)}: input {min(read)}", expected, "a loss")
