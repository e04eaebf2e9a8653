"""The emulator as the device: a probe tells whose tensor cores have computed, and contracts hold there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.commands.cli import main
from conformance.exit_codes import FAILED
from tests.emulator.programs import ROOT
from tests.tools import CXX, build_with_cmake, cmake_build, needs

pytestmark = needs(*CXX)
UNITS = {
    "sm_70": "tensor core sm_70",
    "sm_75": "tensor core sm_75 to sm_89",
    "sm_80": "tensor core sm_75 to sm_89",
    "sm_90": "tensor core sm_90 and later",
}
CONTRACT = '[operations.gemm]\ninputs = "float16"\naccumulator = "tensor core {sm}"\n'


@pytest.fixture(scope="module")
def library() -> Path:
    """gemm by wmma."""
    folder = build_with_cmake(ROOT / "build" / "tensor-core", "gemm", Path(__file__).parent / "tensor_core")
    return cmake_build.built_library(folder, "gemm")


@pytest.mark.parametrize("sm", UNITS)
def test_the_unit_is_told(
    sm: str, library: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAYER_EMULATOR_ARCH", sm)
    main(["probe", "--library", str(library), "--exported", "-k", "probe/gemm/matrix_unit", "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    assert found["found"] == UNITS[sm]


@pytest.mark.parametrize(
    ("sm", "declared", "code"), [("sm_80", "sm_80", 0), ("sm_90", "sm_80", 0), ("sm_80", "sm_90", FAILED)]
)
def test_what_is_declared_of_it_is_judged(
    sm: str, declared: str, code: int, library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contract = tmp_path / "mine.toml"
    contract.write_text(CONTRACT.format(sm=declared))
    words = ["-k", "gemm/plain or gemm/tails or probe/gemm/matrix_unit"]
    given = ["run", "-n", "1", "--library", str(library), "--exported", "--arch", sm, "--schedule", "forward"]
    assert main([*given, "--contract", str(contract), *words]) == code
    said = capsys.readouterr().out
    assert ("declared tensor core sm_90 sums; found tensor core sm_75 to sm_89" in said) == bool(code)
