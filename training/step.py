"""One update with all that surrounds it: precision, loss scaling, accumulation, the ranks it is shared with.

In this order: scale the loss, backward, add up over micro-batches and ranks, unscale, clip, check, step.
"""

from __future__ import annotations

from typing import NamedTuple

from reference.arrays import Array
from reference.model.config import Config
from reference.model.parameters import Parameters
from reference.model.recompute import Recompute
from reference.model.transformer import Loss
from reference.namespace import Ops, offers
from reference.step import State, TrainingConfig, Whole, accumulate, counted_by_part, learning_rate, start

from .precision import FLOAT32, Precision, Scaler
from .ranks import ALONE, BUCKET_BYTES, Experts, Ranks, Reduction, now_at, totals


class Standing(NamedTuple):
    """Where training stands: float32 masters with their moments, loss scaling, and the 16-bit copies of parameters
    that the model computes with (none in float32)."""

    state: State
    scaler: Scaler
    copies: Parameters


class Report(NamedTuple):
    """What an update reports: arrays of shape [1], so that nothing waits for a device, and plain numbers.

    norm is that of the unscaled gradients before clipping; loads: of each layer how many tokens met each expert,
    [experts]; skipped: whether the update was left out since some gradient was not finite.
    """

    loss: Array
    cross_entropy: Array
    aux_loss: Array
    norm: Array
    learning_rate: float
    scale: float
    skipped: bool
    loads: list[Array]


class Computed(NamedTuple):
    """What an update is made of: loss and loads, unscaled gradients, their norm, and the factor that clips them.

    nonfinite: how many numbers of the gradients are not finite, int32 [1], where they were counted with the norm.
    """

    loss: Loss
    gradients: Parameters
    loads: list[Array]
    norm: Array
    factor: Array
    nonfinite: Array | None


class Step:
    """`standing, report = step(standing, tokens, targets)`: one update of a model on a namespace of operations.

    A library updates the standing's arrays in place; either way the standing returned is the one to go on with.
    """

    def __init__(
        self,
        ops: Ops,
        config: Config,
        training: TrainingConfig,
        *,
        precision: Precision = FLOAT32,
        recompute: Recompute | None = None,
        ranks: Ranks = ALONE,
        bucket_bytes: int = BUCKET_BYTES,
        expert_parallel: bool = False,
    ) -> None:
        """bucket_bytes: how much of the gradients the ranks sum at a time, while backward goes on.

        expert_parallel: each rank holds a part of the experts. Raises RanksError for experts that cannot be divided.
        """
        self._ops, self._config, self._training = ops, config, training
        self._precision, self._recompute, self._ranks = precision, recompute, ranks
        self._bucket_bytes = bucket_bytes
        self._experts = Experts(ranks, config, divided=expert_parallel)
        self._model_ops = self._experts.on(precision.on(ops))

    def start(self, parameters: Parameters) -> Standing:
        """Where training of these parameters (float32), the model's, starts."""
        parameters = self._experts.part(parameters)
        return Standing(
            start(parameters), self._precision.scaling.begin(), self._precision.copies(self._ops, parameters)
        )

    def whole(self, standing: Standing) -> Standing:
        """The standing of the model, where a rank's is of its part; every rank has to ask."""
        state, scaler, copies = standing
        return Standing(self._experts.whole_of(state), scaler, self._experts.whole(copies))

    def part(self, standing: Standing) -> Standing:
        """This rank's part of it."""
        state, scaler, copies = standing
        return Standing(self._experts.part_of(state), scaler, self._experts.part(copies))

    def shared(self, standing: Standing) -> Parameters:
        """The parameters that all ranks hold alike, and their 16-bit copies."""
        copies = {f"{name}, in 16 bits": copy for name, copy in self._experts.shared(standing.copies).items()}
        return self._experts.shared(standing.state.parameters) | copies

    def __call__(self, standing: Standing, tokens: Array, targets: Array) -> tuple[Standing, Report]:
        """tokens and targets: int32 [batch, seq], this rank's own; a negative target is not counted."""
        return self._finish(standing, self._compute(standing, tokens, targets, self._counts(targets)))

    def _counts(self, targets: Array) -> list[int]:
        return counted_by_part(targets, self._training.micro_batches)

    def _compute(self, standing: Standing, tokens: Array, targets: Array, counts: list[int]) -> Computed:
        """All that no number of this update's own enters, so that it can be captured."""
        parts, scale = self._training.micro_batches, standing.scaler.scale
        whole = Whole(*totals(self._ranks, sum(counts), parts))
        reduction = Reduction(self._ranks, self._bucket_bytes, self._experts.own)
        held = standing.state.parameters | standing.copies
        part = accumulate(
            self._model_ops,
            self._config,
            held,
            tokens,
            targets,
            micro_batches=parts,
            whole=whole,
            counts=counts,
            loss_scale=scale,
            recompute=self._recompute,
            ready=reduction.ready,
        )
        loss, gradients, loads = reduction.finish(part)
        gradients = self._precision.unscaled(self._ops, gradients, scale)
        return Computed(loss, gradients, loads, *self._clipping(gradients))

    def _clipping(self, gradients: Parameters) -> tuple[Array, Array, Array | None]:
        """(norm, the factor that bounds it, how many numbers are not finite): of one reading where that can be."""
        if self._precision.looks and not self._experts.own and offers(self._ops, "multi_sum_squares_nonfinite"):
            squares, nonfinite = self._ops.multi_sum_squares_nonfinite(list(gradients.values()))
            norm, factor = self._ops.clip_scale(squares, clip_norm=self._training.clip_norm)
            return norm, factor, nonfinite
        return *self._experts.clipping(self._ops, self._training, gradients), None

    def _finish(self, standing: Standing, computed: Computed) -> tuple[Standing, Report]:
        scaler, rate = standing.scaler, learning_rate(self._training, standing.state.step + 1)
        now_at("update")
        finite = all(self._ranks.gather(self._precision.finite(self._ops, computed.gradients, computed.nonfinite)))
        if finite:
            standing = self._moved(standing, computed.gradients, computed.factor, rate)
        report = Report(*computed.loss, computed.norm, rate, scaler.scale, not finite, computed.loads)
        return standing._replace(scaler=self._precision.scaling.after(scaler, finite)), report

    def _moved(self, standing: Standing, gradients: Parameters, factor: Array, rate: float) -> Standing:
        state, copies = self._precision.moved(
            self._ops, self._training, standing.state, standing.copies, gradients, factor, rate
        )
        return standing._replace(state=state, copies=copies)
