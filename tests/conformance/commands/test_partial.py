"""A port in progress: what a library exports is judged, the rest costs nothing and is told in a line."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.catalogue.cases import CASES
from conformance.catalogue.keywords import Keywords
from conformance.commands.cli import main
from conformance.commands.run import last_failed
from conformance.commands.run.presence import divide
from conformance.commands.selection import UnknownOperationError, operations_named, select
from conformance.judging.results import Result, Status
from conformance.operations import OPERATIONS
from conformance.steps import STEPS
from conformance.steps.needs import called, lacking
from tests.compiler import compile_library

FUNCTIONS = """#include <math.h>
#include <stdint.h>
int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    if (!input || !output || n < 1 || n > INT64_MAX / 4) return -2;
    for (int64_t i = 0; i < n; i++) output[i] = (float)(input[i] / (1.0 + exp(-(double)input[i])));
    return 0;
}
int32_t cuda_add(const float* a, const float* b, float* output, int64_t n, void* stream) {
    if (!a || !b || !output || n < 1 || n > INT64_MAX / 4) return -2;
    for (int64_t i = 0; i < n; i++) output[i] = a[i] SIGN b[i];
    return 0;
}
"""
MATH = ("-Wl,--no-as-needed", "-lm")
OTHERS = len(OPERATIONS) - 2


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_failed, "FILE", tmp_path / "last-failed.json")


@pytest.fixture
def right(tmp_path: Path) -> str:
    return str(compile_library(FUNCTIONS.replace("SIGN", "+"), tmp_path, "right", *MATH))


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    return str(compile_library(FUNCTIONS.replace("SIGN", "-"), tmp_path, "wrong", *MATH))


def run(*arguments: str) -> int:
    return main(["run", "-n", "1", *arguments])


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.strip()


# ---- what is exported, and what is not ---------------------------------------------------------------------------
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


def test_without_it_the_same_library_fails_for_what_it_lacks(right: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--library", right) == 1
    assert f"does not conform: {OTHERS} operations not exported; " in said(capsys).splitlines()[-1]


def test_with_exported_a_wrong_operation_still_fails(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--library", wrong, "--exported", "-k", "plain") == 1
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
    assert presence.cases + len(presence.there.cases) == len(select(Keywords()).cases)
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


# ---- the ratchet, through the command ----------------------------------------------------------------------------
def test_a_ratchet_holds_a_port_to_what_it_had(
    right: str, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ratchet = tmp_path / "ratchet.txt"
    held = ("-o", "silu,add", "--exported", "--ratchet", str(ratchet))
    assert run("--library", right, *held) == 2
    assert "--update-ratchet writes it" in said(capsys)
    assert run("--library", right, *held, "--update-ratchet") == 0
    assert ratchet.read_text().splitlines()[1:] == ["add", "silu"]
    assert run("--library", right, *held) == 0
    assert "ratchet: 2 of 2 entries hold" in said(capsys)
    assert run("--library", wrong, *held, "--update-ratchet") == 1
    assert "ratchet: add passed once, and is now FAIL (" in said(capsys)
    assert ratchet.read_text().splitlines()[1:] == ["add", "silu"]
    lost = compile_library(FUNCTIONS.replace("SIGN", "+").replace("cuda_add", "other"), tmp_path, "lost", *MATH)
    assert run("--library", str(lost), *held) == 1
    assert (
        said(capsys)
        .splitlines()[-1]
        .endswith("ratchet: add passed once, and is not exported; 1 operation not exported.")
    )


def test_a_ratchet_is_updated_by_name_alone(right: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--library", right, "--update-ratchet") == 2
    assert "expected --ratchet FILE beside them" in said(capsys)


# ---- declarations of what is judged ------------------------------------------------------------------------------
RUST = """unsafe extern "C" {
    fn cuda_silu(input: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;
    fn cuda_add(A, n: i64, stream: *mut c_void) -> i32;
}"""
SWAPPED = RUST.replace("A,", "b: *const f32, a: *const f32, output: *mut f32,")
AGREEING = RUST.replace("A,", "a: *const f32, b: *const f32, output: *mut f32,")


@pytest.fixture
def declarations(tmp_path: Path) -> Path:
    return tmp_path / "ffi.rs"


@pytest.mark.parametrize("chosen", [("-k", "add/plain"), ("--case", "add/plain/1"), ("-o", "add"), ("--lf",)])
def test_a_wrong_declaration_of_what_is_judged_fails_however_it_was_chosen(
    right: str, declarations: Path, chosen: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declarations.write_text(SWAPPED)
    last_failed.remember(str(Path(right).resolve()), [Result("add/plain/1", "add", Status.FAIL)])
    reports = {kind: tmp_path / f"run.{kind}" for kind in ("jsonl", "junit", "report", "summary")}
    asked = [word for kind, path in reports.items() for word in (f"--{kind}", str(path))]
    assert run("--library", right, *chosen, "--declarations", str(declarations), *asked) == 1
    difference = "cuda_add: argument 1 is named `b`, the header has `const float* b` as argument 2"
    out = said(capsys)
    assert difference in out
    assert "declarations agree: 0 of 1 operation\n" in out
    head = json.loads(reports["jsonl"].read_text().splitlines()[0])["run"]
    assert head["problems"][0] == difference
    failures = ElementTree.parse(reports["junit"]).getroot().findall("testcase/failure")
    assert failures[0].get("message") == difference
    assert difference in reports["report"].read_text()
    assert "cuda\\_add: argument 1" in reports["summary"].read_text() or difference in reports["summary"].read_text()


def test_agreement_is_said_and_what_differs_elsewhere_is_no_failure(
    right: str, declarations: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declarations.write_text(SWAPPED)
    assert run("--library", right, "-k", "silu/plain", "--declarations", str(declarations)) == 0
    out = said(capsys)
    assert "declarations agree: 1 of 1 operation\n" in out
    assert "declarations that differ, of what is not judged here: cuda_add" in out
    declarations.write_text(AGREEING)
    assert run("--library", right, "-k", "plain/33", "-o", "silu,add", "--declarations", str(declarations)) == 0
    assert "declarations agree: 2 of 2 operations\n" in said(capsys)


def test_a_file_that_declares_nothing_of_what_is_judged_is_an_error(
    right: str, declarations: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declarations.write_text("fn main() {}")
    assert run("--library", right, "-o", "silu", "--declarations", str(declarations)) == 2
    assert "declares none of the header's" in said(capsys)
    declarations.write_text('extern "C" { fn cuda_add(); }')
    assert run("--library", right, "-o", "silu", "--declarations", str(declarations)) == 2
    assert "expected declarations of what is judged (cuda_silu), got cuda_add" in said(capsys)


# ---- --last-failed -----------------------------------------------------------------------------------------------
def test_what_was_not_run_did_not_fail(right: str) -> None:
    last_failed.remember(right, [Result("a/b", "a", Status.NOT_RUN), Result("c/d", "c", Status.CRASHED)])
    assert last_failed.recall(right) == ["c/d"]


def note(file: Path, library: str, worker: int) -> None:
    last_failed.FILE = file
    for number in range(20):
        last_failed.remember(library, [Result(f"{worker}/{number}", "silu", Status.FAIL)])


def test_runs_that_end_at_once_lose_nothing_of_each_other(right: str) -> None:
    context = multiprocessing.get_context("spawn")
    several = [context.Process(target=note, args=(last_failed.FILE, right, worker)) for worker in range(3)]
    for process in several:
        process.start()
    for process in several:
        process.join()
    assert set(last_failed.recall(right)) == {f"{worker}/{number}" for worker in range(3) for number in range(20)}
