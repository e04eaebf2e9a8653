"""The golden training run: the envelope that replicas of the reference give (see conformance/envelope).

The parameters it starts from are not in the file, since their generator gives them (goldens/step.py).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from conformance.envelope import BATCH, REPLICAS, SEQ, STEPS, batches, draw_envelope
from conformance.oracles import Confirmation

from .tensors import Tensors, pack_expected


@dataclass(frozen=True)
class RunSource:
    """The run whose text is drawn with one seed."""

    seed: int

    @property
    def id(self) -> str:
        return f"training_run/tiny/{STEPS}x{BATCH}x{SEQ}"

    @property
    def generator(self) -> str:
        return "excerpts of the licence as bytes; parameters as in the training step"

    @property
    def scenario(self) -> str:
        return (
            f"{STEPS} free steps of the tiny model on real text: where {REPLICAS} stochastically rounded replicas lead."
        )

    def inputs(self) -> Tensors:
        """Tokens and targets of every step."""
        tokens, targets = zip(*batches(self.seed), strict=True)
        return {"input.tokens": np.stack(tokens), "input.targets": np.stack(targets)}

    def make(self) -> tuple[Tensors, Confirmation | None]:
        """Draw the replicas, on every core.  No oracle confirms a spread."""
        envelope = draw_envelope(self.seed, STEPS, processes=os.cpu_count() or 1)
        if envelope.near.any():
            raise ValueError(
                f"{self.id}: {envelope.near.sum()} routing choices lie within the noise: choose another seed"
            )
        return self.inputs() | pack_expected(envelope.expected), None
