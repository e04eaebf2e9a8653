"""A step on a namespace that offers fused operations is the step by their parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from bindings import Library
from conformance.judging.verdict import judge
from conformance.limits.namespaces import Stored
from conformance.limits.noise import exact
from reference.namespace import Namespace, Wrapped, offers
from reference.ops import sixteen
from reference.readings.step import Misread
from reference.step import TrainingConfig, accumulate
from tests.reference.model_samples import SMALL, batch, parameters
from training.precision import BF16, FLOAT32, FP16, Policy, Precision
from training.precision.autocast import Autocast
from training.step import Step

CROSS_ENTROPY, NORM = "fused_cross_entropy", "multi_sum_squares_nonfinite"
PARTS = {"cross_entropy_forward", "cross_entropy_backward"}, {"multi_sum_squares", "multi_nonfinite"}
PRECISIONS = pytest.mark.parametrize("precision", [FLOAT32, BF16, FP16], ids=lambda precision: precision.format)


class Noted(Wrapped):
    """A namespace that notes its calls, and offers what it is told to."""

    def __init__(self, ops: Any, *offered: str) -> None:
        super().__init__(ops)
        self._offered = offered
        self.names: list[str] = []

    def offers(self, operation: str) -> bool:
        return operation.removesuffix("_bf16").removesuffix("_fp16") in self._offered

    def _call(self, operation: str, /, *args: Any, **named: Any) -> Any:
        self.names.append(operation)
        return super()._call(operation, *args, **named)


def steps(ops: Any, precision: Precision) -> tuple[list[Any], Any]:
    """Two updates' reports, and where they lead."""
    step = Step(ops, SMALL, TrainingConfig(warmup=0, micro_batches=2), precision=precision)
    standing, reports = step.start(parameters(dtype=np.float32)), []
    for seed in range(2):
        standing, report = step(standing, *batch(seed=seed))
        reports.append(report)
    return reports, standing


@PRECISIONS
def test_on_the_reference_both_ways_give_the_same_bits(precision: Precision) -> None:
    fused, parts = Noted(reference, CROSS_ENTROPY, NORM), Noted(reference)
    (reports, standing), (others, other) = steps(fused, precision), steps(parts, precision)
    np.testing.assert_equal(reports, others)
    np.testing.assert_equal(standing, other)
    suffix = f"_{precision.format}" if precision.is_mixed else ""
    assert fused.names.count(CROSS_ENTROPY + suffix) == 4
    assert parts.names.count(f"cross_entropy_backward{suffix}") == 4
    assert not {name + suffix for name in PARTS[0]} & {*fused.names}
    assert fused.names.count(NORM) == parts.names.count("multi_nonfinite") == (2 if precision.looks else 0)
    assert precision.looks != ("multi_sum_squares" in fused.names)


def test_on_a_library_both_ways_are_right_within_the_noise(stub: Library) -> None:
    given = {name: exact(array, worst=False) for name, array in parameters(dtype=np.float32).items()}
    expected = accumulate(Stored(), SMALL, given, *batch())
    for ops in (Noted(stub, CROSS_ENTROPY), Noted(stub)):
        found = accumulate(ops, SMALL, parameters(dtype=np.float32), *batch())
        assert (CROSS_ENTROPY in ops.names) != ("cross_entropy_backward" in ops.names)
        pairs = {**found.loss._asdict(), **found.gradients}, {**expected.loss._asdict(), **expected.gradients}
        for name, due in pairs[1].items():
            assert judge(name, due, pairs[0][name]).passed, name


@pytest.mark.parametrize("precision", [BF16, FP16], ids=["bf16", "fp16"])
def test_a_library_counts_what_is_not_finite_with_the_norm(precision: Precision, stub: Library) -> None:
    for ops in (Noted(stub, NORM), Noted(stub)):
        step = Step(ops, SMALL, TrainingConfig(), precision=precision)
        spoilt = parameters(dtype=np.float32)
        spoilt["final_norm"][0] = np.inf
        _, report = step(step.start(spoilt), *batch())
        assert report.skipped
        assert (NORM in ops.names) != ("multi_nonfinite" in ops.names)


def test_who_offers_what(stub: Library) -> None:
    assert not offers(reference, CROSS_ENTROPY)  # steps are judged by the parts
    assert not Namespace().offers(CROSS_ENTROPY)
    assert offers(stub, CROSS_ENTROPY)
    assert offers(stub, f"{CROSS_ENTROPY}_bf16")
    assert not offers(stub, "no_such_operation")
    assert not Wrapped(stub).offers(NORM)
    assert Wrapped(stub).offered_behind(NORM)
    assert not Misread(stub).offers(CROSS_ENTROPY)
    assert Autocast(stub, Policy(), "bf16").offers(CROSS_ENTROPY)
    assert not Autocast(stub, Policy({}), "bf16").offers(CROSS_ENTROPY)
    assert not Autocast(Noted(stub), Policy(), "bf16").offers(CROSS_ENTROPY)


def test_a_16_bit_operation_that_updates_its_input_is_chosen_by_it() -> None:
    ops = Noted(reference)
    logits, targets = np.ones((2, 3), np.float32), np.array([0, 2], np.int32)
    autocast = Autocast(ops, Policy(), "bf16")
    autocast.fused_cross_entropy(sixteen.OPERATIONS["cast_to_bf16"](logits), targets, scale=1.0)
    autocast.fused_cross_entropy(logits, targets, scale=1.0)
    assert ops.names == [f"{CROSS_ENTROPY}_bf16", CROSS_ENTROPY]
