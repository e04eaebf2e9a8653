"""The worker: every fault of a library is told, and none ends the judge."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import LibraryError
from conformance.candidates.poison import poison
from conformance.candidates.worker.outcome import Outcome
from conformance.candidates.worker.worker import Worker
from tests.compiler import compile_library
from tests.conformance import for_workers

N = 37
SOURCE = Path(__file__).parents[1].joinpath("faulty.c").read_text(encoding="utf-8")
FAULTS = SOURCE[SOURCE.index("{") + 1 : SOURCE.index("}")].replace("\n", " ").split(",")
FAULT = {name.strip().lower(): float(value) for value, name in enumerate(FAULTS)}
X = np.arange(N, dtype=np.float32)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(SOURCE, tmp_path_factory.mktemp("faulty"))


@pytest.fixture(scope="module")
def worker(path: Path) -> Iterator[Worker]:
    with Worker(path, limit_s=0.5) as worker:
        yield worker


def scale(worker: Worker, fault: str, override: dict[str, Any] | None = None) -> Outcome:
    return worker.run("scale", {"input": X, "scale": FAULT[fault]}, override)


def said(outcome: Outcome) -> list[str]:
    return [finding.text for finding in outcome.findings]


def test_a_right_call(worker: Worker) -> None:
    outcome = scale(worker, "right")
    assert (outcome.status, outcome.code, said(outcome), outcome.detail) == ("done", 0, [], "")
    np.testing.assert_array_equal(outcome.outputs["output"], 2 * X)


@pytest.mark.parametrize(
    ("fault", "reason", "finding"),
    [
        ("writes_past", "SIGSEGV in run 1, buffers ending at guard zones", "wrote past the end of output (12 bytes)"),
        ("reads_past", "SIGSEGV in run 1, buffers ending at guard zones", "read past the end of input"),
        ("reads_far_before", "SIGSEGV in run 2, buffers beginning behind guard", "read before the beginning of input"),
        ("wild", "SIGSEGV in run 1", "crashed at an address that is not next to an argument"),
        ("aborts", "SIGABRT in run 1", None),
        ("leaves", "exit status 3 in run 1", None),
    ],
)
def test_a_crash(fault: str, reason: str, finding: str | None, path: Path) -> None:
    with Worker(path, limit_s=5) as worker:
        outcome = scale(worker, fault)
        assert (outcome.status, outcome.code) == ("crashed", None)
        assert said(outcome) == ([finding] if finding else [])
        assert outcome.detail.startswith(reason)
        assert ("output" in outcome.outputs) == ("run 2" in reason)
        assert scale(worker, "right").status == "done"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another malloc cannot be told to fill what it gives")
def test_what_malloc_gives_holds_no_zeros(worker: Worker) -> None:
    outcome = scale(worker, "trusts_malloc")
    assert outcome.outputs["output"][5] > 1e38
    assert said(outcome) == ["the second run differs from the first in output at [5]"]
    assert said(scale(worker, "right")) == []


def test_what_a_crashed_library_printed_is_told(worker: Worker) -> None:
    assert scale(worker, "aborts").detail.endswith("\nassertion failed: n < 0")


def test_only_the_first_crashes_of_an_operation_are_looked_into(path: Path) -> None:
    with Worker(path) as worker:
        found = [bool(scale(worker, "reads_past").findings) for _ in range(4)]
    assert found == [True, True, True, False]


def test_a_hang(worker: Worker) -> None:
    outcome = scale(worker, "hangs")
    assert (outcome.status, outcome.outputs) == ("timed out", {})
    assert outcome.detail.startswith("no answer in 0.5 s in run 1")
    assert scale(worker, "right").status == "done"


@pytest.mark.parametrize(
    ("fault", "findings"),
    [
        ("writes_before", ["wrote before the beginning of output (4 bytes)"]),
        ("reads_before", ["the second run differs from the first in output at [0]"]),
        ("writes_far", ["wrote before the beginning of output (3600 bytes)"]),
        ("changes_input", ["input input was changed at [3]"]),
        ("counts", ["the second run differs from the first in output at [2]"]),
        ("refuses_late", [f"returned -2 and wrote output at [0] and {N - 1} more"]),
    ],
)
def test_a_fault_that_does_not_crash(fault: str, findings: list[str], path: Path) -> None:
    with Worker(path) as worker:
        outcome = scale(worker, fault)
    if fault == "writes_far":  # run 2 has a guard zone there
        assert (outcome.status, said(outcome)) == ("crashed", ["wrote before the beginning of output (3600 bytes)"])
    else:
        assert (outcome.status, said(outcome)) == ("done", findings)


def test_a_path_that_only_aligned_arrays_take(worker: Worker) -> None:
    outcome = scale(worker, "leaves_tail")
    assert (outcome.status, outcome.code, said(outcome)) == ("done", 0, [])
    np.testing.assert_array_equal(outcome.outputs["output"], 2 * X)
    np.testing.assert_array_equal(outcome.elsewhere["output"], np.where(np.arange(N) < N // 4 * 4, 2 * X, 0))


def test_a_large_call_is_made_twice(worker: Worker) -> None:
    outcome = worker.run("scale", {"input": np.zeros(1 << 16, np.float32), "scale": FAULT["right"]})
    assert (outcome.status, outcome.elsewhere) == ("done", {})


def test_a_refusal_leaves_the_poison(worker: Worker) -> None:
    outcome = scale(worker, "refuses")
    assert (outcome.status, outcome.code, said(outcome)) == ("done", -2, [])
    assert outcome.outputs["output"].tobytes() == b"\xff" * 4 * N


def test_codes_that_differ(worker: Worker) -> None:
    assert any("returned" in finding for finding in said(scale(worker, "refuses_once")))


@pytest.mark.parametrize("override", [{"input": None}, {"output": None}, {"n": -1}, {"n": 0}, {"n": -(2**63)}])
def test_raw_arguments_go_straight_to_the_library(override: dict[str, Any], worker: Worker) -> None:
    outcome = scale(worker, "right", override)
    assert (outcome.status, outcome.code, said(outcome)) == ("done", -2, [])


def test_a_raw_number_that_its_type_cannot_hold(worker: Worker) -> None:
    outcome = scale(worker, "right", {"n": 2**70})
    assert outcome.status == "raised"
    assert "OverflowError" in outcome.detail


def test_what_a_library_prints_does_not_disturb(worker: Worker) -> None:
    outcome = scale(worker, "prints")
    assert (outcome.status, said(outcome)) == ("done", [])
    assert outcome.detail.split() == ["hello", "there"] * 3
    assert scale(worker, "right").detail == ""


@pytest.mark.slow
def test_a_flood_of_output_is_stopped(path: Path) -> None:
    with Worker(path, limit_s=60) as worker:
        outcome = scale(worker, "floods")
    assert outcome.status == "crashed"
    assert outcome.detail.startswith("SIGXFSZ")


def test_an_unwritten_element(worker: Worker) -> None:
    outcome = worker.run("add", {"a": X, "b": X})
    assert said(outcome) == ["left output unwritten at [1]"]
    assert np.isnan(outcome.outputs["output"][1])


def test_a_missing_operation(worker: Worker) -> None:
    outcome = worker.run("mul", {"a": X, "b": X})
    assert (outcome.status, outcome.detail) == ("missing", "the library does not export cuda_mul")


def test_a_call_after_a_missing_operation_has_its_memory(path: Path) -> None:
    with Worker(path) as worker:
        assert worker.run("silu", {"input": X}).status == "missing"
        assert scale(worker, "right").status == "done"


def test_an_array_that_is_not_read_is_poison(worker: Worker) -> None:
    a = np.ones((2, 3), np.float32)
    arguments = {"A": a, "B": a, "alpha": 1.0, "beta": 0.0}
    given = {"C": np.full((2, 2), np.nan, np.float32)}
    for outcome in (worker.run("gemm_beta", arguments), worker.run("gemm_beta", arguments | given)):
        assert np.isnan(outcome.outputs["C"]).all()
        assert outcome.again is not None
        assert (outcome.again["C"] == poison(np.dtype(np.float32), 2) + 1).all()
    outcome = worker.run("gemm_beta", arguments | {"C": np.ones((2, 2), np.float32), "beta": 1.0})
    assert outcome.outputs["C"].tolist() == [[2, 2], [2, 2]]
    assert said(outcome) == []


def test_a_workspace_has_guards_too(worker: Worker) -> None:
    outcome = worker.run("grad_clip", {"grad": X, "clip_norm": 1.0})
    assert (outcome.status, said(outcome)) == ("crashed", ["wrote past the end of partial_norms (4 bytes)"])


def test_lists_of_arrays(worker: Worker) -> None:
    arrays = [np.ones((2, 3), np.float32), np.ones(5, np.float32)]
    arguments = {"arrays": arrays, "scale": np.full(1, 3, np.float32)}
    outcome = worker.run("multi_scale", arguments)
    assert (outcome.status, said(outcome)) == ("done", [])
    first, second = outcome.outputs["arrays"]
    assert first.tolist() == [[3, 3, 3], [3, 3, 3]]
    assert second.tolist() == [9, 3, 3, 3, 3]
    assert arrays[0].tolist() == [[1, 1, 1], [1, 1, 1]]
    assert worker.run("multi_scale", arguments, {"arrays[1]": None}).code == -2


def test_arrays_of_another_type_never_reach_the_library(worker: Worker) -> None:
    with pytest.raises(ValueError, match="input: expected a dense float32 array, got float64"):
        worker.run("scale", {"input": X.astype(np.float64), "scale": 0.0})


def test_arguments_of_other_names_are_refused(worker: Worker) -> None:
    with pytest.raises(ValueError, match=r"scale\(input, scale, \*, output=None\): argument factor is missing or not"):
        worker.run("scale", {"input": X, "scale": 0.0, "factor": 1.0})
    with pytest.raises(ValueError, match="argument input is missing"):
        worker.run("scale", {"scale": 0.0})


def test_large_arrays_and_small_ones_in_turn(worker: Worker) -> None:
    for size in (1, 1 << 20, 3, 4096 // 4, 4096 // 4 + 1):
        values = np.full(size, 3, np.float32)
        outcome = worker.run("scale", {"input": values, "scale": 0.0})
        assert said(outcome) == []
        assert (outcome.outputs["output"] == 6).all()


def test_a_python_function_runs_beside_the_library(worker: Worker) -> None:
    outcome = worker.call(for_workers.doubled, X, limit_s=20.0)  # what it imports and returns by takes a while
    result, process = outcome.value
    assert (outcome.status, outcome.detail) == ("done", "in the worker")
    np.testing.assert_array_equal(result, 2 * X)
    assert process != os.getpid()
    assert worker.call(for_workers.threads, limit_s=20.0).value == "1"


def test_a_python_function_that_fails(worker: Worker) -> None:
    raised = worker.call(for_workers.raises, "seven", limit_s=20.0)
    assert raised.status == "raised"
    assert raised.detail.endswith("ValueError: seven\n")
    assert worker.call(for_workers.sleeps, 60, limit_s=0.2).status == "timed out"
    crashed = worker.call(for_workers.crashes, limit_s=20.0)
    assert (crashed.status, crashed.detail) == ("crashed", "SIGSEGV")
    assert worker.call(for_workers.sleeps, 0, limit_s=20.0).status == "done"


def test_a_function_that_another_process_cannot_import(worker: Worker) -> None:
    with pytest.raises(ValueError, match=r"expected a function of a module, got .*test_worker.*<lambda>"):
        worker.call(lambda library: library.path)
    with pytest.raises(ValueError, match=r"expected a function of a module, got .*Worker\.facts"):
        worker.call(Worker.facts)


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library")
    with pytest.raises(LibraryError, match="is text, not a shared library"), Worker(text):
        pass
    constructor = "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }"
    library = compile_library(constructor, tmp_path, "aborts")
    with pytest.raises(LibraryError, match="crashed while it was opened: SIGABRT"), Worker(library):
        pass


def test_a_library_of_another_version(tmp_path: Path) -> None:
    version = "#include <stdint.h>\nint32_t assayer_version(int32_t* version) { *version = 99; return 0; }"
    with pytest.raises(LibraryError, match="version 99"), Worker(compile_library(version, tmp_path)):
        pass


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_nothing_is_left_behind(path: Path) -> None:
    before = open_files()
    for fault in ("right", "aborts", "right"):
        with Worker(path) as worker:
            scale(worker, fault)
    assert open_files() == before
