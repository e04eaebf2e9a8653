"""What only a unit for bfloat16 runs is judged by that unit; where there is none, nothing is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from conformance.catalogue.cases import CASES
from conformance.catalogue.prepared import MemoryStore
from conformance.proof.faults import FaultError
from conformance.proof.faults.recipes import CLibrary, Kernels
from conformance.proof.mutants import Mutant, failures, units
from conformance.proof.mutants.build import Build
from conformance.proof.mutants.equivalents import Equivalents
from conformance.proof.mutants.failures import Failures
from conformance.proof.mutants.library import Library
from conformance.proof.mutants.record import Trial, Verdict
from conformance.proof.mutants.score import Score
from conformance.proof.mutants.trial import History, Judge
from conformance.proof.mutants.units import AS_IT_IS, SOURCES, Units, owner

TILES = {"ASSAYER_BF16": "amx_emulated", "ASSAYER_FP16": "amx_emulated"}
Made = Callable[[str, str, str], Mutant]
Noted = TypeVar("Noted")


@pytest.fixture
def build(library: Library, mutant: Made, tmp_path: Path) -> Iterator[Build]:
    """A mutant of AMX's tiles in C."""
    one = mutant(
        "halves/amx_emulated.c",
        "for (int j = 0; j < columns; j++) sums[j] = 0;",
        "for (int j = 0; j < columns; j++) sums[j] = 1;",
    )
    return library.builds(one, tmp_path)


def test_the_sources_of_units_are_there() -> None:
    sources = CLibrary().read()
    assert sources.keys() >= SOURCES
    plain = {
        f"halves/{name}.h" for name in ("elementwise", "experts", "loss", "norm", "rope")
    }  # which multiply nothing
    assert {file for file in sources if file.startswith("halves/")} == plain | {f for f in SOURCES if "halves/" in f}


def test_a_source_is_judged_by_every_unit_that_runs_it(stub_path: Path) -> None:
    here = Units(stub_path)
    assert here.ways("moe.c") == [AS_IT_IS]
    assert here.ways("halves/amx_emulated.c") == [TILES]
    shared = here.ways("halves/product.c")
    assert (shared[0], shared[-1]) == (TILES, AS_IT_IS)
    assert [owner(file) for file in ("halves/amx.c", "halves/tiles.h")] == ["amx", ""]


def test_a_library_that_says_nothing_of_units_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FaultError, match=r"none\.so: expected the number of a unit, got .*there is no such file"):
        Units(tmp_path / "none.so")


def test_a_mutant_of_a_unit_is_killed_where_that_unit_runs(
    library: Library, build: Iterator[Build], monkeypatch: pytest.MonkeyPatch
) -> None:
    [changed] = build
    cases = [case for case in CASES.values() if case.id.startswith("gemm_bf16/plain")][:1]
    failed = Failures(library, MemoryStore()).of_cases(changed, cases)
    assert failed is not None
    assert failed.id == cases[0].id
    monkeypatch.setattr(failures, "SOURCES", frozenset())
    assert Failures(library, MemoryStore()).of_cases(changed, cases) is None


def test_a_mutant_of_a_unit_that_is_not_there_is_not_judged(
    library: Library, mutant: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "_number", lambda library, name: int(name != "amx"))
    one = mutant(
        "halves/amx.c",
        "d & AMX_BF16 && is_permitted() ? &unit : NULL;",
        "d & AMX_BF16 && is_permitted() ? NULL : &unit;",
    )
    trial = Judge(library, MemoryStore(), History()).trial(one)
    assert (trial.verdict, trial.counts, trial.said) == (Verdict.UNJUDGED, False, "no amx on this machine")
    killed = Trial(mutant("moe.c", "CHECK(all_within(position, rows, 0, rows));", ";"), Verdict.KILLED, "a case")
    score = Score(library, [trial, killed], Equivalents(()))
    assert score.summary().startswith("1 of 1 mutants killed (100.0%)")
    assert score.summary().endswith(", 1 need a unit that this machine lacks")


def noting(asked: list[Noted], what: Callable[[Mapping[str, str]], Noted]) -> Callable[..., None]:
    """In place of judging in a setting: note something of it."""

    def first(
        self: Failures,
        build: Build,
        link: object,
        cases: object,
        steps: object,
        threads: int,
        environment: Mapping[str, str],
        allowance: object,
    ) -> None:
        asked.append(what(environment))

    return first


def test_kernels_for_other_devices_are_asked_of_products_in_16_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    monkeypatch.setattr(Failures, "_first", noting(asked, lambda way: way.get("ASSAYER_EMULATOR_ARCH", "")))
    monkeypatch.setattr(Failures, "_other_launches", lambda *_: None)
    failures_of = Failures(Library(Kernels("fast")), MemoryStore())
    for operation in ("gemm_bf16", "gemm_fp16", "gemm"):
        build = Build(frozenset({operation}), "matrix.cuh", (), frozenset(), {}, {}, Path())
        assert failures_of.of_a_second_look(build, []) is None
    assert asked == ["", "", "sm_70", "sm_90", "", "", "sm_70", "sm_75", "sm_90", "", ""]


def test_kernels_of_other_generations_are_asked_of_what_only_these_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    monkeypatch.setattr(Failures, "_first", noting(asked, lambda way: way.get("ASSAYER_EMULATOR_ARCH", "")))
    monkeypatch.setattr(Failures, "_other_launches", lambda *_: None)
    failures_of = Failures(Library(Kernels("fast")), MemoryStore())
    for file in ("matrix_quads.cuh", "ptx_matrix.cuh", "matrix.cuh"):
        assert failures_of.of_cases(Build(frozenset(), file, (), frozenset(), {}, {}, Path()), []) is None
    assert asked == ["sm_70", "sm_80", "sm_80", "sm_75", "sm_70", ""]


def test_kernels_run_on_a_large_device_and_on_one_of_one_multiprocessor(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    monkeypatch.delenv("ASSAYER_EMULATOR_MULTIPROCESSORS", raising=False)
    counts = noting(asked, lambda way: way.get("ASSAYER_EMULATOR_MULTIPROCESSORS", "many"))
    monkeypatch.setattr(Failures, "_first", counts)
    monkeypatch.setattr(Failures, "_own_test", lambda *_: None)
    monkeypatch.setattr(Failures, "_other_launches", lambda *_: None)
    library = Library(Kernels("fast"))
    build = Build(frozenset({"softmax"}), "softmax.cu", (), frozenset(), library.sources, library.sources, Path())
    assert Failures(library, MemoryStore()).of_a_second_look(build, []) is None
    assert asked == ["many", "1"]
