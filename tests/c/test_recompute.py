"""Gradient checkpointing on the C build, whose operations add to gradients in place: the same bits as without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bindings import Library
from reference.model.recompute import Recompute
from reference.step import TrainingConfig, start, training_step
from tests.reference.model_samples import SMALL, batch, parameters
from training.memory.ledger import arrays_in

DEEP = replace(SMALL, layers=4)


def two_steps(stub: Library, micro_batches: int, recompute: Recompute | None) -> list[bytes]:
    training = TrainingConfig(lr=1e-2, warmup=1, total=3, micro_batches=micro_batches)
    state = start(parameters(DEEP, dtype=np.float32))
    reported: list[Any] = []
    for seed in range(2):
        given = batch(DEEP, seed, shape=(4, 24))
        state, metrics = training_step(stub, DEEP, training, state, *given, recompute=recompute)
        reported += metrics[:4]
    return [array.tobytes() for array in arrays_in((reported, state.parameters, state.m, state.v))]


@pytest.mark.parametrize("micro_batches", [1, 2])
@pytest.mark.parametrize(
    "setting", [Recompute("every", 2), Recompute("boundaries"), Recompute("boundaries", 3)], ids=str
)
def test_steps_are_those_of_the_plain_run(stub: Library, setting: Recompute, micro_batches: int) -> None:
    assert two_steps(stub, micro_batches, setting) == two_steps(stub, micro_batches, None)
