"""A task: a list of records with its arrays and settings, and what an engine has to hand in for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from graph import Checked, Graph, Record, check
from graph.kinds import KINDS, Kind, stream_of
from graph.kinds.context import Context, philox_of

from .settings import Settings, TaskError

Arrays = Mapping[str, NDArray[Any]]
Shape = tuple[int, ...]

__all__ = ["Settings", "Shape", "Task", "TaskError", "described"]


@dataclass(frozen=True)
class Task:
    """inputs, parameters: the arrays by the graph's names.  Raises GraphError and TaskError where they do not fit."""

    name: str
    graph: Graph
    inputs: Arrays
    parameters: Arrays
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        for what, due, held in (
            ("input", self.graph.inputs, self.inputs),
            ("parameter", self.graph.parameters, self.parameters),
        ):
            if lacking := [name for name in due if name not in held]:
                raise TaskError(f"{what}.{lacking[0]}: expected an array, got none")
            if unknown := [name for name in held if name not in due]:
                raise TaskError(f"{what}.{unknown[0]}: expected one of the graph's {what}s, got another")
        _ = self.checked

    @cached_property
    def checked(self) -> Checked:
        """The graph with the shape of everything in it."""
        arrays = {**self.inputs, **self.parameters}
        return check(self.graph, {name: array.shape for name, array in arrays.items()})

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The records' numbers in the order of evaluation."""
        return tuple(self.checked.order)

    @property
    def records(self) -> tuple[Record, ...]:
        return self.graph.records

    def kind(self, number: int) -> Kind:
        return KINDS[self.records[number].kind]

    def called(self, number: int) -> str:
        """A record as reports name it: record 3 (conv2d -> h2)."""
        record = self.records[number]
        return f"record {number} ({record.kind} -> {record.output})"

    def context(self, number: int) -> Context:
        """What a record knows of the step."""
        settings = self.settings
        return Context(training=settings.training, seed=settings.seed, step=settings.step, number=number)

    @cached_property
    def losses(self) -> tuple[str, ...]:
        return tuple(self.records[n].output for n in self.order if self.kind(n).is_loss)

    @cached_property
    def state(self) -> tuple[str, ...]:
        """The parameters that training updates by itself: running statistics."""
        held = {p: None for n, record in enumerate(self.records) for p in self.kind(n).state_parameters(record)}
        return tuple(held)

    @cached_property
    def trained(self) -> tuple[str, ...]:
        """The parameters that have a gradient, in the order in which records name them first."""
        return tuple(name for name in self.graph.parameters if name in self._reached)

    @cached_property
    def _reached(self) -> dict[str, None]:
        """The values and parameters that a loss depends on, in the order in which their gradients are complete.

        None where nothing is trained.
        """
        found: dict[str, None] = {}
        for number in reversed(self.order if self.settings.training else ()):
            record, kind = self.records[number], self.kind(number)
            if kind.is_loss or record.output in found:
                names = (*kind.differentiable(record), *record.parameters)
                for name in (name for name in names if name not in self.state):
                    found.pop(name, None)  # complete is what the last of its readers has added to
                    found[name] = None
        return found

    @cached_property
    def wanted(self) -> dict[str, Shape]:
        """The names of all results and their shapes, in the order in which a step comes to them."""
        return {name: shape for name, shape in self.known.items() if name not in self.optional}

    @cached_property
    def optional(self) -> frozenset[str]:
        """Results that an engine need not hand in: gradients of what the graph is given."""
        return frozenset(f"gradient.{name}" for name in self.graph.inputs)

    @cached_property
    def known(self) -> dict[str, Shape]:
        """The same with those that need not be handed in."""
        shapes, settings = self.checked.shapes, self.settings
        outputs = [self.records[number].output for number in self.order]
        found = {f"{'loss' if name in self.losses else 'value'}.{name}": name for name in outputs}
        found |= {f"state.{name}": name for name in self.state if settings.training}
        found |= {f"gradient.{name}": name for name in self._reached if name not in self.losses}
        found |= {f"parameter.{name}": name for name in self.trained if settings.optimizer}
        return {result: tuple(shapes[name]) for result, name in found.items()}

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """What an engine is given, by the names that it has in files and in calls."""
        inputs = {f"input.{name}": self.inputs[name] for name in self.graph.inputs}
        return inputs | {f"parameter.{name}": self.parameters[name] for name in self.graph.parameters}

    @property
    def document(self) -> dict[str, Any]:
        """The graph as graph.json has it."""
        draws = [n for n, record in enumerate(self.records) if record.kind == "dropout"]
        settings = self.settings
        streams = {self.records[n].output: stream_of(n, self.records[n]) for n in draws}
        philox = {name: [*map(int, philox_of(settings.seed, settings.step, of))] for name, of in streams.items()}
        return {
            "name": self.name,
            "records": [described(record) for record in self.records],
            "settings": asdict(settings),
            "philox": philox,
            "given": {name: {"type": str(array.dtype), "shape": [*array.shape]} for name, array in self.arrays.items()},
            "wanted": {name: [*shape] for name, shape in self.wanted.items()},
            "optional": {name: [*shape] for name, shape in self.known.items() if name in self.optional},
        }


def described(record: Record) -> dict[str, Any]:
    """A record as JSON has it."""
    attributes = {name: [*value] if isinstance(value, tuple) else value for name, value in record.attributes.items()}
    return {
        "kind": record.kind,
        "inputs": [*record.inputs],
        "parameters": [*record.parameters],
        "output": record.output,
        "attributes": attributes,
    }
