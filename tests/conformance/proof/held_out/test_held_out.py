"""Faults that only held-out cases find: planted, hunted, counted, and kept from run to run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.catalogue.cases import CASES, DESIGNED, case_of
from conformance.catalogue.design.rows import rows_of
from conformance.commands.cli import main
from conformance.judging.bench import Bench
from conformance.proof.held_out import log as logs
from conformance.proof.held_out.log import LogError, trials
from conformance.proof.held_out.plant import PlantedWorker, Plants
from conformance.proof.held_out.score import is_right, share
from conformance.proof.held_out.trial import End, Hunter, Trial
from tests.compiler import compile_library

# Right in every case; of the sizes between two levels the last number is wrong, which nobody has planted.
SCALE = """
#include <stdint.h>
int32_t cuda_scale(const float* input, float scale, float* output, int64_t n, void* stream) {
    (void)stream;
    if (!input || !output || n < 1 || n > INT64_MAX / 4) return -2;
    for (int64_t i = 0; i < n; i++) output[i] = input[i] * scale;
    if (n >= 70 && n <= 126) output[n - 1] = 7;
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["scale", "argmax", "softmax_topk"])
def test_a_held_out_case_finds_the_fault_and_no_case_that_remains(operation: str, stub_path: Path) -> None:
    fault = Plants(stub_path, 3).plant(operation)
    assert fault
    assert fault == Plants(stub_path, 3).plant(operation)
    with PlantedWorker(stub_path, fault) as worker:
        bench = Bench(worker, explains=False)
        failing = {case.id for case in DESIGNED.of(operation).values() if not bench.case(case).is_fine}
        assert fault.found_by in failing
        assert len(failing) <= round(0.1 * len(rows_of(operation)))
        assert all(bench.case(case).is_fine for case in CASES.of(operation).values())
    with PlantedWorker(stub_path) as worker:
        assert Bench(worker, explains=False).case(case_of(fault.found_by)).is_fine


def test_the_hunt_finds_what_was_planted_and_a_hunt_of_no_calls_does_not(stub_path: Path) -> None:
    found = Hunter(stub_path, 3, 3600.0, 1000).trial("cast_to_fp16")
    assert (found.end, found.operation) == (End.FOUND, "cast_to_fp16")
    assert found.smallest_call
    missed = Hunter(stub_path, 3, 0.0).trial("cast_to_fp16")
    assert (missed.end, missed.calls, missed.fault) == (End.MISSED, 0, found.fault)


@pytest.mark.slow
def test_what_was_not_planted_is_told_apart(tmp_path: Path) -> None:
    found = Hunter(compile_library(SCALE, tmp_path), 3, 3600.0, 1000).trial("scale")
    assert found.end is End.OTHER
    assert not is_right([found])
    assert "n=70" in found.other
    assert "n == 1025" in found.fault


def test_what_could_not_be_planted_does_not_count() -> None:
    found, missed, none = (Trial("silu", end) for end in (End.FOUND, End.MISSED, End.NONE))
    assert share([found, none]) == 1
    assert share([found, missed, none]) == 0.5
    assert share([none]) == 0
    assert is_right([found] * 19 + [missed])
    assert not is_right([found] * 18 + [missed])


def test_a_second_run_hunts_what_is_left_alone(
    stub_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hunted: list[str] = []

    def trial(hunter: Hunter, operation: str) -> Trial:
        hunted.append(operation)
        return Trial(operation, End.FOUND, "fault", seconds=1.5)

    monkeypatch.setattr(logs, "_trial", trial)

    def run(operations: Sequence[str], seed: int = 0) -> list[Trial]:
        return [*trials(Hunter(stub_path, seed, 1.0), operations, log, 1)]

    log = tmp_path / "log" / "held_out.jsonl"
    first = run(["silu", "add"])
    log.write_bytes(log.read_bytes() + b'{"made_by": "cut off')
    assert run(["silu", "mul", "add"])[:2] == first
    assert hunted == ["silu", "add", "mul"]
    run(["silu"], seed=1)
    assert hunted[3:] == ["silu"]
    log.write_text('{"made_by": 1}\n')
    with pytest.raises(LogError, match="1: expected a hunt for a planted fault"):
        run(["silu"])


def test_the_command_counts_what_is_found(stub_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["held-out", "--library", str(stub_path), "--log", str(tmp_path / "log"), "--seed", "3"]
    assert main([*words, "-k", "cast_to_fp16 or argmax", "--count", "2", "--calls", "3000"]) == 0
    assert "2 of 2 planted faults found (100.0%)" in capsys.readouterr().out
    assert main([*words, "-k", "silu", "--count", "1", "--minutes", "0"]) == 1
    said = capsys.readouterr().out
    assert "MISSED silu" in said
    assert "0 of 1 planted faults found" in said
    assert main([*words, "-k", "no_such"]) == 2
    assert "expected an operation that 'no_such' matches" in capsys.readouterr().out
    assert main([*words[:1], "--library", str(tmp_path / "none.so")]) == 2
