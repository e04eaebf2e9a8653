"""The training step with all that surrounds it is the reference's step where nothing does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import reference
from reference.model.recompute import Recompute
from reference.step import TrainingConfig, start, training_step
from tests.reference.model_samples import SMALL, batch, parameters
from training.memory.ledger import arrays_in
from training.precision import BF16, FLOAT32, FP16, Precision
from training.step import Step

TRAINING = TrainingConfig(lr=1e-2, warmup=2, total=10)


@pytest.mark.parametrize("micro_batches", [1, 2])
def test_it_is_the_references_step(micro_batches: int) -> None:
    training = replace(TRAINING, micro_batches=micro_batches)
    step = Step(reference, SMALL, training)
    state, standing = start(parameters(dtype=np.float32)), step.start(parameters(dtype=np.float32))
    for seed in range(3):
        state, metrics = training_step(reference, SMALL, training, state, *batch(seed=seed))
        standing, report = step(standing, *batch(seed=seed))
        assert [*metrics] == [report.loss, report.cross_entropy, report.aux_loss, report.norm, report.learning_rate]
    assert standing.state.step == state.step == 3
    for ours, theirs in zip(standing.state[:3], state[:3], strict=True):
        assert all((ours[name] == theirs[name]).all() for name in state.parameters)


def test_it_reports_how_many_tokens_met_each_expert() -> None:
    step = Step(reference, SMALL, replace(TRAINING, micro_batches=2))
    tokens, targets = batch()
    _, report = step(step.start(parameters(dtype=np.float32)), tokens, targets)
    assert [load.shape for load in report.loads] == [(SMALL.experts,)] * SMALL.layers
    assert all(float(load.sum()) == SMALL.top_k * tokens.size for load in report.loads)


@pytest.mark.parametrize("precision", [FLOAT32, BF16, FP16], ids=lambda precision: precision.format)
def test_recomputed_layers_change_no_bit_and_nothing_of_the_report(precision: Precision) -> None:
    reports = []
    for recompute in (None, Recompute("every", 2), Recompute("boundaries", 2)):
        training = replace(TRAINING, micro_batches=2)
        step = Step(reference, SMALL, training, precision=precision, recompute=recompute)
        standing, report = step(step.start(parameters(dtype=np.float32)), *batch())
        reports.append([array.tobytes() for array in arrays_in((standing, report))])
    assert reports[0] == reports[1] == reports[2]
