"""Mixed precision: masters, copies, what is not finite, skipped updates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import reference
from reference.step import TrainingConfig
from tests.reference.model_samples import SMALL, batch, parameters
from training.precision import BF16, DYNAMIC, FP16, NONE, Precision, Scaling, fixed, read
from training.step import Standing, Step

TRAINING = TrainingConfig(lr=1e-5, warmup=2, total=10, micro_batches=2)
OVERFLOWING = Precision(format="fp16", scaling=Scaling(start=2.0**24))


def step_of(precision: Precision, training: TrainingConfig = TRAINING) -> tuple[Step, Standing]:
    step = Step(reference, SMALL, training, precision=precision)
    return step, step.start(parameters(dtype=np.float32))


@pytest.mark.parametrize("precision", [BF16, FP16], ids=["bf16", "fp16"])
def test_masters_keep_what_copies_cannot_hold(precision: Precision) -> None:
    step, standing = step_of(precision)
    before = standing
    for seed in range(3):
        standing, report = step(standing, *batch(seed=seed))
        assert not report.skipped
    assert {array.dtype for array in standing.state.parameters.values()} == {np.dtype(np.float32)}
    cast = getattr(reference, f"cast_to_{precision.format}")
    for name, copy in standing.copies.items():
        master = standing.state.parameters[name]
        assert copy.dtype.itemsize == 2
        assert (copy == cast(master)).all(), name
        assert (master != copy.astype(np.float32)).any(), name
        assert (master != before.state.parameters[name]).any(), name
    moved = [name for name, copy in standing.copies.items() if (copy != before.copies[name]).any()]
    assert moved
    assert not {name for name in standing.copies if "norm" in name}


@pytest.mark.parametrize("precision", [BF16, FP16], ids=["bf16", "fp16"])
def test_copies_may_be_rounded_at_random(precision: Precision) -> None:
    def copies(seed: int) -> list[Any]:
        step, standing = step_of(replace(precision, stochastic=True, seed=seed))
        found = []
        for number in range(2):
            standing, _ = step(standing, *batch(seed=number))
            found.append((standing.state.parameters["lm_head"], standing.copies["lm_head"]))
        return found

    once, again, otherwise = copies(1), copies(1), copies(2)
    cast = getattr(reference, f"cast_to_{precision.format}")
    ups = []
    for (master, copy), (_, same), (_, other) in zip(once, again, otherwise, strict=True):
        assert (copy == same).all()
        assert (copy != other).any()
        assert (copy != cast(master)).any()
        ups.append(copy.astype(np.float32) > master)
        spacing = np.abs(master) * 2.0 ** (-7 if precision is BF16 else -10)
        assert (np.abs(copy.astype(np.float32) - master) <= np.maximum(spacing, 2.0**-24)).all()
    assert (ups[0] != ups[1]).any()


@pytest.mark.parametrize("precision", [BF16, FP16], ids=["bf16", "fp16"])
def test_it_learns_as_float32_does(precision: Precision) -> None:
    training = TrainingConfig(lr=3e-2, warmup=2, total=60)
    step, standing = step_of(precision, training)
    losses = []
    for _ in range(60):
        standing, report = step(standing, *batch())
        losses.append(float(report.cross_entropy[0]))
    assert losses[-1] < 0.1 < losses[0] / 2


def test_a_skipped_update_leaves_everything_untouched() -> None:
    step, standing = step_of(OVERFLOWING)
    after, report = step(standing, *batch())
    assert report.skipped
    assert not np.isfinite(report.norm).all()
    assert after.scaler.scale == 2.0**23
    assert after.scaler.skipped == 1
    assert after.state.step == 0
    for held, was in zip((*after.state[:3], after.copies), (*standing.state[:3], standing.copies), strict=True):
        assert all((held[name] == was[name]).all() for name in was)
    rates = {report.learning_rate}
    while report.skipped:
        after, report = step(after, *batch())
        rates.add(report.learning_rate)
    assert after.state.step == 1
    assert rates == {TRAINING.lr / TRAINING.warmup}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_every_gradient_is_looked_at(value: float) -> None:
    gradients: dict[str, Any] = parameters(dtype=np.float32)
    assert FP16.finite(reference, gradients)
    for name, gradient in gradients.items():
        for place in (0, gradient.size // 2, gradient.size - 1):
            spoilt = gradient.copy()
            spoilt.reshape(-1)[place] = value
            assert not FP16.finite(reference, gradients | {name: spoilt}), (name, place)


def test_a_precision_is_read_from_words() -> None:
    assert read("float32") == Precision()
    assert (read("bf16"), read("fp16")) == (BF16, FP16)
    assert read("bf16", "dynamic").scaling == DYNAMIC
    assert read("fp16", "none").scaling == NONE
    assert read("fp16", "32768").scaling == fixed(2.0**15)
    for text in ("3", "often", "-2", "nan"):
        expected = f"Precision: loss_scale: expected none, dynamic or a power of two, got {text}"
        with pytest.raises(ValueError, match=f"^{expected}$"):
            read("fp16", text)


def test_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="Precision: format: expected one of float32, bf16, fp16, got fp8"):
        Precision(format="fp8")
