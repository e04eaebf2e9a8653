"""What one whole update must give, tensor by tensor: the golden step, followed by its update.

Parameters and batch are the golden step's, so that loss and gradients have the limits that its files are held to.  The
update is not the first: its moments are drawn, so that clipping, the corrections of the moments and the schedule show.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import operations
from conformance.catalogue.goldens import step as golden
from conformance.catalogue.prepared import Store
from conformance.catalogue.prepared.codec import Codec
from conformance.limits.adam import bound_update, interpolate
from conformance.limits.expectation import Expected
from conformance.limits.namespaces import OnNumbers, converted
from conformance.limits.noise import Noisy, exact
from reference import random
from reference.model.config import TINY, Config
from reference.model.parameters import Parameters, held_shapes
from reference.namespace import Ops, Wrapped
from reference.step import Metrics, State, TrainingConfig, learning_rate, training_step

ID = golden.StepSource(0).id
# Past the warm-up and far from the schedule's end; a decay that float32 holds exactly, as tables reach the reference
# as they are; gradients several times as long as the norm that they are clipped to.
TRAINING = TrainingConfig(lr=1e-3, warmup=1, total=10, weight_decay=0.125, clip_norm=golden.CLIP_NORM)
MADE = 2  # updates before this one
_MOMENT = 1e-3  # the size of the first moments that are drawn: about that of a clipped gradient's elements
Results = dict[str, Any]


def inputs(seed: int = 0) -> dict[str, NDArray[Any]]:
    """The golden step's, or those of another seed: `input.tokens`, `input.targets` and all else that stands there."""
    return golden.StepSource(seed).inputs()


@functools.cache
def beginning(seed: int = 0) -> State:
    """Where the update starts, in float32: v as of gradients whose square m is, and half as much again."""
    parameters = golden.parameters()
    m, v = {}, {}
    drawn = ("step function", seed) if seed else ("step function",)
    for name, array in parameters.items():
        draw = random.normal(random.stream(*drawn, name), array.shape) * _MOMENT
        spread = random.normal(random.stream(*drawn, "v", name), array.shape) * _MOMENT
        m[name] = draw.astype(np.float32)
        v[name] = (draw * draw + spread * spread).astype(np.float32)
    return State(parameters, m, v, MADE)


def told(config: Config, training: TrainingConfig, update: int) -> dict[str, Any]:
    """Return the numbers of Settings, each as float32 holds it."""
    of_model = asdict(config)
    of_update = {
        "lr": learning_rate(training, update),
        "beta1": training.beta1,
        "beta2": training.beta2,
        "adam_eps": training.eps,
        "weight_decay": training.weight_decay,
        "clip_norm": training.clip_norm,
        "base_lr": training.lr,
    }
    numbers = {name: float(np.float32(v)) if isinstance(v, float) else v for name, v in (of_model | of_update).items()}
    return numbers | {"update": update, "warmup": training.warmup, "total": training.total}


def given(config: Config, training: TrainingConfig, state: State, tokens: Any, targets: Any) -> dict[str, Any]:
    """Return what a step is called with (conformance.candidates.module.step)."""
    numbers = told(config, training, state.step + 1)
    held = {"parameters": state.parameters, "m": state.m, "v": state.v}
    return held | {"tokens": tokens, "targets": targets, "settings": numbers}


def in_order() -> list[str]:
    """The names of all results in the order in which an update comes to them: in backward the last layer first."""
    backward = [f"gradient.{name}" for name in reversed(held_shapes(TINY))]
    updated = [f"{kind}.{name}" for name in held_shapes(TINY) for kind in ("m", "v", "parameter")]
    return ["cross_entropy", "aux_loss", "loss", *backward, "norm", *updated]


def expected(store: Store, seed: int = 0) -> Expected:
    """Return every result with its noise.

    It takes several seconds, and is remembered.  Raises ValueError where a routing choice lies within the noise.
    """
    key = f"{ID} {TRAINING} {MADE}" + (f" seed {seed}" if seed else "")
    return store.recall(key, functools.partial(_expected, seed), Codec(), large=True)


def _expected(seed: int) -> Expected:
    ops = OnNumbers(lambda array: exact(array, worst=False))
    state = converted(beginning(seed), lambda array: exact(array, worst=False))
    held = inputs(seed)
    found = results_of(ops, state, held["input.tokens"], held["input.targets"])
    if ops.near:
        raise ValueError(f"{ID}: {ops.near} routing choices of seed {seed} lie within the noise: choose another --seed")
    return found


def results_of(ops: Ops, state: State, tokens: Any, targets: Any, step: Any = training_step) -> Results:
    """Return what an update gives on a namespace of operations, by flat name.  step: the update, or a reading of it."""
    watched = _Watched(ops)
    after, metrics = step(watched, TINY, TRAINING, state, tokens, targets)
    return watched.gradients_of(state) | named(after, metrics)


def named(after: State, metrics: Metrics) -> Results:
    """Return the state behind an update and what that reports, by flat name."""
    losses = {"loss": metrics.loss, "cross_entropy": metrics.cross_entropy, "aux_loss": metrics.aux_loss}
    groups: Mapping[str, Parameters] = {"parameter": after.parameters, "m": after.m, "v": after.v}
    updated = {f"{kind}.{name}": array for kind, held in groups.items() for name, array in held.items()}
    return {**losses, "norm": metrics.norm, **updated}


class _Watched(Wrapped):
    """A namespace that keeps the gradients that the update is given, and bounds what noise numbers say of it."""

    def __init__(self, ops: Ops) -> None:
        super().__init__(ops)
        self._gradients: list[Any] = []

    def gradients_of(self, state: State) -> Results:
        """The gradients by flat name."""
        return {f"gradient.{name}": one for name, one in zip(state.parameters, self._gradients, strict=True)}

    def multi_adamw(self, *lists: Any, **moving: Any) -> Any:
        self._gradients = lists[1]
        results = self._ops.multi_adamw(*lists, **moving)
        return _bounded(lists, moving, results) if isinstance(results[0][0], Noisy) else results


def _bounded(lists: Any, moving: Any, results: Any) -> Any:
    """The results of an update, with what first-order noise does not see of it."""
    function = operations.OPERATIONS["multi_adamw"]
    arguments = operations.signature(function).named(lists, moving)
    plain = {name: _value(value) for name, value in arguments.items()}
    flat = operations.flat(operations.by_name(function, results))
    interpolate(flat, plain)
    bound_update(flat, plain)
    return tuple([flat[f"{name}[{place}]"] for place in range(len(lists[0]))] for name in ("params", "ms", "vs"))


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return [_value(one) for one in value]
    return value.v if isinstance(value, Noisy) else value
