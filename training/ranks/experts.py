"""Expert parallelism: each rank holds, computes and updates its own part of every layer's experts."""

from __future__ import annotations

import numpy as np

from reference.arrays import Array
from reference.model.config import Config
from reference.model.parameters import Parameters, held_shapes
from reference.namespace import Ops
from reference.step import State, TrainingConfig, clipping

from .agreement import RanksError
from .interface import Ranks
from .routes import Routed


class Experts:
    """Which parameters are a rank's own.

    None are where experts are not divided, or there is one process: then nothing here differs from the plain path.
    Raises RanksError for a number of experts that the ranks do not divide.
    """

    def __init__(self, ranks: Ranks, config: Config, *, divided: bool) -> None:
        self._ranks = ranks
        self.own: frozenset[str] = frozenset()
        if divided and ranks.size > 1:
            if config.experts % ranks.size:
                expected = f"a multiple of the {ranks.size} ranks"
                raise RanksError(f"experts: expected {expected} that are to share them, got {config.experts}")
            self.own = frozenset(n for n in held_shapes(config) if n.endswith((".gate", ".up", ".down")))

    def on(self, ops: Ops) -> Ops:
        """The namespace of operations that the model is to be run on."""
        return Routed(ops, self._ranks) if self.own else ops

    def shared(self, arrays: Parameters) -> Parameters:
        """Those that all ranks hold alike."""
        return {name: array for name, array in arrays.items() if name not in self.own}

    def part(self, arrays: Parameters) -> Parameters:
        """What this rank holds of a model's arrays."""
        size, rank = self._ranks.size, self._ranks.rank
        return {n: np.split(array, size)[rank].copy() if n in self.own else array for n, array in arrays.items()}

    def whole(self, arrays: Parameters) -> Parameters:
        """The model's arrays of the parts; every rank has to ask."""
        return {n: self._joined(array) if n in self.own else array for n, array in arrays.items()}

    def part_of(self, state: State) -> State:
        """What this rank holds of where training stands."""
        return State(self.part(state.parameters), self.part(state.m), self.part(state.v), state.step)

    def whole_of(self, state: State) -> State:
        """Where training stands, of the parts; every rank has to ask."""
        return State(self.whole(state.parameters), self.whole(state.m), self.whole(state.v), state.step)

    def clipping(self, ops: Ops, training: TrainingConfig, gradients: Parameters) -> tuple[Array, Array]:
        """As reference.step.clipping, of the gradients on all ranks, each counted once; the same bits on each."""
        if not self.own:
            return clipping(ops, training, gradients)
        own = ops.multi_sum_squares([array for name, array in gradients.items() if name in self.own])
        [others] = self._ranks.begin_sum([own]).wait()
        shared = ops.multi_sum_squares(list(self.shared(gradients).values()))
        norm, scale = ops.clip_scale(ops.add(shared, others), clip_norm=training.clip_norm)
        return norm, scale

    def _joined(self, array: Array) -> Array:
        return np.concatenate(self._ranks.trade([array] * self._ranks.size))
