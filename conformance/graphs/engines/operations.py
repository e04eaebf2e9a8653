"""Our own graph over a namespace of operations: what a library that exports the header's operations is run by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.graphs.task import Settings
from conformance.graphs.update import update
from graph import Run, check, read


def call_operations(library: Any, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Make a step on an open library; return its results by name."""
    graph = read({"records": document["records"]})
    settings = Settings.read(document["settings"])
    held = {name.partition(".")[2]: np.array(array) for name, array in arrays.items()}
    checked = check(graph, {name: array.shape for name, array in held.items()})
    run = Run(checked, library)
    forward = run.forward(held, training=settings.training, seed=settings.seed, step=settings.step)
    backward = run.backward(forward)
    values = {f"value.{name}": array for name, array in forward.values.items()}
    losses = {f"loss.{name}": array for name, array in forward.losses.items()}
    gradients = {**backward.values, **{n: a for n, a in backward.parameters.items() if a is not None}}
    trained = [name for name in checked.trainable if name in gradients]
    after = {}
    if settings.optimizer:
        after = update(library, settings, {n: held[n] for n in trained}, {n: gradients[n] for n in trained})
    found = values | losses | {f"state.{name}": array for name, array in forward.state.items()}
    found |= {f"gradient.{name}": array for name, array in gradients.items()}
    found |= {f"parameter.{name}": array for name, array in after.items()}
    known = {**document["wanted"], **document["optional"]}
    return {"results": {name: np.asarray(array, np.float32) for name, array in found.items() if name in known}}
