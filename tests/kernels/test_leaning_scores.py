"""Scores that a matrix unit cuts off: where log-sum-exps lean beyond float32's limits, and which contract allows it.

docs/sixteen_bits.md says of which numbers that is so.  A kernel that adds these to nearest makes the first test fail:
then the page has to say so.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases.data import Draw
from conformance.catalogue.cases.spec import Case, Sizes, Spec
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.limits import HEADER, Contract
from conformance.limits.contract import changed
from reference.arrays import Array

REACH = 6
SIZES = {
    **{"batch": 1, "n_q_heads": 16, "n_kv_heads": 2, "q_len": 50, "kv_len": 50, "kv_capacity": 50},
    **{"head_dim": 16, "scale": 1.0},
}
SM_80 = Contract("sm_80", changes=(changed("attention_forward_*", {"accumulator": "tensor core sm_80"}),))


def of_many_sizes(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Positive numbers of sizes from 2^-6 to 2^6."""
    return np.abs(draw.normal(shape)) * 2.0 ** draw.of("exponent").integers(-REACH, REACH + 1, shape)


def judged(library: Path, suffix: str, arch: str, contract: Contract) -> Result:
    given = dict.fromkeys("QK", of_many_sizes)
    [case] = Spec(f"attention_forward_{suffix}", {"plain": [SIZES]}, given).cases()
    assert isinstance(case, Case)
    with Worker(library, environment={"ASSAYER_EMULATOR_ARCH": arch}) as worker:
        return Bench(worker, declared=contract).case(case)


@pytest.mark.parametrize("suffix", ["bf16", "fp16"])
def test_positive_scores_of_many_sizes_lean_by_the_unit_of_sm_80(suffix: str, emulated_path: Path) -> None:
    result = judged(emulated_path, suffix, "sm_80", HEADER)
    [lse] = [verdict for verdict in result.verdicts if verdict.output == "lse"]
    assert result.status is Status.FAIL
    assert lse.bias < -lse.bias_limit
    assert [verdict.output for verdict in result.verdicts if not verdict.passed] == ["lse"]
    assert lse.wrong == 0  # each by itself is within its limit


@pytest.mark.parametrize("suffix", ["bf16", "fp16"])
def test_they_pass_by_the_contract_of_that_unit(suffix: str, emulated_path: Path) -> None:
    assert judged(emulated_path, suffix, "sm_80", SM_80).status is Status.PASS


@pytest.mark.parametrize(
    ("suffix", "arch"), [("bf16", "sm_90"), ("fp16", "sm_90"), ("bf16", "sm_70"), ("fp16", "sm_70")]
)
def test_other_units_do_not_lean_beyond_the_limit(suffix: str, arch: str, emulated_path: Path) -> None:
    assert judged(emulated_path, suffix, arch, HEADER).status is Status.PASS
