"""The hunt: it finds what no case of the catalogue shows, shrinks it, and keeps a file that repeats it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue.cases import CASES, DESIGNED
from conformance.commands.cli import main
from conformance.judging.hunt.draw import Call, Draw, is_possible
from conformance.judging.hunt.shrink import shrunk
from tests.compiler import compile_library

# Wrong from 70 to 90 elements alone: sizes that stand in no case.
SILU = """
#include <math.h>
#include <stdint.h>
int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    (void)stream;
    if (!input || !output || n < 1) return -2;
    for (int64_t i = 0; i < n; i++) output[i] = input[i] / (1.0f + expf(-input[i]));
    if (n >= 70 && n <= 90) output[n - 1] = 0.25f;
    return 0;
}
"""


@pytest.fixture(scope="module")
def silu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(SILU, tmp_path_factory.mktemp("silu"))


def test_no_case_shows_what_the_hunt_is_after() -> None:
    assert not [case for few in (CASES, DESIGNED) for case in few.of("silu").values() if 70 <= case.sizes["n"] <= 90]


@pytest.mark.slow
def test_a_failure_is_found_shrunk_and_kept_in_a_file_that_repeats_it(
    silu: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    limits = ("--minutes", "60", "--calls", "900", "--seed", "1")
    hunted = ["hunt", "--library", str(silu), "-k", "silu", *limits, "--keep", str(kept)]
    assert main(hunted) == 1
    said = capsys.readouterr().out
    assert "1. silu: " in said
    assert "n=70, input=plain" in said
    assert "of 1 operation" in said
    file = kept / "1" / "silu.safetensors"
    assert main(["run", "--library", str(silu), "--inputs", str(file)]) == 1
    assert main(hunted) == 2  # nothing is overwritten
    assert "expected a new or empty folder" in capsys.readouterr().err


# The sign of a zero is lost.
MUL = """
#include <stdint.h>
int32_t cuda_mul(const float* a, const float* b, float* output, int64_t n, void* stream) {
    (void)stream;
    if (!a || !b || !output || n < 1 || n > INT64_MAX / 4) return -2;
    for (int64_t i = 0; i < n; i++) output[i] = a[i] * b[i] + 0.0f;
    return 0;
}
"""


def test_the_sign_of_a_zero_counts_where_it_does_in_the_catalogue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library, kept = compile_library(MUL, tmp_path), tmp_path / "kept"
    hunted = ["hunt", "--library", str(library), "--minutes", "60", "--calls", "100", "--seed", "1"]
    assert main([*hunted, "--keep", str(kept)]) == 1
    assert "zero" in capsys.readouterr().out
    assert main(["run", "--library", str(library), "--inputs", str(kept / "1" / "mul.safetensors")]) == 1


def test_of_a_right_library_nothing_is_found(stub_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hunt", "--library", str(stub_path), "-o", "embedding,expert_dispatch,argmax", "--calls", "30"]) == 0
    assert "0 failures in " in capsys.readouterr().out


def test_an_operation_that_is_not_there_is_not_hunted(silu: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hunt", "--library", str(silu), "-o", "gemm"]) == 2
    assert "expected an operation that" in capsys.readouterr().err


@pytest.mark.parametrize("operation", ["gemm_beta", "attention_forward", "topk_sample", "multi_adamw_bf16"])
def test_a_seed_draws_the_same_calls_that_the_header_allows_and_not_levels_alone(operation: str) -> None:
    first, second = Draw(operation, 5), Draw(operation, 5)
    calls = [first.call() for _ in range(20)]
    assert calls == [second.call() for _ in range(20)]
    assert all(is_possible(first.space, call.row) for call in calls)
    levels = {factor.name: factor.levels for factor in first.space.factors}
    assert any(value not in levels[name] for call in calls for name, value in call.row.items())
    assert len({call.case.id for call in calls}) == 20


def test_the_smallest_call_that_fails_is_kept_and_no_more_are_made_than_asked() -> None:
    call = Call("gemm", {"M": 65, "N": 9, "K": 1025, "A": "swamp", "B": "late"}, 3)
    smallest, made = shrunk(call, lambda one: one.row["K"] > 500 and one.row["B"] == "late", 500)
    assert smallest.row == {"M": 1, "N": 1, "K": 501, "A": "plain", "B": "late"}
    assert made <= 500
    assert shrunk(call, lambda one: True, 2)[1] == 2
