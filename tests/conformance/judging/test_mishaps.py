"""A worker that runs short of something itself says nothing of its library: there is no verdict."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.candidates.worker import mishap as here
from conformance.candidates.worker.worker import Worker
from conformance.catalogue.cases import CASES, REFUSALS, SEQUENCES
from conformance.exit_codes import HARNESS
from conformance.judging.bench import Bench
from conformance.judging.causes import causes
from conformance.judging.results import Result, Status, exit_code
from conformance.judging.sequences import judge_sequence
from conformance.report.record import Run, verdict
from conformance.steps.whole import ended
from tests.compiler import compile_library
from tests.conformance import for_workers

SOURCE = Path(__file__).parents[1].joinpath("stateful.c").read_text(encoding="utf-8")
CASE, REFUSAL = CASES["silu/plain/255"], next(one for one in REFUSALS.values() if one.operation == "silu")


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    library = compile_library(SOURCE, tmp_path_factory.mktemp("stateful"), "stateful", "-D_GNU_SOURCE", "-lm")
    with Worker(library, environment={"FAULT": "0"}) as worker:
        yield worker


def hindered(worker: Worker, by: object) -> Bench:
    worker.stop()
    assert worker.call(by, limit_s=20.0).status == "done"  # type: ignore[arg-type]
    return Bench(worker)


def is_not_judged(result: Result, reason: str) -> bool:
    return result.status is Status.NOT_JUDGED and result.reason.startswith(f"the worker itself: {reason}")


@pytest.mark.parametrize("case", [CASE, REFUSAL], ids=["numbers", "refusal"])
def test_a_call_for_which_memory_is_short_is_not_judged(case: object, worker: Worker) -> None:
    result = hindered(worker, for_workers.lack_memory).case(case)  # type: ignore[arg-type]
    assert is_not_judged(result, "out of memory; its process has "), result
    assert "MemoryError" in result.detail
    assert not causes([result])
    assert Bench(worker).case(case).status is Status.PASS, "in a process that lacks nothing"  # type: ignore[arg-type]


def test_arrays_for_which_memory_is_short_are_not_judged(worker: Worker) -> None:
    result = hindered(worker, for_workers.lack_pages).case(CASE)
    assert is_not_judged(result, "[Errno 12] Cannot allocate memory"), result


@pytest.mark.parametrize("name", ["threads", "thousand", "alternating", "after_refused"])
def test_calls_in_a_row_for_which_something_is_short_are_not_judged(name: str, worker: Worker) -> None:
    bench = hindered(worker, for_workers.lack_threads if name == "threads" else for_workers.lack_memory)
    result = judge_sequence(SEQUENCES[f"silu/sequence/{name}"], bench)
    assert is_not_judged(result, "can't start new thread" if name == "threads" else "out of memory"), result


def test_a_step_for_which_something_is_short_is_not_judged(worker: Worker) -> None:
    outcome = worker.call(for_workers.lacks, limit_s=20.0)
    result = ended("training_step/tiny/2x36", outcome)
    assert result
    assert is_not_judged(result, "out of memory"), result


def test_there_is_no_verdict() -> None:
    results = [Result("silu/plain/255", "silu", Status.NOT_JUDGED, "the worker itself"), _failed()]
    run = Run("mine", results)
    assert (exit_code(results), run.code) == (HARNESS, HARNESS)
    assert verdict(run) == "No verdict on mine: 1 case not judged, as the worker itself ran short."


def _failed() -> Result:
    return Result("silu/plain/33", "silu", Status.FAIL, "1 of 33 elements beyond their limit")


@pytest.mark.parametrize(
    ("held", "is_own"),
    [
        ("Threads:\t3\nRssAnon:\t  2048 kB\nVmSize:\t 9000 kB\n", True),
        ("", True),
        ("Threads:\t3000\nRssAnon:\t  2048 kB\nVmSize:\t 9000 kB\n", False),
        ("Threads:\t3\nRssAnon:\t  9999999999 kB\nVmSize:\t 9000 kB\n", False),
        ("Threads:\t3\nRssAnon:\t  2048 kB\nVmSize:\t 9999999999 kB\n", False),
    ],
)
def test_what_the_candidate_has_taken_is_its_own_doing(
    held: str, is_own: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "status").write_text(held)
    monkeypatch.setattr(here, "_STATUS", tmp_path / "status")
    for error in (MemoryError(), RuntimeError("can't start new thread"), OSError(errno.EMFILE, "Too many open files")):
        assert bool(here.mishap(error, 4096)) is is_own


@pytest.mark.parametrize("error", [RuntimeError("of another kind"), FileNotFoundError(2, "not there"), ValueError()])
def test_other_errors_are_none(error: Exception) -> None:
    assert not here.mishap(error, 0)


def test_addresses_shared_with_the_judge_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "status").write_text("VmSize:\t 9999999999 kB\n")
    monkeypatch.setattr(here, "_STATUS", tmp_path / "status")
    assert here.mishap(MemoryError(), 9999999999 * 1024)
