"""A table of a model's layers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from rich.console import Console
from rich.table import Table

from .blueprint import Blueprint
from .layers import Layer


def show(built: Blueprint, layers: Sequence[Layer], console: Console | None = None) -> None:
    """Print layers, shapes behind each (without the batch) and the number of parameters."""
    console = console or Console(highlight=False)
    table = Table("Layer (type)", "Output shape")
    table.add_column("Param #", justify="right")
    for name, layer, shape, weights in zip(built.names, layers, built.shapes[1:], built.weights, strict=True):
        count = sum(prod(weight.shape) for weight in weights.values())
        said = f"({', '.join(map(str, shape))})"
        table.add_row(f"{name} ({type(layer).__name__})", said, f"{count:,}")
    console.print(table)
    trained = sum(prod(w.shape) for w in built.parameters.values() if w.trainable)
    others = sum(prod(w.shape) for w in built.parameters.values() if not w.trainable)
    console.print(f"Total params: {trained + others:,}\nTrainable params: {trained:,}")
    console.print(f"Non-trainable params: {others:,}")
