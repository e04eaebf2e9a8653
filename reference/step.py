"""One training step on a namespace of operations: loss, gradients, schedule, clipping by one norm, AdamW."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from .arrays import Array, check
from .model import transformer
from .model.config import Config
from .model.parameters import Parameters
from .model.recompute import Recompute
from .model.transformer import Loss, Ready
from .namespace import Ops

# The operations that the forward and the backward of a batch begin with: whoever watches the calls goes by these.
FORWARD_BEGINS, BACKWARD_BEGINS = "embedding", ("cross_entropy_backward", "fused_cross_entropy")


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


class Whole(NamedTuple):
    """All that one update learns from, where a batch is only a part of it (one rank's): its targets that count, and
    the micro-batches it is cut into."""

    counted: int
    micro_batches: int


class Accumulated(NamedTuple):
    """What the micro-batches add up to; loads: of each layer how many tokens met each expert, [experts]."""

    loss: Loss
    gradients: Parameters
    loads: list[Array]


def training_step(
    ops: Ops,
    config: Config,
    training: TrainingConfig,
    state: State,
    tokens: Array,
    targets: Array,
    schedule: Callable[[TrainingConfig, int], float] = learning_rate,
    recompute: Recompute | None = None,
) -> tuple[State, Metrics]:
    """One update from one batch. tokens and targets: int32 [batch, seq]; a negative target is not counted.

    A library updates the state's arrays in place; either way the state returned is the one to go on with.
    """
    loss, gradients, _ = accumulate(
        ops, config, state.parameters, tokens, targets, micro_batches=training.micro_batches, recompute=recompute
    )
    rate = schedule(training, state.step + 1)
    state, norm = update(ops, training, state, gradients, rate)
    return state, Metrics(*loss, norm, rate)


def accumulate(
    ops: Ops,
    config: Config,
    parameters: Parameters,
    tokens: Array,
    targets: Array,
    *,
    micro_batches: int = 1,
    whole: Whole | None = None,
    loss_scale: float = 1.0,
    recompute: Recompute | None = None,
    ready: Ready | None = None,
    counts: Sequence[int] | None = None,
) -> Accumulated:
    """The loss and the gradient of every parameter, accumulated over micro-batches of whole sequences.

    The cross entropy is the mean over all targets that count, whichever micro-batch holds them; the auxiliary loss is
    the mean of the micro-batches' own (each has its own load).  Of a batch that is part of a whole this is the part
    that adds up to the whole's.  Gradients are those of loss_scale times the loss.  ready is given each as soon as the
    last micro-batch has been added to it.  counts: the targets that count of each micro-batch, given where the targets
    themselves lie on a device and cannot be looked at.
    """
    counts = counts or counted_by_part(targets, micro_batches)
    whole = whole or Whole(sum(counts), micro_batches)
    share = 1.0 / whole.micro_batches
    total: Accumulated | None = None
    for number, (some_tokens, some_targets) in enumerate(_split(tokens, targets, micro_batches), start=1):
        scales = loss_scale / max(1, whole.counted), loss_scale * share
        into = total.gradients if total else None
        then = ready if number == micro_batches else None
        loss, gradients, loads = _part(
            ops,
            config,
            parameters,
            some_tokens,
            some_targets,
            scales=scales,
            into=into,
            recompute=recompute,
            ready=then,
        )
        if whole.micro_batches > 1:
            loss = _scaled(ops, loss, counts[number - 1] / max(1, whole.counted), share)
        total = Accumulated(*_added(ops, total, loss, loads, gradients))
    assert total is not None
    return total


def _part(
    ops: Ops,
    config: Config,
    parameters: Parameters,
    tokens: Array,
    targets: Array,
    *,
    scales: tuple[float, float],
    into: Parameters | None,
    recompute: Recompute | None,
    ready: Ready | None,
) -> Accumulated:
    """One micro-batch; its activations are gone when it returns.  scales: of cross entropy and auxiliary loss."""
    output = transformer.forward(ops, config, parameters, tokens, recompute)
    loss, d_logits = transformer.loss_and_gradient(ops, output, targets, scales[0])
    output = output._replace(logits=None)  # which nothing reads any more
    gradients = transformer.backward(ops, config, parameters, output, d_logits, scales[1], into, ready)
    return Accumulated(loss, gradients, output.trunk.loads)


def _added(
    ops: Ops, total: Accumulated | None, loss: Loss, loads: list[Array], gradients: Parameters
) -> tuple[Loss, Parameters, list[Array]]:
    if total is None:
        return loss, gradients, loads
    return Loss(*map(ops.add, total.loss, loss)), gradients, [*map(ops.add, total.loads, loads)]


def counted(targets: Array) -> int:
    """How many targets count."""
    return int((targets >= 0).sum())


def counted_by_part(targets: Array, micro_batches: int) -> list[int]:
    """How many targets of each micro-batch count."""
    return [counted(some) for some, _ in _split(targets, targets, micro_batches)]


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
    norm, scale = clipping(ops, training, gradients)
    lists, moving = adamw_arguments(training, state, gradients, scale, rate)
    updated = ops.multi_adamw(*lists, **moving)
    return moved(state, *updated), norm


def clipping(ops: Ops, training: TrainingConfig, gradients: Parameters) -> tuple[Array, Array]:
    """(norm over all gradients, the factor that bounds it), [1] each."""
    norm, scale = ops.clip_scale(ops.multi_sum_squares(list(gradients.values())), clip_norm=training.clip_norm)
    return norm, scale


def adamw_arguments(
    training: TrainingConfig, state: State, gradients: Parameters, scale: Array, rate: float
) -> tuple[list[Any], dict[str, Any]]:
    """What AdamW over all parameters is called with, by place and by name; gradients are taken times scale."""
    held = (state.parameters, gradients, state.m, state.v)
    lists = [[arrays[name] for name in state.parameters] for arrays in held]
    named = {"lr": rate, "beta1": training.beta1, "beta2": training.beta2, "eps": training.eps, "step": state.step + 1}
    return [*lists, weight_decays(training, lists[0]), scale], named


def moved(state: State, parameters: list[Array], m: list[Array], v: list[Array]) -> State:
    """The state after an update that left these arrays."""
    by_name = [dict(zip(state.parameters, arrays, strict=True)) for arrays in (parameters, m, v)]
    return State(by_name[0], by_name[1], by_name[2], state.step + 1)


def weight_decays(training: TrainingConfig, arrays: list[Array]) -> Array:
    """One decay per array: none for the norms, which have one dimension."""
    return np.array([training.weight_decay * (array.ndim >= 2) for array in arrays], arrays[0].dtype)
