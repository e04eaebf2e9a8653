"""Results in files: judged like those of a library, and nothing that is missing or misnamed passes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import reference
from conformance import operations
from conformance.candidates.files import answerable
from conformance.catalogue.goldens import file_of, load, load_tensors
from conformance.catalogue.goldens.step import in_order, parameters, results
from conformance.commands.cli import main
from conformance.judging.diagnosis.step import results_of
from conformance.judging.files import judge_files
from conformance.judging.results import Status
from conformance.limits.namespaces import OnFloat32, OnNumbers
from conformance.report.explanation import explained
from conformance.report.record import Run
from reference.readings.step import READINGS
from reference.step import start

STEP = next(id for id in answerable() if id.startswith("training_step"))
CASE = "rmsnorm/plain/2x33x1e-06"


def outputs(id: str) -> dict[str, Any]:
    """What an honest candidate writes for a golden: the reference's results in float32."""
    if id == STEP:
        tensors = load_tensors(id)
        assert tensors is not None
        made = results(OnNumbers(lambda array: np.asarray(array, np.float32)), parameters(), tensors)[0]
    else:
        golden, operation = load(id), id.partition("/")[0]
        assert golden is not None
        with np.errstate(all="ignore"):
            found = getattr(reference, operation)(**golden.arguments)
        made = operations.flat(operations.by_name(operations.OPERATIONS[operation], found))
    return {f"output.{n}": np.asarray(a, np.float32 if a.dtype == np.float64 else a.dtype) for n, a in made.items()}


def write(folder: Path, id: str, tensors: dict[str, Any]) -> Path:
    path = folder / file_of(id)
    path.parent.mkdir(parents=True, exist_ok=True)
    safetensors.numpy.save_file({name: np.array(a, order="C") for name, a in tensors.items()}, path)
    return path


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outputs")
    for id in answerable():
        write(folder, id, outputs(id))
    return folder


@pytest.fixture
def folder(honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A few of the files, to be spoilt."""
    monkeypatch.chdir(tmp_path)
    for id in (CASE, "silu/plain/33"):
        target = tmp_path / "outputs" / file_of(id)
        target.parent.mkdir(parents=True)
        shutil.copy(honest / file_of(id), target)
    return tmp_path / "outputs"


def run(*arguments: str | Path) -> int:
    return main(["run", "--outputs", *map(str, arguments)])


@pytest.mark.slow
def test_an_honest_candidate_passes_every_golden(honest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(honest) == 0
    out = capsys.readouterr().out
    assert f"conforms: {len(answerable())} cases passed." in out
    assert "repeats" not in out
    assert "refused calls, calls in sequence and free steps were not judged" in out


def test_a_wrong_result_is_named_and_repeated_from_the_folder(folder: Path, capsys: Any) -> None:
    golden = load(CASE)
    assert golden is not None
    x, weight, eps = (golden.arguments[name] for name in ("input", "weight", "eps"))
    root = np.sqrt(np.mean(x * x, axis=1, keepdims=True)) + np.float32(100 * eps)
    write(folder, CASE, {"output.output": x / root * weight})
    assert run(folder, "-k", "rmsnorm/plain") == 1
    out = capsys.readouterr().out
    assert f"repeat: python -m conformance run --outputs outputs --case '{CASE}'" in out
    assert "matches" in out or "eps" in out


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda t: {"output": t["output.output"]}, "expected tensors output.output, got output"),
        (
            lambda t: t | {"output.more": t["output.output"]},
            "expected tensors output.output, got output.more, output.out",
        ),
        (lambda t: {"output.output": t["output.output"].T}, "output.output: F32 [2,33], got F32 [33,2]"),
        (lambda t: {"output.output": t["output.output"].astype("f8")}, "output.output: F32 [2,33], got F64 [2,33]"),
        (lambda t: {"output.output": t["output.output"] * np.float32("nan")}, "NaN"),
    ],
    ids=["misnamed", "one too many", "another shape", "another type", "NaN"],
)
def test_what_is_not_the_output_fails(spoil: Callable[[Any], Any], said: str, folder: Path, capsys: Any) -> None:
    write(folder, CASE, spoil(outputs(CASE)))
    assert run(folder, "--case", CASE) == 1
    assert said in capsys.readouterr().out


def test_a_damaged_file_fails_by_name(folder: Path, capsys: Any) -> None:
    path = folder / file_of(CASE)
    path.write_bytes(path.read_bytes()[:-5])
    assert run(folder, "--case", CASE) == 1
    assert f"{file_of(CASE)}: expected a safetensors file, got damage" in capsys.readouterr().out


def test_a_file_larger_than_its_outputs_is_not_read(folder: Path, capsys: Any) -> None:
    with (folder / file_of(CASE)).open("r+b") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    assert run(folder, "-k", "rmsnorm/plain or silu/plain") == 1
    out = capsys.readouterr().out
    assert f"{file_of(CASE)}: expected a file of at most" in out
    assert "got one of 1099511627776" in out
    assert "1 PASS" in out  # the other file's verdict is not lost


@pytest.mark.slow
def test_folders_in_folders_without_end_are_not_looked_into(folder: Path, capsys: Any) -> None:
    here = Path.cwd()
    os.chdir(folder)
    for _ in range(3000):  # one by one: no call takes so long a path
        Path("d").mkdir()
        os.chdir("d")
    os.chdir(here)
    try:
        assert run(folder) == 1
    finally:
        subprocess.run(["rm", "-r", folder], check=True)  # shutil.rmtree calls itself for every folder
    out = capsys.readouterr().out
    assert "/d: not looked into: goldens lie in no more than" in out
    assert "2 PASS" in out


@pytest.mark.slow
def test_control_characters_in_names_of_files_do_not_reach_the_terminal(folder: Path, capsys: Any) -> None:
    (folder / "red\x1b[31m\u202e.safetensors").write_bytes(b"")
    (folder / os.fsdecode(b"half\xff.safetensors")).write_bytes(b"")
    assert run(folder) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert r"red\x1b[31m\u202e.safetensors: no golden has this name" in out
    assert r"half\udcff.safetensors: no golden has this name" in out


def test_the_training_step_is_judged(honest: Path, tmp_path: Path) -> None:
    tensors = outputs(STEP)
    [[right]] = judge_files([STEP], honest)
    write(tmp_path, STEP, tensors | {"output.loss": tensors["output.loss"] * np.float32(1.001)})
    [[wrong]] = judge_files([STEP], tmp_path, evidence=True)
    [[absent]] = judge_files([STEP], tmp_path / "nowhere")
    assert (right.status, wrong.status, absent.status) == (Status.PASS, Status.FAIL, Status.NOT_RUN)
    assert wrong.reason.startswith("loss: ")


def test_wrong_gradients_of_a_step_stand_as_backward_meets_them(tmp_path: Path) -> None:
    wrong = ("layers.0.w_q", "embedding", "layers.1.attn_norm", "layers.1.w_o", "final_norm")
    doubled = {
        name: array * 2 for name, array in outputs(STEP).items() if name.removeprefix("output.gradient.") in wrong
    }
    write(tmp_path, STEP, outputs(STEP) | doubled)
    [[result]] = judge_files([STEP], tmp_path)
    assert result.reason == "gradient.final_norm: 64 of 64 elements beyond their limit"
    first, _, later = result.headline.partition("; then ")
    assert first == "first wrong: gradient.final_norm: the right values times 2"
    assert later == "gradient.layers.1.w_o, gradient.layers.1.attn_norm, gradient.layers.0.w_q and 1 more"
    said = list(explained(result, Run("mine", option="--outputs", library="results")))
    assert "gradient.layers.0.w_q: the right values times 2" in said
    assert any(line.startswith("worst at gradient.") for line in said)


@pytest.mark.slow
def test_a_step_by_a_wrong_reading_is_named(tmp_path: Path) -> None:
    [reading] = [one for one in READINGS if one.name == "auxiliary loss over concatenated layers"]
    held = load_tensors(STEP)
    assert held is not None
    came = results_of(reading, OnFloat32(), start(parameters()), held)
    write(tmp_path, STEP, {f"output.{name}": np.asarray(array, np.float32) for name, array in came.items()})
    [[result]] = judge_files([STEP], tmp_path)
    assert result.headline == f"matches: {reading.name}"
    assert result.diagnosis is not None
    assert [one.outputs for one in result.diagnosis.symptoms[:2]] == [("aux_loss",), ("loss",)]


def test_every_result_of_a_step_has_its_place_in_it() -> None:
    assert sorted(f"output.{name}" for name in in_order()) == sorted(outputs(STEP))


@pytest.mark.slow
def test_what_is_missing_is_not_run_and_what_is_unknown_is_told(folder: Path, capsys: Any) -> None:
    (folder / "mine.safetensors").write_bytes(b"")
    assert run(folder) == 1
    out = capsys.readouterr().out
    assert f"{len(answerable()) - 2} NOT RUN" in out
    assert "mine.safetensors: no golden has this name" in out
    assert run(folder, "-k", "silu/plain") == 0


@pytest.mark.slow
def test_all_reports_are_written(folder: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("r.html", "s.md", "r.jsonl", "r.xml")]
    options = ("--report", "--summary", "--jsonl", "--junit")
    assert run(folder, *(word for pair in zip(options, files, strict=True) for word in pair)) == 1
    assert min(file.stat().st_size for file in files) > 500
    assert "Judged from files" in files[0].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: expected a folder of outputs, got none"),
        (["outputs", "--seed", "1"], "--seed is of a library"),
        (["outputs", "--declarations", "x.h"], "--declarations is of a library"),
        (["empty"], "empty: holds no outputs"),
        (["outputs", "--case", "silu/plain/nowhere"], "no case matches"),
    ],
)
def test_what_cannot_be_judged_is_no_verdict(arguments: list[str], said: str, folder: Path, capsys: Any) -> None:
    Path("empty").mkdir()
    assert run(*arguments) == 2
    assert said in capsys.readouterr().out


def test_a_library_and_a_folder_exclude_each_other(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        run("a", "--library", "b")
    assert "not allowed with" in capsys.readouterr().err
