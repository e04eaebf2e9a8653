"""A run whose model stays where the library computes: batches go there, and what is looked at comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bindings import Library
from reference.model import transformer
from training.learner import Learner, model_parameters
from training.settings import SettingsError

from .decoding import generate
from .step import ResidentStep, on_host

if TYPE_CHECKING:
    from reference.arrays import Array
    from reference.generate import Strategy
    from reference.model.parameters import Parameters
    from reference.namespace import Ops
    from training.checkpoints import Checkpoint
    from training.ranks import Ranks
    from training.settings import Settings
    from training.step import Report, Standing


class ResidentLearner(Learner):
    """A Learner on a library that was opened with resident=True; checkpoints and reports are those of any other."""

    def __init__(self, library: Library, settings: Settings, ranks: Ranks) -> None:
        if settings.expert_parallel and ranks.size > 1:
            raise SettingsError("--expert-parallel: expected a backend on host memory, got one on device memory")
        super().__init__(library, settings, ranks)
        self._library = library
        self.step = self._device_step = _Told(
            library,
            self.config,
            self.training,
            precision=self.precision,
            recompute=settings.recomputed(),
            ranks=ranks,
        )
        self.way = self._device_step.way

    def loss(self, standing: Standing, tokens: Array, targets: Array) -> float:
        """Return the cross entropy of a batch."""
        on_device = [self._library.array(np.ascontiguousarray(array)) for array in (tokens, targets)]
        output = transformer.forward(self._model_ops, self.config, model_parameters(standing), on_device[0])
        found, _ = transformer.loss(self._model_ops, output, on_device[1])
        return float(found.cross_entropy.to_host()[0])

    def to_checkpoint(self, standing: Standing) -> Checkpoint:
        """Return all that training goes on from."""
        return super().to_checkpoint(on_host(standing))

    def from_checkpoint(self, checkpoint: Checkpoint) -> Standing:
        """Return where training stood: the other way round."""
        return self._device_step.to_device(super().from_checkpoint(checkpoint))

    def _generate(self, parameters: Parameters, prompt: Array, count: int, strategy: Strategy, seed: int) -> Array:
        return generate(self._library, self.config, parameters, prompt, count, strategy, seed, self._model_ops)


class _Told(ResidentStep):
    """A step whose report is one of host arrays: a run writes every number of it down, and compares parameters."""

    def __call__(self, standing: Standing, tokens: Array, targets: Array) -> tuple[Standing, Report]:
        standing, report = super().__call__(standing, tokens, targets)
        named = {name: getattr(report, name).to_host() for name in ("loss", "cross_entropy", "aux_loss", "norm")}
        return standing, report._replace(**named, loads=[load.to_host() for load in report.loads])

    def shared(self, standing: Standing) -> Parameters:
        """The parameters that all ranks hold alike, on the host."""
        return {name: array.to_host() for name, array in super().shared(standing).items()}


def learner_on(ops: Ops, settings: Settings, ranks: Ranks) -> Learner:
    """Return the learner for this namespace of operations."""
    resident = isinstance(ops, Library) and ops.resident
    return ResidentLearner(ops, settings, ranks) if resident else Learner(ops, settings, ranks)
