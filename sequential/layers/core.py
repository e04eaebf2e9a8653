"""Layers on samples of any shape: dense, flatten, dropout, embedding."""

from __future__ import annotations

from dataclasses import dataclass

from .activations import ACTIVATIONS, IN_DENSE, NAMES, activated, before
from .layer import Layer, RecordDict, Shape, Weight, named, record


@dataclass(frozen=True)
class Dense(Layer):
    """activation(weight . x + bias) along the last axis of x.

    weight: (units, inputs), as PyTorch has it; Keras' kernel is its transpose.
    """

    units: int
    activation: str | None = None
    use_bias: bool = True

    def __post_init__(self) -> None:
        self._check_whole("units")
        self._check_one_of("activation", NAMES)
        self._check_flag("use_bias")

    def weights(self, shape: Shape) -> dict[str, Weight]:
        if not shape:
            raise ValueError("Dense: expected samples of one axis or more, got numbers")
        made = {"weight": Weight((self.units, shape[-1]), "glorot_uniform")}
        return made | ({"bias": Weight((self.units,), "zeros")} if self.use_bias else {})

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        parameters = named(name, self.weights(shape))
        if self.activation in IN_DENSE:
            alpha = {k: v for k, v in ACTIVATIONS[self.activation][1].items() if k == "alpha"}
            return [record("dense", [source], name, parameters, activation=self.activation, **alpha)]
        pre = before(self.activation, name)
        return [record("dense", [source], pre, parameters), *activated(self.activation, pre, name)]


@dataclass(frozen=True)
class Flatten(Layer):
    """All axes of a sample as one, channels outermost as they lie; Keras' own have them innermost."""

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        return [record("flatten", [source], name)]


@dataclass(frozen=True)
class Dropout(Layer):
    """In training, 0 at a share `rate` of all places, the others divided by 1 - rate; nothing elsewhere.

    Which, tells Philox by the model's seed and the number of the step, so that the same training draws the same.
    """

    rate: float

    def __post_init__(self) -> None:
        self._check_number("rate", 0.0, 1.0)

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        return [record("dropout", [source], name, rate=self.rate)]


@dataclass(frozen=True)
class Embedding(Layer):
    """Row x of a table for each index x of a sample; it is a model's first layer, whose samples then are indices.

    weight: (input_dim, output_dim), drawn between -0.05 and 0.05.
    """

    input_dim: int
    output_dim: int

    def __post_init__(self) -> None:
        self._check_whole("input_dim")
        self._check_whole("output_dim")

    def weights(self, shape: Shape) -> dict[str, Weight]:
        return {"weight": Weight((self.input_dim, self.output_dim), "uniform")}

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        sizes = {"vocab_size": self.input_dim, "width": self.output_dim}
        return [record("embedding", [source], name, named(name, self.weights(shape)), **sizes)]
