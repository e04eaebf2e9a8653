"""A stranger's kernels, compiled for the emulator: they export what they define, and are judged in every order."""

from __future__ import annotations

from pathlib import Path

import pytest

from bindings import Library, exported_symbols
from conformance.candidates.candidate import candidates
from conformance.candidates.instrumented import instrumented
from conformance.candidates.lines import lines_of
from conformance.commands.cli import main
from tests.emulator.programs import ROOT
from tests.tools import CXX, build_with_cmake, cmake_build, needs

SOURCE = Path(__file__).parent / "stranger" / "silu.cu"
pytestmark = [needs(*CXX), pytest.mark.built]


@pytest.fixture(scope="module", params=["plain", "for_a_gpu"])
def stranger(request: pytest.FixtureRequest) -> Path:
    """The library, with capabilities of its own or without."""
    folder = build_with_cmake(ROOT / "build" / "strangers", request.param, Path(__file__).parent / "stranger")
    return cmake_build.built_library(folder, request.param)


def test_what_it_defines_is_exported_and_of_the_emulator_only_what_whoever_loads_it_asks_for(stranger: Path) -> None:
    ours = {name for name in exported_symbols(stranger) if name.startswith(("cuda", "assayer")) or "emulator" in name}
    assert ours == {"cuda_silu", "assayer_capability", "assayer_emulated", "assayer_emulator_refuse_memory"}


def test_it_is_known_to_be_emulated(stranger: Path) -> None:
    facts = Library(stranger).facts
    assert facts.emulated
    assert not facts.on_device
    assert facts.compute_capability == (90 if stranger.stem.endswith("for_a_gpu") else 80)
    assert [c.schedule for c in candidates([("mine", stranger)], ["reverse"])] == ["reverse"]


def test_all_cases_of_its_operation_are_run_in_another_order(
    stranger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = ("--library", str(stranger), "--schedule", "reverse")
    assert main(["run", "-n", "1", *library, "-k", "silu/"]) == 0
    said = capsys.readouterr().out
    assert "NOT RUN" not in said
    assert "computed on an emulated device" in said


def test_one_that_is_compiled_for_coverage_tells_which_lines_of_its_kernels_calls_reach(
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = build_with_cmake(ROOT / "build" / "strangers", "covered", Path(__file__).parent / "stranger")
    library = cmake_build.built_library(folder, "covered")
    lines = lines_of(library, instrumented(library)).values()
    source = SOURCE.read_text(encoding="utf-8").splitlines()
    told = {source[line.number - 1].strip() for line in lines if Path(line.file).name == SOURCE.name}
    assert any("expf" in text for text in told)
    assert any("return -2" in text for text in told)
    assert main(["hunt", "--library", str(library), "--calls", "5", "--seed", "1"]) == 0
    said = capsys.readouterr().out
    assert "of the catalogue (1 operation) reach " in said
    assert "emulator/include" not in said
