"""Models of layers one behind the other, with Keras 3's names: built, trained, evaluated, saved.

Above the graph: a model is a list of records, run on the reference or on any library that has the header's operations.
"""

from __future__ import annotations

from .history import History
from .layers import (
    ELU,
    GRU,
    LSTM,
    RNN,
    Activation,
    AvgPool2D,
    BatchNorm,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Layer,
    LayerNorm,
    LeakyReLU,
    MaxPool2D,
    ReLU,
    SimpleRNN,
    Softmax,
)  # fmt: skip
from .losses import BinaryCrossentropy, CategoricalCrossentropy, Loss, MeanSquaredError, SparseCategoricalCrossentropy
from .saved import SavedError
from .training import Sequential

__all__ = [
    "ELU", "GRU", "LSTM", "RNN", "Activation", "AvgPool2D", "BatchNorm", "BinaryCrossentropy",
    "CategoricalCrossentropy", "Conv2D", "Dense", "Dropout", "Embedding", "Flatten", "History", "Layer",
    "LayerNorm", "LeakyReLU", "Loss", "MaxPool2D", "MeanSquaredError", "ReLU", "SavedError", "Sequential",
    "SimpleRNN", "Softmax", "SparseCategoricalCrossentropy",
]  # fmt: skip
