"""Inputs and parameters for a graph, drawn by a seed: numbers at which every record's gradient counts for something."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph import Checked, Graph, Record, check, parameter_shapes
from graph.kinds import KINDS
from reference import random

from .task import Settings, Shape, Task

Array = NDArray[Any]
_SEEDS = 20  # that are tried for one at which no choice lies within the noise


def drawn(graph: Graph, shapes: Mapping[str, Shape], settings: Settings, name: str, seed: int = 0) -> Task:
    """Return the task with arrays of these input shapes; seed: another draw.  Raises GraphError."""
    parameters = parameter_shapes(graph, shapes)
    checked = check(graph, {**shapes, **parameters})
    inputs = {one: _input(checked, one, random.stream("graph", name, one, seed)) for one in graph.inputs}
    held = {
        one: _parameter(graph, one, shape, random.stream("graph", name, one, seed)) for one, shape in parameters.items()
    }
    return Task(name, graph, inputs, held, settings)


def settled(graph: Graph, shapes: Mapping[str, Shape], settings: Settings, name: str, seed: int = 0) -> Task:
    """The same at the first seed from this one on, if there is one, at which no choice lies within the noise."""
    from .judge import free_of  # here: it stands above this room's other files

    first = drawn(graph, shapes, settings, name, seed)
    if not free_of(first).near:
        return first
    others = (drawn(graph, shapes, settings, name, one) for one in range(seed + 1, seed + _SEEDS))
    return next((task for task in others if not free_of(task).near), first)


def _readers(graph: Graph, name: str) -> list[tuple[Record, str]]:
    """Who reads a value or parameter, and what it is to them."""
    found = []
    for record in graph.records:
        kind = KINDS[record.kind]
        inputs = kind.input_names(record).of(len(record.inputs))
        parameters = kind.parameter_names(record).of(len(record.parameters))
        pairs = (*zip(record.inputs, inputs, strict=True), *zip(record.parameters, parameters, strict=True))
        found += [(record, role) for read, role in pairs if read == name]
    return found


def _input(checked: Checked, name: str, seed: int) -> Array:
    """An input by what its first reader takes it for: a label, a table's indices, or numbers."""
    shape = checked.shapes[name]
    record, role = _readers(checked.graph, name)[0]
    prediction = checked.shapes[record.inputs[0]]
    if record.kind == "embedding":
        return random.integers(seed, 0, checked.shapes[record.parameters[0]][0], shape).astype(np.int32)
    if role == "label" and name in checked.integers:
        return random.integers(seed, 0, prediction[-1], shape).astype(np.int32)
    if record.kind in ("bce", "bce_logits") and role == "label":
        return random.integers(seed, 0, 2, shape).astype(np.float32)
    if record.kind.endswith("cross_entropy") and role == "label":
        return _shares(random.uniform(seed, shape))
    if record.kind == "bce":
        return np.float32(0.05) + np.float32(0.9) * random.uniform(seed, shape).astype(np.float32)
    if record.kind == "categorical_cross_entropy":
        return _shares(random.uniform(seed, shape) + 0.1)
    return random.normal(seed, shape).astype(np.float32)


def _shares(numbers: Array) -> Array:
    return np.asarray(numbers / numbers.sum(axis=-1, keepdims=True), np.float32)


def _parameter(graph: Graph, name: str, shape: Shape, seed: int) -> Array:
    """A parameter: weights so large that a record's output is as large as its input."""
    record, role = _readers(graph, name)[0]
    numbers = random.normal(seed, shape)
    if role == "running_var":
        return (0.5 + random.uniform(seed, shape)).astype(np.float32)
    if record.kind == "embedding":
        return numbers.astype(np.float32)
    if len(shape) > 1:
        return (numbers / math.sqrt(math.prod(shape[1:]))).astype(np.float32)
    about = 1.0 if role == "weight" else 0.0  # of norms
    return (about + 0.25 * numbers).astype(np.float32)
