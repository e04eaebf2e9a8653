"""CUDA sources as a stranger writes them, from the file to the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.commands.cli import main
from conformance.commands.run import last_failed
from conformance.kernels import library, making
from conformance.kernels.project import Project
from conformance.paths import ROOT
from tests.emulator.programs import skip_without
from tests.tools import CXX, needs, works

pytestmark = needs(*CXX)
THEIRS = Path(__file__).parent / "theirs"
QUICK = "plain and not designed and not full"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with their files, and a memory of failures of each test's own."""
    for path in filter(Path.is_file, THEIRS.iterdir()):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(last_failed, "FILE", tmp_path / "last-failed.json")
    monkeypatch.setattr("conformance.kernels.project.CACHE", tmp_path / "cache")
    monkeypatch.setenv("ASSAYER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # the judge that a sanitiser watches is a process of its own
    return tmp_path


def run(*words: str) -> int:
    return main(["run", "-n", "1", *words])


@pytest.mark.slow
def test_a_map_makes_functions_and_kernels_of_any_form_operations(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = ("--cuda", "norms.cu", "--map", "norms.toml", "--exported")
    assert run(*theirs, "-k", "(plain or refused or same_sizes) and not designed") == 0
    said = capsys.readouterr().out
    assert "norms.cu (forward, reverse, random) conforms as far as it was judged: " in said
    assert said.count("softmax               1") == 1  # three orders, one table
    assert "calls to be refused, of 4 operations that the map names" in said
    monkeypatch.setattr(making, "build_target", lambda *_: pytest.fail("compiled again"))
    assert run(*theirs, "-o", "gemm", "-k", QUICK, "--schedule", "random:3") == 0


@pytest.mark.slow
def test_functions_of_the_headers_names_are_found_without_a_map(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run("--cuda", "names.cu", "--exported", "-o", "silu,add", "-k", f"{QUICK} or refused", "--schedule", "forward")
        == 1
    )
    said = capsys.readouterr().out
    assert "names.cu (forward) does not conform: what it computes is right; " in said
    assert "CRASHED add/refused/null_a" in said
    assert "silu/refused" not in said
    assert "repeat: python -m conformance run --cuda names.cu --schedule forward --case 'add/refused/" in said


@pytest.mark.slow
def test_hunt_and_probe_take_sources_too(capsys: pytest.CaptureFixture[str]) -> None:
    theirs = ("--cuda", "beyond.cu", "--map", "beyond.toml")
    assert main(["hunt", *theirs, "-o", "silu", "--calls", "3", "--keep", "found"]) == 1
    assert "--cuda beyond.cu --map beyond.toml" in capsys.readouterr().out
    assert main(["probe", *theirs, "-k", "silu and not backward"]) in (0, 1)
    assert main(["hunt", "--cuda", "gone.cu"]) == 2
    assert "gone.cu: expected a file of CUDA C++, got no such file" in capsys.readouterr().err


@pytest.mark.slow
def test_a_change_is_compiled_and_what_failed_is_remembered(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--cuda", "norms.cu", "--map", "norms.toml", "--exported", "-k", QUICK, "--schedule", "forward")
    right = (folder / "norms.cu").read_text()
    (folder / "norms.cu").write_text(right.replace("d + epsilon", "(d - 1) + epsilon"))
    assert run(*words, "-o", "rmsnorm") == 1
    assert "rmsnorm/plain/" in capsys.readouterr().out
    (folder / "norms.cu").write_text(right)
    assert run("--last-failed", *words) == 0
    assert "nothing failed the last time" not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "name", "case", "mark"),
    [
        ("thread", "race", "rmsnorm/plain/2x33x1e-06", "// race"),
        ("address", "beyond", "silu/plain/1", "// beyond"),
    ],
)
def test_races_and_accesses_beyond_are_named_by_their_line(
    mode: str, name: str, case: str, mark: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    skip_without(mode, tmp_path)
    assert run("--cuda", f"{name}.cu", "--map", f"{name}.toml", "--mode", mode, "--case", case) == 1
    lines = (THEIRS / f"{name}.cu").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if mark in text)
    said = capfd.readouterr().out
    assert f"{name}.cu:{line}" in said
    assert "/glue/" not in said
    assert f"repeat: python -m conformance run --cuda {name}.cu --map {name}.toml --mode {mode} --case '{case}'" in said


@pytest.mark.slow
def test_what_does_not_compile_is_said_by_file_and_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "norms.toml").write_text("\n[silu]\ncall = 'course::silu'\narguments = ['output', 'input', '3 * eps']\n")
    (folder / "lacks.cu").write_text('#include "names.cu"\n#include <cublas_v2.h>\n')
    (folder / "kernel.cu").write_text("__global__ void cuda_silu(const float* x, float* y, int n) {}\n")
    for words, said in (
        (("lacks.cu",), "lacks.cu:2: not in the emulator: #include <cublas_v2.h>: cuBLAS;"),
        (("norms.cu", "--map", "norms.toml"), "norms.toml:2: 'eps' was not declared in this scope"),
        (("race.cu",), "race.cu: none of the header's 205 operations, by their names; defines rms(const float* x, "),
        (("kernel.cu",), "cuda_silu(const float* x, float* y, int n) (kernel.cu:1): expected a function of the host"),
        (("gone.cu",), "gone.cu: expected a file of CUDA C++, got no such file"),
    ):
        assert run("--cuda", *words) == 2
        assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--module", "x.py", "--map", "m.toml"),
            "--map is of CUDA sources or a framework; expected --cuda FILE.cu or",
        ),
        (("--library", "x.so", "--mode", "thread"), "--mode is of CUDA sources; expected --cuda FILE.cu beside it"),
    ],
)
def test_options_of_sources_stand_beside_sources(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) == 2
    assert said in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(not works("nvcc"), reason="no nvcc that works on the path")
def test_nvcc_compiles_the_same_glue(folder: Path) -> None:
    with (folder / "norms.toml").open("a") as file:
        file.write("[build]\nlink = ['m']\n")
    made = library.compile_kernels(Project((folder / "norms.cu",), folder / "norms.toml", "device", 80))
    assert made.mapped == ("rmsnorm", "softmax", "silu", "gemm")
    assert {"cuda_rmsnorm", "cuda_gemm", "assayer_allocate"} <= making.exported_symbols(made.path)


def test_without_a_device_there_is_none_to_judge_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conformance.commands.run.kernels.devices", list)
    assert run("--cuda", "norms.cu", "--map", "norms.toml", "--mode", "device") == 3
    assert "--mode device: expected a CUDA device, found none" in capsys.readouterr().out
