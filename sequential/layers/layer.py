"""What a layer is: settings that do not change, the parameters it needs, and the records it becomes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

Shape = tuple[int, ...]
RecordDict = dict[str, Any]  # as `graph.Graph.read` takes it


class Weight(NamedTuple):
    """A parameter before it has values.  initializer: one of `sequential.initial.NAMES`; trainable: has a gradient."""

    shape: Shape
    initializer: str
    trainable: bool = True


@dataclass(frozen=True)
class Layer:
    """A layer by its settings.  Shapes are those of one sample, without the batch.

    It may stand in several models: parameters belong to the model.  name: of the layer there; None for one of its kind.
    """

    name: str | None = field(default=None, kw_only=True)

    def weights(self, shape: Shape) -> dict[str, Weight]:
        """The parameters for an input of this shape, by name.  Raises ValueError for a shape that it cannot take."""
        return {}

    @abstractmethod
    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        """The records between the value `source` and the value `name`, which the last of them writes."""

    def configuration(self) -> dict[str, Any]:
        """The settings, from which `sequential.layers.layer_of` makes the layer again."""
        return {"layer": type(self).__name__, **asdict(self)}

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _error(self, name: str, expected: str, got: Any) -> ValueError:
        return ValueError(f"{type(self).__name__}: {name}: expected {expected}, got {got!r}")

    def _check_whole(self, name: str, least: int = 1) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise self._error(name, f"a whole number of at least {least}", value)
        self._set(**{name: int(value)})

    def _check_number(self, name: str, low: float, below: float = float("inf")) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not low <= value < below:
            above = "" if below == float("inf") else f" and below {below:g}"
            raise self._error(name, f"a number of at least {low:g}{above}", value)
        self._set(**{name: float(value)})

    def _check_flag(self, name: str) -> None:
        if not isinstance(getattr(self, name), bool):
            raise self._error(name, "True or False", getattr(self, name))

    def _check_one_of(self, name: str, choices: Any) -> None:
        if getattr(self, name) not in choices:
            raise self._error(name, f"one of {', '.join(map(str, choices))}", getattr(self, name))

    def _check_axes(self, shape: Shape, *names: str) -> None:
        if len(shape) != len(names):
            raise ValueError(f"{type(self).__name__}: expected samples of ({', '.join(names)}), got the shape {shape}")


def record(kind: str, inputs: Any, output: str, parameters: Any = (), **attributes: Any) -> RecordDict:
    """A record as `graph.Graph.read` takes it."""
    return {"kind": kind, "inputs": list(inputs), "parameters": list(parameters), "output": output, **attributes}


def named(name: str, weights: Mapping[str, Weight]) -> list[str]:
    """The names that a layer's parameters have in the model."""
    return [f"{name}.{own}" for own in weights]
