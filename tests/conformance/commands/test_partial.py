"""A port in progress: what a library exports is judged, the rest costs nothing and is told in a line."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.catalogue.cases import CASES, REFUSALS, SEQUENCES
from conformance.catalogue.keywords import Keywords
from conformance.commands.cli import main
from conformance.commands.run.presence import divide
from conformance.commands.selection import UnknownOperationError, is_counted, operations_named, select
from conformance.operations import OPERATIONS
from conformance.steps import STEPS
from conformance.steps.needs import called, lacking
from tests.compiler import compile_library
from tests.conformance.commands.small import FUNCTIONS, MATH, run, said

OTHERS = len(OPERATIONS) - 2


# ---- what is exported, and what is not ---------------------------------------------------------------------------
@pytest.mark.slow
def test_with_exported_a_partial_library_whose_operations_are_right_passes(
    right: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, junit = tmp_path / "run.jsonl", tmp_path / "run.xml"
    assert run("--library", right, "--exported", "--jsonl", str(report), "--junit", str(junit)) == 0
    lines = said(capsys).splitlines()
    assert lines[-1].endswith(f" cases passed; {OTHERS} operations not exported.")
    assert sum(line.startswith(f"not exported: {OTHERS} operations (silu_backward, ") for line in lines) == 1
    assert sum(line.startswith(f"not run: {len(STEPS)} training steps, which call ") for line in lines) == 1
    head, *cases = (json.loads(line) for line in report.read_text().splitlines())
    assert {case["operation"] for case in cases} == {"silu", "add"}
    assert len(head["run"]["absent"]) == OTHERS
    assert list(head["run"]["left_out"]) == list(STEPS)
    skipped = ElementTree.parse(junit).getroot().findall("testcase/skipped")
    assert len(skipped) == OTHERS + len(STEPS)


@pytest.mark.slow
def test_without_it_the_same_library_fails_for_what_it_lacks(right: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--library", right) == 1
    assert f"does not conform: {OTHERS} operations not exported; " in said(capsys).splitlines()[-1]


def test_with_exported_a_wrong_operation_still_fails(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--library", wrong, "--exported", "-k", "plain and not designed") == 1
    assert "does not conform: 1 mistake explains 7 failures in 14 cases; " in said(capsys).splitlines()[-1]


def test_nothing_there_of_what_was_chosen_is_no_pass(right: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--library", right, "--exported", "-o", "gemm") == 2
    assert "No verdict on" in said(capsys)


def test_exported_is_of_a_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--outputs", str(tmp_path), "--exported") == 2
    assert said(capsys).startswith("--exported is of a library")


def test_an_operation_of_a_library_that_it_is_linked_to_is_there(
    right: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    linked = ("-Wl,--no-as-needed", right, f"-Wl,-rpath,{tmp_path}")
    outer = compile_library("int unused(void) { return 0; }", tmp_path, "outer", *linked)
    assert run("--library", str(outer), "-o", "silu", "-k", "plain") == 0
    assert "conforms as far as it was judged" in said(capsys)


def test_a_misspelled_operation_is_told_beside_the_missing_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = FUNCTIONS.replace("SIGN", "+") + "int32_t cuda_swigloo(void) { return 0; }"
    assert (
        run("--library", str(compile_library(source, tmp_path, "near", *MATH)), "-o", "silu,swiglu", "-k", "plain") == 1
    )
    out = said(capsys)
    assert "not exported: 1 operation (swiglu)" in out
    assert "near to what the header has: cuda_swigloo (cuda_swiglu)" in out


# ---- the division of a selection ---------------------------------------------------------------------------------
def test_the_cases_of_absent_operations_are_left_out_before_anything_is_made_for_them() -> None:
    there = {"silu", "add"}
    presence = divide(select(Keywords()), [operation for operation in OPERATIONS if operation not in there])
    assert set(presence.there.operations) == there
    counted = [id for id in presence.there.cases if is_counted(id)]
    assert presence.cases + len(counted) == len(CASES) + len(REFUSALS) + len(SEQUENCES)
    assert presence.there.steps == ()
    assert list(presence.left_out) == list(STEPS)


def test_a_step_is_left_out_by_what_it_calls_alone() -> None:
    presence = divide(select(Keywords()), ["gemm_bf16", "kv_cache_append"])
    assert set(presence.left_out) == {"step1-bf16/locked", "step/envelope-bf16", "steps/resident"}
    assert presence.absent == ("gemm_bf16", "kv_cache_append")


def test_a_locked_step_that_is_asked_for_is_judged_in_part() -> None:
    presence = divide(select(Keywords("step1/locked")), ["gemm"])
    assert presence.there.steps == ("step1/locked",)
    assert presence.absent == ("gemm",)
    nothing_there = divide(select(Keywords("step1/locked")), sorted(OPERATIONS))
    assert nothing_there.there.steps == ()


@pytest.mark.parametrize("step", STEPS)
def test_every_step_calls_something_and_lacks_what_is_absent_of_it(step: str) -> None:
    assert lacking(step, ["multi_adamw"]) == ("multi_adamw",)
    assert lacking(step, ["log_softmax_of_nothing"]) == ()
    assert called(step) <= OPERATIONS.keys()


# ---- -o ----------------------------------------------------------------------------------------------------------
def test_operations_are_chosen_by_their_exact_names() -> None:
    chosen = select(Keywords(), (), operations_named("rmsnorm,silu"))
    assert chosen.operations == ("silu", "rmsnorm")
    assert chosen.steps == ()
    assert not chosen.is_whole
    assert "rmsnorm/refused/null_input" in chosen.cases
    assert any(id.startswith("probe/rmsnorm/") for id in chosen.cases)
    of_all = select(Keywords(), (), operations_named("rmsnorm*")).operations
    assert {"rmsnorm", "rmsnorm_backward", "rmsnorm_residual"} <= set(of_all)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sylu", "the header declares no operation sylu; did you mean silu or swiglu?"),
        ("silu,cuda_add", "the header declares no operation cuda_add; did you mean add?"),
        ("wholly*other", "the header declares no operation wholly*other; `list` shows what there is"),
        (",", "expected names of operations, got ','"),
    ],
)
def test_a_name_that_meets_no_operation_is_answered_with_those_near(text: str, message: str) -> None:
    with pytest.raises(UnknownOperationError) as error:
        operations_named(text)
    assert str(error.value) == message


def test_list_takes_operations_and_their_words_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "-o", "silu", "-o", "add", "-k", "plain/33"]) == 0
    assert said(capsys).split() == [id for id in CASES if id in ("silu/plain/33", "add/plain/33")]
    assert main(["list", "-o", "silu", "-k", "nowhere"]) == 2
    assert "no case matches -k 'nowhere' -o silu" in " ".join(capsys.readouterr().err.split())


# ---- libraries that export none ----------------------------------------------------------------------------------
SILU = "int cuda_silu(const float* input, float* output) { return 0; }"
STRANGERS = [
    (SILU, ("-fvisibility=hidden",), "hidden: cuda_silu; give them default visibility"),
    (SILU, ("-x", "c++"), 'names mangled by C++: _Z9cuda_siluPKfPf (cuda_silu); declare them extern "C"'),
    ("int silu(void) { return 0; }", (), "spelled otherwise: silu (cuda_silu); the header's names begin with cuda_"),
    ("int cuda_sliu(void) { return 0; }", (), "near to what the header has: cuda_sliu (cuda_silu)"),
    ("int other(void) { return 0; }", (), "it exports other"),
]


@pytest.mark.parametrize(("source", "flags", "reason"), STRANGERS)
def test_a_library_that_exports_none_is_refused_before_anything_runs(
    source: str, flags: tuple[str, ...], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    abort = "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }\n"
    library = compile_library(abort + source, tmp_path, "library", *flags)
    for command in ("run", "probe"):
        assert main([command, "--library", str(library)]) == 2
        out = said(capsys)
        assert out.startswith(f"{library}: exports none of the header's {len(OPERATIONS)} operations (cuda_silu, ")
        assert reason in out
