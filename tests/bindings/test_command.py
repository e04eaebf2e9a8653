"""The command line: what it prints and returns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bindings import examine
from bindings.__main__ import main
from tests.bindings.spy import Spy
from tests.compiler import compile_library

PARTIAL = """#include "assayer.h"
int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) { return 0; }
int32_t cuda_sliu(void) { return 0; }
int32_t assayer_sing(void) { return 0; }
"""


def test_a_library_that_exports_everything(spy: Spy, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(spy.library.path)]) == 0
    assert capsys.readouterr().out.endswith("exports what the header declares\n")


def test_what_is_missing_unknown_and_different(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library, declarations = compile_library(PARTIAL, tmp_path), tmp_path / "lib.rs"
    declarations.write_text('extern "C" { fn cuda_silu(input: *const f32, output: *mut f32, n: i64) -> i32; }')
    assert main(["check", str(library), "--declarations", str(declarations)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "cuda_rmsnorm: missing" in lines
    assert "cuda_silu: missing" not in lines
    assert "cuda_sliu: exported, the header has no such function" in lines
    assert "assayer_sing: exported, the header has no such function" in lines
    assert lines[-1].startswith("cuda_silu: has 3 arguments, the header 4")


def test_a_library_is_not_loaded(tmp_path: Path) -> None:
    text = PARTIAL + "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }"
    assert "cuda_add: missing" in examine(compile_library(text, tmp_path))


def test_a_file_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "none.so")]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_declarations_are_printed() -> None:
    command = [sys.executable, "-m", "bindings", "declarations", "--language", "rust"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]).stdout
    assert "pub fn cuda_silu(input: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;" in printed
