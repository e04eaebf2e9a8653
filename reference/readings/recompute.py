"""Wrong readings of gradient checkpointing: a step called with what to compute again.

(ops, config, training, state, tokens, targets, recompute); one micro-batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from reference import step
from reference.arrays import Array
from reference.model import transformer
from reference.model.config import Config
from reference.model.recompute import Dropped, Kept, Recompute
from reference.namespace import Ops, Wrapped
from reference.step import Metrics, State, TrainingConfig

from .reading import Reading

Result = tuple[State, Metrics]


def itself(
    ops: Ops, config: Config, training: TrainingConfig, state: State, tokens: Array, targets: Array,
    recompute: Recompute | None,
) -> Result:  # fmt: skip
    """The step, called as its readings are."""
    return step.training_step(ops, config, training, state, tokens, targets, recompute=recompute)


def _never(
    ops: Ops, config: Config, training: TrainingConfig, state: State, tokens: Array, targets: Array, _: Recompute
) -> Result:
    return step.training_step(ops, config, training, state, tokens, targets)


class _Closure(Wrapped):
    """A namespace of operations whose results are all held as long as it is."""

    def __init__(self, ops: Ops) -> None:
        super().__init__(ops)
        self._held: list[Any] = []

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        self._held.append(super()._call(operation, *args, **named))
        return self._held[-1]


def _held(ops: Ops, *given: Any) -> Result:
    return itself(_Closure(ops), *given)


class _Summing(Wrapped):
    """A namespace of operations that adds up the auxiliary loss as layers are computed."""

    sum: Array | None = None

    def aux_loss_forward(self, *given: Any, **by: Any) -> Any:
        aux_loss, *counts = self._ops.aux_loss_forward(*given, **by)
        self.sum = aux_loss if self.sum is None else self._ops.add(self.sum, aux_loss)
        return aux_loss, *counts


def _twice(ops: Ops, *given: Any) -> Result:
    summing = _Summing(ops)
    state, metrics = itself(summing, *given)
    return state, metrics._replace(loss=ops.add(metrics.cross_entropy, summing.sum), aux_loss=summing.sum)


def _kept(
    change: Callable[[Dropped, transformer.Trunk], Dropped],
    ops: Ops, config: Config, training: TrainingConfig, state: State, tokens: Array, targets: Array,
    recompute: Recompute,
) -> Result:  # fmt: skip
    """The step with something else in place of what is kept of a segment."""

    def changed(kept: Kept, below: transformer.Trunk) -> Kept:
        return change(kept, below) if isinstance(kept, Dropped) else kept

    output = transformer.forward(ops, config, state.parameters, tokens, recompute)
    loss, log_probs = transformer.loss(ops, output, targets)
    scale = 1.0 / max(1, step.counted(targets))
    d_logits = ops.cross_entropy_backward(log_probs, targets.reshape(-1), scale=scale)
    below = output.trunk._replace(layers=[changed(kept, output.trunk) for kept in output.trunk.layers])
    gradients = transformer.backward(ops, config, state.parameters, output._replace(trunk=below), d_logits, 1.0)
    rate = step.learning_rate(training, state.step + 1)
    state, norm = step.update(ops, training, state, gradients, rate)
    return state, Metrics(*loss, norm, rate)


def _last_stream(kept: Dropped, below: transformer.Trunk) -> Dropped:
    return kept._replace(stream=below.stream)


def _stream_alone(kept: Dropped, _: transformer.Trunk) -> Dropped:
    return kept._replace(branch=None)


_reading = partial(Reading, "recomputation")

READINGS = (
    _reading("never wired in", "The setting is read and passed on, and nothing asks for it.", _never),
    _reading("activations held all the same", "Something, a closure say, holds on to what was dropped.", _held),
    _reading("auxiliary loss counted twice", "It is added up in the layer, which is computed twice.", _twice),
    _reading(
        "another layer's input",
        "One variable holds the stream, and is what the last layer left in it.",
        partial(_kept, _last_stream),
    ),
    _reading(
        "without the branch",
        "The stream alone is kept, before the last sublayer's output was added to it.",
        partial(_kept, _stream_alone),
    ),
)
