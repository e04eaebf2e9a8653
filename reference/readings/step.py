"""Wrong readings of the training step, called as it is: (ops, config, training, state, tokens, targets).

Most are the step itself on a namespace of operations in which something is misunderstood.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from reference import step
from reference.arrays import Array
from reference.model.config import Config
from reference.namespace import Ops, Wrapped
from reference.step import Metrics, State, TrainingConfig

from .order import norm_before_sublayer
from .reading import Reading

Operation = Callable[..., Any]
Result = tuple[State, Metrics]


class Misread(Wrapped):
    """A namespace of operations with some of them replaced."""

    def __init__(self, ops: Ops, **replaced: Operation) -> None:
        super().__init__(ops)
        self._replaced = replaced

    def offers(self, operation: str) -> bool:
        """What is misunderstood are the parts."""
        return False

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        return (self._replaced.get(operation) or getattr(self._ops, operation))(*args, **named)


def _with(**replacements: Callable[[Ops], Operation]) -> Callable[..., Result]:
    """The step on operations replaced by what each function makes of the namespace."""

    def function(ops: Ops, *given: Any) -> Result:
        replaced = {operation: make(ops) for operation, make in replacements.items()}
        return step.training_step(Misread(ops, **replaced), *given)

    return function


# ---- schedule ---------------------------------------------------------------------------------------


def _from_zero(training: TrainingConfig, update: int) -> float:
    return 0.0 if update == 1 else step.learning_rate(training, update - 1)


def _to_zero(training: TrainingConfig, update: int) -> float:
    return _cosine(training, update, floor=0.0, progress=min(1.0, _progress(training, update)))


def _rising(training: TrainingConfig, update: int) -> float:
    return _cosine(training, update, floor=0.1, progress=_progress(training, update))


def _progress(training: TrainingConfig, update: int) -> float:
    return (update - training.warmup) / (training.total - training.warmup)


def _cosine(training: TrainingConfig, update: int, floor: float, progress: float) -> float:
    if update <= training.warmup:
        return step.learning_rate(training, update)
    return training.lr * (floor + (1.0 - floor) * 0.5 * (1.0 + math.cos(math.pi * progress)))


def _constant(training: TrainingConfig, update: int) -> float:
    return training.lr


# ---- clipping ---------------------------------------------------------------------------------------


def _never(ops: Ops) -> Operation:
    return lambda sum_squares, clip_norm: ops.clip_scale(sum_squares, clip_norm=math.inf)


def _clipped(ops: Ops, array: Array, clip_norm: float) -> Array:
    _, scale = ops.clip_scale(ops.multi_sum_squares([array]), clip_norm=clip_norm)
    return ops.multi_scale([array], scale)[0]


def _per_tensor(
    ops: Ops, config: Config, training: TrainingConfig, state: State, tokens: Array, targets: Array
) -> Result:
    parts = training.micro_batches
    loss, gradients, _ = step.accumulate(ops, config, state.parameters, tokens, targets, micro_batches=parts)
    gradients = {name: _clipped(ops, array, training.clip_norm) for name, array in gradients.items()}
    rate = step.learning_rate(training, state.step + 1)
    state, norm = step.update(Misread(ops, clip_scale=_never(ops)), training, state, gradients, rate)
    return state, Metrics(*loss, norm, rate)


def _logits_gradient(ops: Ops, config: Config, training: TrainingConfig, *given: Any) -> Result:
    def backward(log_probs: Array, targets: Array, scale: float) -> Array:
        return _clipped(ops, ops.cross_entropy_backward(log_probs, targets, scale=scale), training.clip_norm)

    misread = Misread(ops, clip_scale=_never(ops), cross_entropy_backward=backward)
    return step.training_step(misread, config, training, *given)


# ---- gradients --------------------------------------------------------------------------------------


def _none_for_balance(ops: Ops) -> Operation:
    return lambda f_counts, batch_seq, alpha, scale: ops.aux_loss_backward(
        f_counts, batch_seq=batch_seq, alpha=alpha, scale=0.0
    )


def _none_for_choice(ops: Ops) -> Operation:
    def backward(weights: Array, indices: Array, d_weights: Array, cols: int) -> Array:
        d_logits = ops.softmax_topk_backward(weights, indices, d_weights, cols=cols)
        return ops.scale(d_logits.reshape(-1), scale=0.0).reshape(d_logits.shape)

    return backward


class _Concatenated:
    """The auxiliary loss of the tokens of all layers, as if they were those of one.

    The last layer's loss stands for all of them, since only then all is known; so do its counts in backward.
    """

    def __init__(self, ops: Ops, layers: int) -> None:
        self._ops, self._layers = ops, layers
        self._seen: list[tuple[Array, Array]] = []
        self._counts: Array = None

    def forward(self, router_probs: Array, expert_indices: Array, alpha: float) -> Any:
        loss, counts, means = self._ops.aux_loss_forward(router_probs, expert_indices, alpha=alpha)
        self._seen.append((router_probs, expert_indices))
        if len(self._seen) < self._layers:
            return self._ops.scale(loss, scale=0.0), counts, means
        probs, indices = (np.concatenate(arrays) for arrays in zip(*self._seen, strict=True))
        self._seen = []
        loss, self._counts, _ = self._ops.aux_loss_forward(probs, indices, alpha=alpha)
        return loss, counts, means

    def backward(self, f_counts: Array, batch_seq: int, alpha: float, scale: float) -> Array:
        tokens = batch_seq * self._layers
        of_all = self._ops.aux_loss_backward(self._counts, batch_seq=tokens, alpha=alpha, scale=scale)
        return of_all[:batch_seq]


def _concatenated_layers(ops: Ops, config: Config, *given: Any) -> Result:
    loss = _Concatenated(ops, config.layers)
    misread = Misread(ops, aux_loss_forward=loss.forward, aux_loss_backward=loss.backward)
    return step.training_step(misread, config, *given)


def _turned_on(ops: Ops) -> Operation:
    return lambda d_q, d_k, freqs, offset: ops.rope_qk(d_q, d_k, freqs, offset=offset)


def _summed(ops: Ops) -> Operation:
    return lambda log_probs, targets, scale: ops.cross_entropy_backward(log_probs, targets, scale=1.0)


def _assigned(ops: Ops) -> Operation:
    return lambda A, B, C, alpha, beta: ops.gemm_tn(A, B, None, alpha=alpha, beta=0.0)


def _without_residual(ops: Ops) -> Operation:
    def backward(
        residual_out: Array, weight: Array, d_output: Array, d_residual_out: Array, *more: Any, **by: Any
    ) -> Any:
        nothing = ops.scale(d_residual_out.reshape(-1), scale=0.0).reshape(d_residual_out.shape)
        return ops.rmsnorm_residual_backward(residual_out, weight, d_output, nothing, *more, **by)

    return backward


def _last_of_each_token(ops: Ops) -> Operation:
    def scatter_add(grad_output: Array, indices: Array, grad_weight: Array) -> Array:
        later = [token in indices[place + 1 :] for place, token in enumerate(indices)]
        return ops.scatter_add(grad_output, np.where(later, indices.dtype.type(-1), indices), grad_weight)

    return scatter_add


def _corrected_late(ops: Ops) -> Operation:
    return lambda *lists, step, **by: ops.multi_adamw(*lists, step=max(1, step - 1), **by)


def _decaying_everything(ops: Ops) -> Operation:
    def multi_adamw(*lists: Any, **moving: Any) -> Any:
        *arrays, weight_decays, grad_scale = lists
        return ops.multi_adamw(*arrays, np.full_like(weight_decays, weight_decays.max()), grad_scale, **moving)

    return multi_adamw


def _with_schedule(schedule: Callable[[TrainingConfig, int], float]) -> Callable[..., Result]:
    return partial(step.training_step, schedule=schedule)


_reading = partial(Reading, "training_step")

# Of what an update does with the gradients, and when.
UPDATES = (
    _reading("first step with learning rate 0", "Updates are counted from 0.", _with_schedule(_from_zero)),
    _reading("decays to 0", "The cosine ends at 0, not at a tenth of the base.", _with_schedule(_to_zero)),
    _reading("rises again after total", "The cosine goes on beyond its half turn.", _with_schedule(_rising)),
    _reading("schedule not applied", "The base learning rate in every update.", _with_schedule(_constant)),
    _reading("clipped per tensor", "Each gradient is clipped by a norm of its own.", _per_tensor),
    _reading("not clipped", "The norm is reported, the gradients are taken as they are.", _with(clip_scale=_never)),
    _reading(
        "bias correction one step behind",
        "The moments are corrected for the update before.",
        _with(multi_adamw=_corrected_late),
    ),
    _reading("norms decay too", "Weight decay on every parameter.", _with(multi_adamw=_decaying_everything)),
)

# Of what loss and gradients are: they show in a step before its update.
GRADIENTS = (
    _reading("logits' gradient clipped", "The gradient of the loss is clipped, not the parameters'.", _logits_gradient),
    _reading("auxiliary loss not differentiated", "It is reported only.", _with(aux_loss_backward=_none_for_balance)),
    _reading(
        "auxiliary loss over concatenated layers",
        "The tokens of all layers are balanced as if they were those of one.",
        _concatenated_layers,
    ),
    _reading(
        "router without gradient",
        "The weights of the experts are taken as constants, and so is the auxiliary loss.",
        _with(softmax_topk_backward=_none_for_choice, aux_loss_backward=_none_for_balance),
    ),
    _reading("norm backward before its sublayer", "The backward runs in the forward's order.", norm_before_sublayer),
    _reading("no inverse rotation", "Gradients are rotated on, not back.", _with(rope_qk_backward=_turned_on)),
    _reading(
        "gradient of the sum", "The gradient is not divided by the tokens.", _with(cross_entropy_backward=_summed)
    ),
    _reading("micro-batches assigned", "The last one's gradient replaces the others'.", _with(gemm_tn=_assigned)),
    _reading(
        "residual dropped",
        "Gradients come back through the norms alone.",
        _with(rmsnorm_residual_backward=_without_residual),
    ),
    _reading(
        "repeated tokens assigned",
        "A token's last place gives its embedding's gradient.",
        _with(scatter_add=_last_of_each_token),
    ),
)

READINGS = (*UPDATES, *GRADIENTS)
