"""Normalisation."""

from __future__ import annotations

from dataclasses import dataclass

from .layer import Layer, RecordDict, Shape, Weight, named, record


@dataclass(frozen=True)
class LayerNorm(Layer):
    """(x - mean) / sqrt(variance + epsilon) * weight + bias along the last axis; Keras' LayerNormalization."""

    epsilon: float = 1e-3

    def __post_init__(self) -> None:
        self._check_number("epsilon", 0.0)

    def weights(self, shape: Shape) -> dict[str, Weight]:
        if not shape:
            raise ValueError("LayerNorm: expected samples of one axis or more, got numbers")
        return {"weight": Weight(shape[-1:], "ones"), "bias": Weight(shape[-1:], "zeros")}

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        return [record("layernorm", [source], name, named(name, self.weights(shape)), eps=self.epsilon)]


@dataclass(frozen=True)
class BatchNorm(Layer):
    """The same for each channel over the batch and all places; Keras' BatchNormalization, but channels come first.

    momentum is Keras': running = momentum * running + (1 - momentum) * new.  Unlike Keras, and like PyTorch, the
    running variance is that of a sample, divided by one less than its count.
    """

    momentum: float = 0.99
    epsilon: float = 1e-3

    def __post_init__(self) -> None:
        self._check_number("momentum", 0.0)
        self._check_number("epsilon", 0.0)
        if self.momentum > 1:
            raise self._error("momentum", "a number from 0 to 1", self.momentum)

    def weights(self, shape: Shape) -> dict[str, Weight]:
        if not shape:
            raise ValueError("BatchNorm: expected samples of one axis or more, got numbers")
        one = shape[:1]
        made = {"weight": Weight(one, "ones"), "bias": Weight(one, "zeros")}
        return made | {"running_mean": Weight(one, "zeros", False), "running_var": Weight(one, "ones", False)}

    def records(self, name: str, source: str, shape: Shape) -> list[RecordDict]:
        parameters = named(name, self.weights(shape))
        settings = {"momentum": 1.0 - self.momentum, "eps": self.epsilon}
        return [record("batchnorm", [source], name, parameters, **settings)]
