"""Frameworks behind a map, from their files to the verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.commands.cli import main
from conformance.commands.run import last_failed
from conformance.paths import EXAMPLES
from conformance.proof.faults.fault import Fault
from conformance.proof.faults.frameworks import FAULTS
from conformance.proof.faults.trial import judge_fault
from tests.compiler import compile_library
from tests.tools import CXX, needs

EXAMPLE = EXAMPLES / "framework"
QUICK = "not designed and not full and not sequence"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, with the example in it, and a memory of failures of each test's own."""
    for name in ("tensors.c", "tensors.cu", "tensors.toml"):
        (tmp_path / name).write_bytes((EXAMPLE / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(last_failed, "FILE", tmp_path / "last-failed.json")
    for room in ("frameworks.library", "kernels.project"):
        monkeypatch.setattr(f"conformance.{room}.CACHE", tmp_path / "cache")
    return tmp_path


def run(*words: str) -> int:
    return main(["run", "-n", "1", "--exported", *words])


@pytest.mark.slow
def test_what_a_map_cannot_say_is_counted_and_never_passed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compile_library((folder / "tensors.c").read_text(), folder, "libtensors", "-lm")
    assert run("--library", "libtensors.so", "--map", "tensors.toml", "-k", QUICK) == 0
    said = capsys.readouterr().out
    assert "libtensors.so conforms as far as it was judged: " in said
    assert "not supported of reduce_strided, which is tensorReduce: mean, offsets of input and output, " in said
    assert "cases not supported, as declared" in said
    assert "calls to be refused, of 4 operations that the map names" in said
    assert run("--library", "libtensors.so", "--map", "tensors.toml", "-k", "sliced and padded and map_strided") == 2
    assert "No verdict on libtensors.so: " in capsys.readouterr().out
    words = ("--library", "libtensors.so", "--map", "tensors.toml", "-o", "zip_strided")
    assert main(["hunt", *words, "--calls", "20", "--seed", "1"]) == 0
    assert " of them not supported, as declared; " in capsys.readouterr().out
    assert main(["probe", *words]) == 0


def test_a_refusal_of_what_the_map_can_say_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = (folder / "tensors.c").read_text()
    code, axes = "function > TANGENT) return ", "axes > {} || function < IDENTITY"
    wrong = right.replace(f"{code}1;", f"{code}-4;").replace(axes.format("MOST_AXES"), axes.format(2))
    compile_library(wrong, folder, "libtensors", "-lm")
    assert run("--library", "libtensors.so", "--map", "tensors.toml", "-k", "plain and 2x3x5 and map_strided") == 1
    said = capsys.readouterr().out
    assert "returned -4: " in said
    assert "repeat: python -m conformance run --library libtensors.so --map tensors.toml --case 'map_strided/" in said


@pytest.mark.slow
@needs(*CXX)
def test_kernels_behind_the_same_map_run_in_every_order(capsys: pytest.CaptureFixture[str]) -> None:
    few = f"plain and (5x7 or 3x4x5 or 3x17) and {QUICK}"
    assert run("--cuda", "tensors.cu", "--map", "tensors.toml", "-k", few) == 0
    said = capsys.readouterr().out
    assert "tensors.cu (forward, reverse, random) conforms as far as it was judged: " in said
    assert "not supported of zip_strided, which is tensorZip: " in said


@pytest.mark.slow
@needs(*CXX)
def test_a_tree_of_threads_that_reads_past_odd_sizes_is_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = (folder / "tensors.cu").read_text()
    wrong = right.replace("if (lane < count / 2) held", "if (lane < (count + 1) / 2) held")
    assert wrong != right
    (folder / "tensors.cu").write_text(wrong)
    words = ("--cuda", "tensors.cu", "--map", "tensors.toml", "--schedule", "forward", "-o", "reduce_strided")
    assert run(*words, "-k", f"plain and {QUICK}") == 1
    said = capsys.readouterr().out
    assert "1. reduce_strided: output: NaN" in said


# All functions, on tensors of any number of axes, whose pointers stand at their first element; nothing is returned.
_OTHER = """
#include <math.h>
#include <stdint.h>

static double joined(double a, double b, int function) {
    switch (function) {
        case 3: return a * b;
        case 4: return a > b || isnan(a) ? a : b;
        case 5: return a < b || isnan(a) ? a : b;
        default: return a + b;
    }
}

void fold(float start, const float* x, const int64_t* shape, const int64_t* strides, int64_t axes, float* y,
          const int64_t* out_strides, int64_t count, int64_t length, int function) {
    for (int64_t i = 0; i < count; i++) {
        const float* from = x;
        float* to = y;
        for (int64_t k = axes - 2, rest = i; k >= 0; rest /= shape[k--])
            from += rest % shape[k] * strides[k], to += rest % shape[k] * out_strides[k];
        double result = start;
        for (int64_t j = 0; j < length; j++) result = joined(result, from[j * strides[axes - 1]], function);
        *to = (float)(function == 7 ? length ? result / length : NAN : result);
    }
}
"""
_ITS_MAP = """
[framework]
keeps_axis = false

[reduce_strided]
call = "fold"
arguments = ["float start", "float* input + input_offset", "int64_t* input_shape", "int64_t* input_strides",
             "int64_t axes", "float* output + output_offset", "int64_t* output_strides", "int64_t output_elements",
             "int64_t length", "int function"]
functions = { sum = 2, product = 3, maximum = 4, minimum = 5, mean = 7 }
"""


@pytest.mark.slow
def test_several_axes_are_reduced_one_at_a_time_and_all_can_be_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_library(_OTHER, folder, "libfold", "-lm")
    (folder / "fold.toml").write_text(_ITS_MAP)
    assert run("--library", "libfold.so", "--map", "fold.toml", "-k", "not full") == 0
    said = capsys.readouterr().out
    assert "cases passed; 204 operations not exported." in said
    assert "not supported, as declared" not in said


NAMED = {fault.name.removeprefix("framework: "): fault for fault in FAULTS}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["start crosses as another type", "a view copied in silence", "a tree reads past odd sizes"]
)
def test_faults_are_found_and_named(name: str) -> None:
    fault: Fault = replace(NAMED[name], cases=QUICK)
    result = judge_fault(fault)
    assert result.found
    assert result.right, result.first_line


def test_each_of_the_four_operations_has_a_fault() -> None:
    assert {operation for fault in FAULTS for operation in fault.operations} == {
        f"{kind}_strided" for kind in ("map", "zip", "reduce", "matmul")
    }
