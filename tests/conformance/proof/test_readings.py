"""The judge's proof of itself: what is planted is found and named, and what is not is counted against it."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

import reference
from conformance import operations
from conformance.catalogue.cases import CASES
from conformance.commands import readings
from conformance.commands.cli import main
from conformance.exit_codes import HARNESS
from conformance.judging.diagnoses import Diagnosis, Kind, Symptom, of_readings, of_symptoms
from conformance.proof.faults import FaultResult
from conformance.proof.readings import score
from conformance.proof.readings.steps import try_step
from conformance.proof.readings.trial import Attempt, ReadingResult, gather, outputs, says, try_case
from conformance.report.score import read_score
from conformance.variants.wrong.planted import by_id, planted
from reference.readings import READINGS, Reading
from reference.readings.step import READINGS as STEP_READINGS
from reference.step import training_step


def told_apart(operation: str) -> set[str]:
    """The readings of an operation that some case refuses."""
    left = list(planted(operation))
    for case in (c for c in CASES.values() if c.operation == operation):
        refused = {told.reading for told in try_case(case.id, left) if not told.passed}
        left = [reading for reading in left if reading.id not in refused]
        if all(reading.equal for reading in left):
            break
    return {reading.id for reading in planted(operation)} - {reading.id for reading in left}


# Of the 16-bit operations, whose readings are the float32 operations' but for few, one of each kind: `nox -s readings`
# tries them all.
SIXTEEN_BIT = ("cast_to_bf16", "cast_from_fp16", "add_fp16", "gemm_beta_bf16", "embedding_bf16")
TRIED = [name for name in reference.OPERATIONS if not operations.is_sixteen_bit(name) or name in SIXTEEN_BIT]


@pytest.mark.slow
@pytest.mark.parametrize("operation", TRIED)
def test_every_reading_fails_a_case_or_carries_a_proof(operation: str) -> None:
    assert planted(operation)
    assert told_apart(operation) == {reading.id for reading in planted(operation) if not reading.equal}


def test_every_reading_has_its_operations_arguments() -> None:
    for reading in READINGS:
        own, canonical = (inspect.signature(f) for f in (reading.function, getattr(reference, reading.operation)))
        assert list(own.parameters) == list(canonical.parameters), reading.id


def test_names_are_unique_and_reasons_are_sentences() -> None:
    everything = [reading for operation in reference.OPERATIONS for reading in planted(operation)]
    ids = [reading.id for reading in everything]
    assert sorted(set(ids)) == sorted(ids)
    assert [reading.id for reading in everything if not reading.why.endswith(".") or len(reading.why) > 100] == []
    assert {reading.id for reading in READINGS} <= set(ids)


@pytest.mark.parametrize("name", ["mask from the start", "no causal mask", "own key masked"])
def test_a_reading_looks_at_no_part_of_a_cache_that_is_not_filled(name: str) -> None:
    """Behind 33 entries of 40 a cache holds NaN, which no weight of 0 makes a number."""
    arguments = CASES["attention_forward/plain/2x4x2x1x33x40x16x0.25"].arguments()
    assert np.isnan(arguments["V"][:, 33:]).all()
    got = outputs(by_id("attention_forward", f"attention_forward: {name}"), arguments)
    assert got is not None
    assert all(np.isfinite(array).all() for array in got.values())


SILU = Reading("silu", "itself", "Nothing is wrong.", reference.silu)
TWICE = Reading("silu", "twice", "A factor too many.", lambda input: 2 * reference.silu(input), says="times 2")


def test_the_operation_itself_is_told_apart_by_no_case() -> None:
    assert [told.passed for told in try_case("silu/plain/33", [SILU, TWICE])] == [True, False]


def test_a_reading_that_no_case_refuses_survives_unless_a_proof_says_that_none_can() -> None:
    told = try_case("silu/plain/33", [SILU, TWICE])
    proved = Reading("silu", "itself", "Nothing is wrong.", reference.silu, equal="It is the operation.")
    wrongly_proved = Reading("silu", "twice", "A factor too many.", TWICE.function, equal="It is not.")
    assert [one.survives for one in gather([SILU, TWICE], told)] == [True, False]
    assert [one.survives for one in gather([proved, TWICE], told)] == [False, False]
    assert [one.is_disproved for one in gather([proved, wrongly_proved], told)] == [False, True]


def test_a_call_that_the_reading_refuses_says_nothing() -> None:
    def refusing(input: np.ndarray) -> np.ndarray:
        raise ValueError("no meaning here")

    reading = Reading("silu", "refusing", "It does not work.", refusing)
    assert outputs(reading, CASES["silu/plain/33"].arguments()) is None
    assert try_case("silu/plain/33", [reading]) == []
    assert gather([reading], [])[0].survives


def test_a_line_says_what_a_reading_is_by_its_name_or_by_its_words() -> None:
    def output(words: str) -> Diagnosis:
        return of_symptoms([Symptom(Kind.NO_PATTERN, words, outputs=("output",))])

    assert says(of_readings(["once", "twice"]), TWICE)
    assert says(output("the right values times 2"), TWICE)
    assert not says(of_readings(["twice as much"]), TWICE)
    assert not says(output("wrong numbers of no simple pattern"), TWICE)


def test_the_score_counts_what_was_found_and_named() -> None:
    def one(reading: Reading, margin: float, right: bool = True) -> ReadingResult:
        return ReadingResult(reading, [Attempt(reading.id, "case", margin <= 1, margin)], "", right)

    total = score.scored([one(SILU, 0.5), one(TWICE, 30.0), one(READINGS[0], 3.0, right=False)])
    assert (total.found, total.total, total.weakest, total.margin) == (2, 3, READINGS[0].id, 3.0)
    assert total.survivors == {"silu: itself": ""}
    assert (total.diagnosis.right, total.diagnosis.total, total.diagnosis.missed) == (1, 2, (READINGS[0].id,))


def test_the_step_itself_is_told_apart_in_no_situation_and_a_reading_of_it_is() -> None:
    itself = Reading("training_step", "itself", "Nothing is wrong.", training_step)
    residual = next(reading for reading in STEP_READINGS if reading.name == "residual dropped")
    assert [told.passed for told in try_step("as judged", [itself, residual])] == [True, False]


@pytest.mark.slow
def test_the_command_writes_the_score_that_reports_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "score.json"
    assert main(["readings", "-k", "clip_scale", "-n", "1", "--json", str(file)]) == 0
    score, said = read_score(file), capsys.readouterr().out
    assert score.found == score.total == len(planted("clip_scale"))
    assert f"{score.total} of {score.total} wrong readings found" in said
    assert score.weakest in said
    assert score.faults is not None
    assert score.faults.found == score.faults.total == score.faults.right > 1
    assert f"{score.faults.total} of {score.faults.total} faults found" in said


def test_faults_are_left_out_or_ask_for_a_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    assert main(["readings", "-k", "clip_scale", "-n", "1"]) == HARNESS
    assert "--no-faults leaves out" in capsys.readouterr().out
    file = tmp_path / "score.json"
    assert main(["readings", "-k", "clip_scale", "-n", "1", "--no-faults", "--json", str(file)]) == 0
    assert read_score(file).faults is None


def test_a_fault_that_is_not_found_fails_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "judge_faults", lambda *_: [FaultResult("some fault", False, False, "all passed")])
    assert main(["readings", "-k", "clip_scale", "-n", "1"]) == 1


def test_the_command_fails_where_a_reading_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "judge", lambda *_: gather([SILU], []))
    assert main(["readings", "-k", "silu", "--no-faults"]) == 1


def test_shards_share_the_operations_out(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[list[str]] = []

    def judge(_: object, operations: list[str], __: int) -> list[ReadingResult]:
        judged.append(operations)
        return []

    monkeypatch.setattr(readings, "judge", judge)
    monkeypatch.setattr(readings, "stepped", lambda *_: [])
    for words in (["--shard", "1/3"], ["--shard", "2/3"], ["--shard", "3/3"], []):
        assert main(["readings", "--no-faults", *words]) == 0
    *shards, whole = judged
    assert sorted(name for shard in shards for name in shard) == sorted(whole)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "2", "two/3", "-1/3"])
def test_a_shard_that_is_none_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["readings", f"--shard={text}"])
    assert f"expected one of several parts, as 2/3, got '{text}'" in capsys.readouterr().err


def test_more_shards_than_operations_are_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["readings", "-k", "clip_scale", "--shard", "1/40"]) == HARNESS
    assert "--shard 1/40" in capsys.readouterr().out


def test_choosing_no_operation_is_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["readings", "-k", "no_such_operation"]) == HARNESS
    assert "no operation matches" in capsys.readouterr().out
