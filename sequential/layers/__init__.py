"""The layers, by Keras' names where Keras has them, and how one is read from its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .activations import ELU, Activation, LeakyReLU, ReLU, Softmax
from .core import Dense, Dropout, Embedding, Flatten
from .layer import Layer, Shape, Weight
from .normal import BatchNorm, LayerNorm
from .planes import AvgPool2D, Conv2D, MaxPool2D
from .recurrent import GRU, LSTM, RNN, SimpleRNN

_ALL: tuple[type[Layer], ...] = (
    Dense, Conv2D, MaxPool2D, AvgPool2D, Flatten, SimpleRNN, LSTM, GRU, Activation, ReLU, LeakyReLU, ELU, Softmax,
    Dropout, LayerNorm, BatchNorm, Embedding,
)  # fmt: skip
LAYERS: dict[str, type[Layer]] = {layer.__name__: layer for layer in _ALL}

__all__ = [
    "ELU", "GRU", "LAYERS", "LSTM", "RNN", "Activation", "AvgPool2D", "BatchNorm", "Conv2D", "Dense", "Dropout",
    "Embedding", "Flatten", "Layer", "LayerNorm", "LeakyReLU", "MaxPool2D", "ReLU", "Shape", "SimpleRNN", "Softmax",
    "Weight", "layer_of",
]  # fmt: skip


def layer_of(configuration: Mapping[str, Any]) -> Layer:
    """Return the layer that `Layer.configuration` told of.  Raises ValueError for what is none."""
    settings = dict(configuration)
    name = settings.pop("layer", None)
    if name not in LAYERS:
        raise ValueError(f"layer: expected one of {', '.join(LAYERS)}, got {name!r}")
    try:
        return LAYERS[name](**settings)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None
