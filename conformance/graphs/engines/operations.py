"""Our own graph over a namespace of operations: what a library that exports the header's operations is run by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.graphs.task import Settings
from graph import Run, check, read
from graph.optimizers import SGD, Adam, AdamW, Momentum, Optimizer
from graph.step import train_step


def call_operations(library: Any, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Make a step on an open library; return its results by name."""
    graph = read({"records": document["records"]})
    settings = Settings.read(document["settings"])
    held = {name.partition(".")[2]: np.array(array) for name, array in arrays.items()}
    checked = check(graph, {name: array.shape for name, array in held.items()})
    run = Run(checked, library)
    forward = run.forward(held, training=settings.training, seed=settings.seed, step=settings.step)
    gradients: dict[str, Any] = {}
    if forward.losses and settings.training:
        backward = run.backward(forward)
        gradients = {**backward.values, **{n: a for n, a in backward.parameters.items() if a is not None}}
    values = {f"value.{name}": array for name, array in forward.values.items()}
    losses = {f"loss.{name}": array for name, array in forward.losses.items()}
    is_trained = any(name in gradients for name in checked.trainable)
    after = _updated(run, settings, held) if settings.optimizer and is_trained else {}
    found = values | losses | {f"state.{name}": array for name, array in forward.state.items()}
    found |= {f"gradient.{name}": array for name, array in gradients.items()}
    found |= {f"parameter.{name}": array for name, array in after.items() if name in gradients}
    known = {**document["wanted"], **document["optional"]}
    return {"results": {name: np.asarray(array, np.float32) for name, array in found.items() if name in known}}


def _updated(run: Run, settings: Settings, held: Mapping[str, NDArray[Any]]) -> Mapping[str, Any]:
    """All parameters behind the whole step in one call, which clips the gradients that it reports."""
    optimizer = _optimizer(settings)
    state = replace(optimizer.start({name: held[name] for name in run.checked.trainable}), step=settings.step)
    made = train_step(run, held, optimizer, state, clip_norm=settings.clip_norm or None, seed=settings.seed)
    return made.parameters


def _optimizer(settings: Settings) -> Optimizer:
    moved = {"lr": settings.lr, "weight_decay": settings.weight_decay}
    adam = {"beta1": settings.beta1, "beta2": settings.beta2, "eps": settings.eps}
    made: dict[str, Any] = {
        "sgd": lambda: SGD(**moved),
        "momentum": lambda: Momentum(**moved, momentum=settings.momentum, nesterov=settings.nesterov),
        "adam": lambda: Adam(**moved, **adam),
        "adamw": lambda: AdamW(**moved, **adam),
    }
    optimizer: Optimizer = made[settings.optimizer]()
    return optimizer
