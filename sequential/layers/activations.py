"""Activations, each a record of its kind; `activation=` of other layers takes their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .layer import Layer, RecordDict, Shape, record

# By Keras' names: the kind of record and its attributes, which for Keras' own defaults are those of keras.activations.
ACTIVATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "relu": ("relu", {}),
    "leaky_relu": ("leaky_relu", {"alpha": 0.2}),
    "elu": ("elu", {"alpha": 1.0}),
    "sigmoid": ("sigmoid", {}),
    "tanh": ("tanh", {}),
    "gelu": ("gelu", {"form": "erf"}),
    "silu": ("silu", {}),
    "swish": ("silu", {}),
    "softmax": ("softmax", {}),
}
NAMES = (None, "linear", *ACTIVATIONS)
# Those that a dense record computes itself, beside linear.
IN_DENSE = frozenset({"relu", "leaky_relu", "elu", "sigmoid", "tanh", "gelu"})


def activated(activation: str | None, source: str, output: str) -> list[RecordDict]:
    """The record of an activation; none for a linear one, whose source is the output already."""
    if activation in (None, "linear"):
        return []
    kind, attributes = ACTIVATIONS[activation]
    return [record(kind, [source], output, **attributes)]


def before(activation: str | None, name: str) -> str:
    """What the value before the activation is called, where `name` is the one behind it."""
    return name if activation in (None, "linear") else f"{name}.pre"


@dataclass(frozen=True)
class Activation(Layer):
    """An activation by its name, as `activation=` takes it."""

    activation: str

    def __post_init__(self) -> None:
        self._check_one_of("activation", list(ACTIVATIONS))

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        return activated(self.activation, source, name)


@dataclass(frozen=True)
class ReLU(Layer):
    """x where x > 0, else negative_slope * x."""

    negative_slope: float = 0.0

    def __post_init__(self) -> None:
        self._check_number("negative_slope", 0.0)

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        if self.negative_slope == 0:
            return [record("relu", [source], name)]
        return [record("leaky_relu", [source], name, alpha=self.negative_slope)]


@dataclass(frozen=True)
class LeakyReLU(ReLU):
    """x where x > 0, else negative_slope * x; Keras' slope of this layer is 0.3, of the activation `leaky_relu` 0.2."""

    negative_slope: float = 0.3


@dataclass(frozen=True)
class ELU(Layer):
    """x where x > 0, else alpha * (exp(x) - 1)."""

    alpha: float = 1.0

    def __post_init__(self) -> None:
        self._check_number("alpha", 0.0)

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        return [record("elu", [source], name, alpha=self.alpha)]


@dataclass(frozen=True)
class Softmax(Layer):
    """softmax(x / temperature) along the last axis; Keras has no temperature, and another axis than -1."""

    temperature: float = 1.0

    def __post_init__(self) -> None:
        self._check_number("temperature", 0.0)
        if self.temperature == 0:
            raise self._error("temperature", "a number above 0", self.temperature)

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        return [record("softmax", [source], name, temperature=self.temperature)]
