"""Layers as records, for samples of a known shape."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph import Graph, GraphError, check

from .layers import Layer, Shape, Weight
from .layers.layer import RecordDict

INPUT, LABEL, LOSS = "input", "label", "loss"  # values that no layer writes


@dataclass(frozen=True)
class Blueprint:
    """What layers become.

    names: of each layer; shapes: of one sample before the first and behind each; records: of all; weights: by layer and
    name.  classes: how many class numbers there are, where samples are such; None where they are not.
    """

    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    records: tuple[RecordDict, ...]
    weights: tuple[dict[str, Weight], ...]
    classes: int | None

    @property
    def parameters(self) -> dict[str, Weight]:
        """Every parameter by its name in the model."""
        held = zip(self.names, self.weights, strict=True)
        return {f"{layer}.{name}": weight for layer, weights in held for name, weight in weights.items()}


def names_of(layers: Sequence[Layer]) -> tuple[str, ...]:
    """Each layer's own name, or that of its kind, numbered where it is taken: conv2d, conv2d_1.

    Raises ValueError for a name given twice, or one of a value that no layer writes.
    """
    own = [layer.name for layer in layers if layer.name is not None]
    for name in own:
        if own.count(name) > 1 or name in (INPUT, LABEL, LOSS) or not name or {".", "/"} & {*name}:
            expected = f"one of its own, without a dot or a slash, and none of {INPUT}, {LABEL} and {LOSS}"
            raise ValueError(f"name: expected {expected}, got {name!r}")
    taken, found = {INPUT, LABEL, LOSS, *own}, []
    for layer in layers:
        name = kind = layer.name or _snake(type(layer).__name__)
        count = 0
        while layer.name is None and name in taken:
            count += 1
            name = f"{kind}_{count}"
        taken.add(name)
        found.append(name)
    return tuple(found)


def _snake(name: str) -> str:
    """Keras' name of a class: SimpleRNN is simple_rnn, Conv2D conv2d."""
    return re.sub(r"(?<=[a-z])(?=[A-Z][a-zA-Z])", "_", name).lower()


def blueprint(layers: Sequence[Layer], shape: Shape) -> Blueprint:
    """Return what layers become for samples of this shape.  Raises ValueError that names the layer that cannot."""
    names, shapes, records, weights = names_of(layers), [shape], list[RecordDict](), []
    classes: int | None = None
    for place, (name, layer) in enumerate(zip(names, layers, strict=True)):
        source = names[place - 1] if place else INPUT
        try:
            held = layer.weights(shapes[-1])
            made = layer.records(name, source, shapes[-1])
            given = {source: (1, *shapes[-1])} | {f"{name}.{own}": weight.shape for own, weight in held.items()}
            checked = check(Graph.read(made), given)
        except (ValueError, GraphError) as error:
            raise ValueError(f"layer {place} ({name}): {error}") from error
        if checked.integers and place:
            raise ValueError(f"layer {place} ({name}): expected to be the first, for it reads class numbers")
        if checked.integers:
            classes = made[0]["vocab_size"]
        shapes.append(checked.shapes[name][1:])
        records += made
        weights.append(held)
    return Blueprint(names, tuple(shapes), tuple(records), tuple(weights), classes)
