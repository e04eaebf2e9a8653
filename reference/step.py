"""One training step on a namespace of operations: loss, gradients, schedule, clipping by one norm, AdamW."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from reference.model import transformer
from reference.model.config import Config
from reference.model.parameters import Ops, Parameters
from reference.model.transformer import Loss
from reference.ops._arrays import Array, check


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How a model is trained. warmup and total count updates; clip_norm bounds the norm over all gradients.

    Raises ValueError, naming the field, for values that no training can have.
    """

    lr: float = 1e-4
    beta1: float = 0.9
    beta2: float = 0.95
    eps: float = 1e-8
    weight_decay: float = 0.1
    clip_norm: float = 1.0
    warmup: int = 2000
    total: int = 100_000
    micro_batches: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            check(
                math.isfinite(value) and value >= 0,
                "TrainingConfig",
                field.name,
                "a finite number of at least 0",
                value,
            )
        for name in ("beta1", "beta2"):
            check(getattr(self, name) < 1, "TrainingConfig", name, "below 1", getattr(self, name))
        check(self.clip_norm > 0, "TrainingConfig", "clip_norm", "above 0", self.clip_norm)
        check(self.total > self.warmup, "TrainingConfig", "total", f"more than warmup = {self.warmup}", self.total)
        check(self.micro_batches >= 1, "TrainingConfig", "micro_batches", "at least 1", self.micro_batches)


class State(NamedTuple):
    """Where training stands: parameters, AdamW's two moments by the same names, and the updates made so far."""

    parameters: Parameters
    m: Parameters
    v: Parameters
    step: int


class Metrics(NamedTuple):
    """What a step reports: arrays of shape [1], so that nothing waits for a device. norm is that before clipping."""

    loss: Array
    cross_entropy: Array
    aux_loss: Array
    norm: Array
    learning_rate: float


def start(parameters: Parameters) -> State:
    """The state before the first update."""
    m, v = ({name: np.zeros_like(array) for name, array in parameters.items()} for _ in range(2))
    return State(parameters, m, v, 0)


def learning_rate(training: TrainingConfig, update: int) -> float:
    """Linear warm-up to lr, then cosine to a tenth of it at `total`, flat behind; updates count from 1."""
    check(update >= 1, "learning_rate", "update", "at least 1 (updates count from 1)", update)
    if update <= training.warmup:
        return training.lr * update / training.warmup
    progress = min(1.0, (update - training.warmup) / (training.total - training.warmup))
    return training.lr * (0.1 + 0.9 * 0.5 * (1.0 + math.cos(math.pi * progress)))


def training_step(
    ops: Ops,
    config: Config,
    training: TrainingConfig,
    state: State,
    tokens: Array,
    targets: Array,
    schedule: Callable[[TrainingConfig, int], float] = learning_rate,
) -> tuple[State, Metrics]:
    """One update from one batch. tokens and targets: int32 [batch, seq]; a negative target is not counted.

    A library updates the state's arrays in place; either way the state returned is the one to go on with.
    """
    loss, gradients = loss_and_gradients(ops, config, state.parameters, tokens, targets, training.micro_batches)
    rate = schedule(training, state.step + 1)
    state, norm = update(ops, training, state, gradients, rate)
    return state, Metrics(*loss, norm, rate)


def loss_and_gradients(
    ops: Ops, config: Config, parameters: Parameters, tokens: Array, targets: Array, micro_batches: int = 1
) -> tuple[Loss, Parameters]:
    """The loss and the gradient of every parameter, accumulated over micro-batches of whole sequences.

    The cross entropy is the mean over all targets that count, whichever micro-batch holds them; the auxiliary loss is
    the mean of the micro-batches' own (each has its own load).
    """
    counted, share = _counted(targets), 1.0 / micro_batches
    total: Loss | None = None
    gradients: Parameters | None = None
    for some_tokens, some_targets in _split(tokens, targets, micro_batches):
        output = transformer.forward(ops, config, parameters, some_tokens)
        loss, log_probs = transformer.loss(ops, output, some_targets)
        d_logits = ops.cross_entropy_backward(log_probs, some_targets.reshape(-1), scale=1.0 / counted)
        gradients = transformer.backward(ops, config, parameters, output, d_logits, share, into=gradients)
        if micro_batches > 1:
            loss = _scaled(ops, loss, _counted(some_targets) / counted, share)
        total = loss if total is None else Loss(*(ops.add(a, b) for a, b in zip(total, loss, strict=True)))
    assert total is not None
    assert gradients is not None
    return total, gradients


def _counted(targets: Array) -> int:
    return max(1, int((targets >= 0).sum()))


def _split(tokens: Array, targets: Array, parts: int) -> Iterator[tuple[Array, Array]]:
    batch, seq = tokens.shape
    check(batch % parts == 0, "training_step", "micro_batches", f"a divisor of the batch of {batch}", parts)
    shape = (parts, batch // parts, seq)
    return zip(tokens.reshape(shape), targets.reshape(shape), strict=True)


def _scaled(ops: Ops, loss: Loss, of_targets: float, of_batches: float) -> Loss:
    cross_entropy, aux = ops.scale(loss.cross_entropy, scale=of_targets), ops.scale(loss.aux, scale=of_batches)
    return Loss(ops.add(cross_entropy, aux), cross_entropy, aux)


def update(ops: Ops, training: TrainingConfig, state: State, gradients: Parameters, rate: float) -> tuple[State, Array]:
    """(state, norm): gradients clipped by the one norm over all of them, then AdamW on every parameter."""
    names, step = list(state.parameters), state.step + 1
    lists = [[held[name] for name in names] for held in (state.parameters, gradients, state.m, state.v)]
    norm, scale = ops.clip_scale(ops.multi_sum_squares(lists[1]), clip_norm=training.clip_norm)
    moving = {"lr": rate, "beta1": training.beta1, "beta2": training.beta2, "eps": training.eps, "step": step}
    updated = ops.multi_adamw(*lists, weight_decays(training, lists[0]), scale, **moving)
    parameters, m, v = (dict(zip(names, arrays, strict=True)) for arrays in updated)
    return State(parameters, m, v, step), norm


def weight_decays(training: TrainingConfig, arrays: list[Array]) -> Array:
    """One decay per array: none for the norms, which have one dimension."""
    return np.array([training.weight_decay * (array.ndim >= 2) for array in arrays], arrays[0].dtype)
