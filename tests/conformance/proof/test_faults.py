"""Faults are planted where they say, and built; one that cannot be is an error."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bindings import Library
from conformance import operations
from conformance.judging.diagnoses import Diagnosis
from conformance.judging.results import Result, Status
from conformance.proof.faults import FAULTS, TF32_INPUTS, Fault, FaultError, FaultResult, build, judge
from conformance.proof.faults.recipes import CLibrary
from conformance.proof.faults.trial import judge_fault, scored
from tests.conformance.proof.empty import empty_lines

ADDS = Fault(
    "one added", ("add",), "vector/elementwise.c", "y[i] = a[i] + b[i];", "y[i] = a[i] + b[i] + 1;", "offset by 1"
)
X = np.arange(5, dtype=np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults")


@pytest.mark.slow
def test_a_build_holds_its_faults_and_no_other(folder: Path) -> None:
    honest, faulty = Library(build(folder=folder)), Library(build(ADDS, folder=folder))
    np.testing.assert_array_equal(honest.add(X, X), 2 * X)
    np.testing.assert_array_equal(faulty.add(X, X), 2 * X + 1)
    np.testing.assert_array_equal(faulty.mul(X, X), X * X)


def test_faults_go_together(folder: Path) -> None:
    library = Library(build(ADDS, TF32_INPUTS, folder=folder))
    np.testing.assert_array_equal(library.add(X, X), 2 * X + 1)
    fine = np.array([[1 + 2.0**-12]], np.float32)
    np.testing.assert_array_equal(library.gemm(fine, np.ones((17, 1), np.float32)), np.ones((1, 17)))


def test_what_is_there_is_not_compiled_again(folder: Path) -> None:
    build(folder=folder)
    before = {path: path.stat().st_mtime_ns for path in (folder / "objects").iterdir()}
    build(ADDS, folder=folder)
    after = {path: path.stat().st_mtime_ns for path in (folder / "objects").iterdir()}
    assert {path: after[path] for path in before} == before


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("vector/lost.c", "a", "b", "expected one of .*, got 'vector/lost.c'"),
        ("clip.c", "no such text", "", "expected its old text once in clip.c, found it 0 times"),
        ("clip.c", "CHECK(clip_norm > 0);", "", "found it 2 times"),
        ("clip.c", "sqrt(total)", "sqrt(total)", "old and new text are the same"),
        ("clip.c", "sqrt(total)", "sqrt(", "clip.c"),
    ],
)
def test_a_fault_that_cannot_be_planted_is_an_error(folder: Path, file: str, old: str, new: str, message: str) -> None:
    with pytest.raises(FaultError, match=message):
        build(Fault("broken", ("clip_scale",), file, old, new, ""), folder=folder)


@pytest.mark.parametrize(
    "source",
    [
        "y[i] = a[i] + b[i];",
        "y[i]=a[i]+b[i];",
        "    y[i] =\n        a[i] + b[i];",
        "y [ i ] = a\t[i] + b[i] ;",
    ],
)
def test_a_fault_is_planted_however_its_text_is_laid_out(source: str) -> None:
    planted = replace(ADDS, file="one.c").planted({"one.c": f"for (;;) {source} // next"})
    assert planted["one.c"].split() == ["for", "(;;)", "y[i]", "=", "a[i]", "+", "b[i]", "+", "1;", "//", "next"]


def test_words_that_a_formatter_would_not_join_are_kept_apart() -> None:
    fault = Fault("no sign", (), "one.c", "unsigned int x", "int x", "")
    assert fault.planted({"one.c": "unsigned\nint x;"})["one.c"] == "int x;"
    with pytest.raises(FaultError, match="found it 0 times"):
        fault.planted({"one.c": "unsignedint x;"})
    with pytest.raises(FaultError, match="old and new text are the same"):
        replace(fault, new="unsigned  int x").planted({"one.c": "unsigned int x;"})


def test_a_missing_compiler_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(FaultError, match="expected a compiler"):
        build(folder=tmp_path)


def test_sources_are_named_by_their_place_below_the_c_library() -> None:
    assert {"clip.c", "check.h", "vector/tile.c"} <= CLibrary().read().keys()


def test_every_operation_has_a_fault_whose_texts_stand_where_it_says() -> None:
    sources = CLibrary().read()
    assert len(FAULTS) >= 40
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    for fault in FAULTS:
        assert fault.planted(sources)[fault.file] != sources[fault.file]
    assert {name for fault in FAULTS for name in fault.operations} == operations.OPERATIONS.keys()


def test_no_fault_is_said_by_a_line_that_says_nothing() -> None:
    lines = ("all cases passed", "output: NaN")
    assert [(fault.name, line) for fault in FAULTS for line in lines if fault.is_said_by(line)] == []
    assert [(fault.name, line) for fault in FAULTS for line in empty_lines(fault) if fault.is_said_by(line)] == []


def test_few_faults_are_known_to_be_said_otherwise() -> None:
    unnamed = [fault for fault in FAULTS if fault.unnamed]
    assert len(unnamed) <= 0.01 * len(FAULTS)  # so that of all faults hardly fewer have to be described
    assert all(len(fault.unnamed.split()) > 4 for fault in unnamed)


def test_what_is_known_of_a_fault_is_told_of_one_that_is_found_and_said_otherwise() -> None:
    known = replace(ADDS, unnamed="its border alone is said")
    wrong = Result("add/plain/1", "add", Status.FAIL, "a reason", diagnosis=Diagnosis("output: offset by 2"))
    assert scored(known, [wrong]).unnamed == "its border alone is said"
    assert scored(known, [replace(wrong, diagnosis=Diagnosis("output: offset by 1"))]).unnamed == ""
    assert scored(known, []).unnamed == ""


@pytest.mark.slow
def test_a_fault_is_judged_by_its_own_operations() -> None:
    by_name = {fault.name: fault for fault in FAULTS}
    names = ("clip_scale: NaN let through", "zero_grad: waits for a second block", "aux_loss_backward: scale ignored")
    for result in judge(1, [by_name[name] for name in names]):
        assert (result.found, result.right) == (True, True), result


@pytest.mark.slow
def test_a_fault_that_nothing_finds_is_not_found() -> None:
    harmless = replace(ADDS, new="y[i] = b[i] + a[i];")
    assert judge_fault(harmless) == FaultResult("one added", False, False, "all cases passed")


def test_a_fault_must_be_found_and_said_in_every_operation() -> None:
    fault = replace(ADDS, operations=("add", "mul"))
    wrong = Result("add/plain/1", "add", Status.FAIL, "a reason", diagnosis=Diagnosis("output: offset by 1"))
    assert scored(fault, [wrong]) == FaultResult("one added", False, False, "output: offset by 1")
    silent = Result("mul/plain/1", "mul", Status.FAIL, "wrong numbers")
    assert scored(fault, [wrong, silent]) == FaultResult("one added", True, False, "wrong numbers")
    assert scored(ADDS, [wrong]).right
