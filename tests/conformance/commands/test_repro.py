"""Repro files: a failing call can be had again from its file alone, and a file that will not do is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from conformance.catalogue.cases import CASES
from conformance.catalogue.goldens import FOLDER
from conformance.catalogue.goldens.tensors import Tensors, read, write
from conformance.commands.cli import main
from conformance.commands.run.repro import MOST, ReproError, check_new, keep, recall
from conformance.commands.run.repro.keep import chosen
from conformance.judging.bench import Bench
from conformance.judging.results import Result, Status
from conformance.steps import FREE, judge_step
from tests.compiler import compile_library
from tests.conformance.commands.test_run import RIGHT, SILU
from tests.conformance.runs import step_result
from tests.conformance.steps.test_steps import InProcess, no_inverse

WRONG = {"rope_qk_backward": no_inverse}
ID = "silu/plain/33"


def again(path: str, **wrong: Any) -> Result:
    given = recall(Path(path))
    return Bench(InProcess(**wrong)).call("again", given.operation, given.arguments, given.expected)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["step1/locked", FREE])
def test_the_first_wrong_call_of_a_step_is_kept(step: str, tmp_path: Path) -> None:
    bench = Bench(InProcess(**WRONG))
    [kept] = [r for r in keep(tmp_path, judge_step(step, bench), bench) if r.repro]
    assert kept.operation == "rope_qk_backward"
    assert Path(kept.repro).name == "rope_qk_backward.safetensors"
    repeated = again(kept.repro, **WRONG)
    assert repeated.status is Status.FAIL
    assert repeated.headline == "matches: without the inverse rotation"
    assert again(kept.repro).status is Status.PASS


@pytest.mark.slow
def test_a_locked_call_fails_by_as_much_as_it_did(tmp_path: Path) -> None:
    bench = Bench(InProcess(**WRONG))
    [kept] = [r for r in keep(tmp_path, judge_step("step2/locked", bench), bench) if r.repro]
    repeated = again(kept.repro, **WRONG)
    for before, now in zip(kept.verdicts, repeated.verdicts, strict=True):
        # Sigma is kept in float32, rounded up.
        assert before.share * (1 - 2.0**-23) <= now.share <= before.share
        assert (now.index, now.got) == (before.index, before.got)


def test_a_file_holds_what_came(tmp_path: Path) -> None:
    bench = Bench(InProcess(silu=lambda input: input * np.float32(2)))
    [result] = keep(tmp_path, [bench.case(CASES[ID])], bench)
    held = read(Path(result.repro))
    assert np.array_equal(held["output.output"], held["input.input"] * 2)
    assert {"expected.output", "sigma.output", "worst.output"} <= held.keys()


@pytest.mark.slow
def test_an_array_that_is_not_read_is_left_out(tmp_path: Path) -> None:
    bench = Bench(InProcess(gemm_tn=lambda A, B, C, alpha, beta: reference.gemm_tn(A, B, C, alpha, beta) * 2))
    [kept] = [r for r in keep(tmp_path, judge_step("step1/locked", bench), bench) if r.repro]
    assert "input.C" not in read(Path(kept.repro))
    assert again(kept.repro).status is Status.PASS


def test_the_worst_of_each_operation_and_the_first_of_each_step_are_chosen() -> None:
    many = [step_result(f"{operation}/plain/{n}", share=n + 2.0) for operation in ("silu", "gemm") for n in range(MOST)]
    many = [Result(r.id, r.id.partition("/")[0], r.status, r.reason, r.verdicts) for r in many]
    steps = [step_result(f"step1/locked/00{n} add of x", share=n + 2.0) for n in range(3)]
    ids = [r.id for r in chosen([*many, *steps, Result("silu/refused/null", "silu", Status.FAIL)])]
    assert ids[:3] == ["step1/locked/000 add of x", f"silu/plain/{MOST - 1}", f"gemm/plain/{MOST - 1}"]
    assert len(ids) == 1 + MOST


def test_a_run_that_is_several_calls_has_no_file(tmp_path: Path) -> None:
    failed = Result("step/envelope/01", "training_step", Status.FAIL, "off")
    assert keep(tmp_path, [failed], Bench(InProcess())) == [failed]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    check_new(tmp_path / "new")
    check_new(tmp_path)
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(ReproError, match=r"expected a new or empty folder for --repro, got one that holds note\.txt"):
        check_new(tmp_path)
    with pytest.raises(ReproError, match="got: Not a directory"):
        check_new(tmp_path / "note.txt")


def altered(tmp_path: Path, change: Any, name: str = "silu") -> Path:
    held: Tensors = read(FOLDER / f"{ID}.safetensors")
    change(held)
    write(tmp_path / f"{name}.safetensors", held)
    return tmp_path / f"{name}.safetensors"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.pop("input.input"), r"input.input: expected F32 of 1 dimensions, got no such tensor"),
        (lambda h: h.update({"input.input": np.zeros(33)}), r"expected F32 of 1 dimensions, got F64 \[33\]"),
        (lambda h: h.update({"input.input": np.zeros((3, 11), np.float32)}), r"got F32 \[3,11\]"),
        (lambda h: h.update({"input.x": np.zeros(33)}), r"input.x: expected no such tensor: silu takes input.input"),
        (lambda h: h.update({"expected.output": np.zeros(32)}), r"expected F64 \[33\], got F64 \[32\]"),
        (lambda h: h.update({"expected.y": np.zeros(3)}), r"expected.y: expected no such tensor, got F64 \[3\]"),
    ],
)
def test_a_file_that_will_not_do_is_named(change: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ReproError, match=message) as error:
        recall(altered(tmp_path, change))
    assert str(error.value).startswith(f"{tmp_path / 'silu.safetensors'}: ")


def test_the_file_is_named_after_the_operation(tmp_path: Path) -> None:
    with pytest.raises(ReproError, match=r"expected a file named after its operation, .* got mine\.safetensors"):
        recall(altered(tmp_path, lambda held: None, "mine"))


def test_what_a_file_does_not_expect_is_computed(tmp_path: Path) -> None:
    def inputs_only(held: Tensors) -> None:
        for name in [n for n in held if not n.startswith("input.")]:
            del held[name]

    assert again(str(altered(tmp_path, inputs_only))).status is Status.PASS


@pytest.fixture
def library(tmp_path: Path) -> str:
    """A library that holds a right cuda_silu."""
    return str(compile_library(SILU.replace("BODY", RIGHT), tmp_path, "build", "-lm"))


def test_the_command_judges_a_file_and_says_how_to_repeat(
    library: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["run", "--library", library, "--inputs", str(FOLDER / f"{ID}.safetensors")]) == 0
    assert "1 case passed" in capsys.readouterr().out
    doubled = altered(tmp_path, lambda held: held.update({"expected.output": 2 * held["expected.output"]}))
    assert main(["run", "--library", library, "--inputs", str(doubled)]) == 1
    assert f"python -m conformance run --library {library} --inputs {doubled}" in capsys.readouterr().out


def test_the_command_refuses_what_will_not_do(library: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["run", "--library", library, "--inputs", "nowhere/silu.safetensors"]) == 2
    assert "expected a golden file, got no file" in capsys.readouterr().out
    assert main(["run", "--library", library, "-k", "silu", "--repro", str(tmp_path)]) == 2
    assert "expected a new or empty folder" in capsys.readouterr().out
