"""The golden training run: the envelope that replicas of the reference give (see conformance/limits/envelope).

The parameters it starts from are not in the file, since their generator gives them (goldens/step.py).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from conformance.catalogue.oracles import Confirmation
from conformance.limits.envelope import REPLICAS, Run, batches, draw_envelope

from .names import training_run
from .tensors import Tensors, pack_expected


@dataclass(frozen=True)
class RunSource:
    """One run."""

    run: Run

    @property
    def seed(self) -> int:
        return self.run.seed

    @property
    def id(self) -> str:
        return training_run(self.run)

    @property
    def generator(self) -> str:
        return "excerpts of the licence as bytes; parameters as in the training step"

    @property
    def scenario(self) -> str:
        steps = f"{self.run.steps} free steps of the tiny model on real text, in {self.run.precision.format}"
        return f"{steps}: where {REPLICAS} stochastically rounded replicas lead."

    def inputs(self) -> Tensors:
        """Tokens and targets of every step."""
        tokens, targets = zip(*batches(self.run), strict=True)
        return {"input.tokens": np.stack(tokens), "input.targets": np.stack(targets)}

    def make(self) -> tuple[Tensors, Confirmation | None]:
        """Draw the replicas, on every core.  No oracle confirms a spread."""
        envelope = draw_envelope(self.run, processes=os.cpu_count() or 1)
        if envelope.near.any():
            raise ValueError(
                f"{self.id}: {envelope.near.sum()} routing choices lie within the noise: choose another seed"
            )
        return self.inputs() | pack_expected(envelope.expected), None
