"""A training step of a language model on the tape: forward, backward, clipping, update."""

from __future__ import annotations

from typing import Any, NamedTuple

from reference.step import TrainingConfig
from tensors.errors import check
from tensors.modules import Decoder
from tensors.optimizers import AdamW, WarmupCosine, clipping


class Report(NamedTuple):
    """What a step reports; norm is that over all gradients, before clipping."""

    loss: float
    cross_entropy: float
    aux_loss: float
    norm: float
    learning_rate: float


class Training:
    """`report = training(tokens, targets)`: one update of a decoder, as reference/step makes it by hand.

    training: one micro-batch. The parameters move in place.
    """

    def __init__(self, model: Decoder, training: TrainingConfig) -> None:
        t = training
        check(t.micro_batches == 1, "Training", "one micro-batch", t.micro_batches)
        self.model, self._clip_norm = model, t.clip_norm
        schedule = WarmupCosine(t.lr, t.warmup, t.total)
        told: dict[str, Any] = {"betas": (t.beta1, t.beta2), "eps": t.eps, "weight_decay": t.weight_decay}
        self.optimizer = AdamW(model, schedule, **told)
        self._parameters = model.parameters()

    def __call__(self, tokens: Any, targets: Any) -> Report:
        """tokens, targets: int32 [batch, seq]; a negative target is not counted."""
        self.model.zero_grad()
        loss = self.model.loss(tokens, targets)
        loss.total.backward()
        norm, factor = clipping(self._parameters, self._clip_norm)
        rate = self.optimizer.step(factor)
        return Report(loss.total.item(), loss.cross_entropy.item(), loss.aux.item(), norm.item(), rate)
