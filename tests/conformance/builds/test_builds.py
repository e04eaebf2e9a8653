"""This project's own libraries: built, found again, and what is missing is named."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from bindings import places
from bindings.places import builds, module
from conformance.builds import BuildError, DeviceError, build, device, device_builds, library
from conformance.commands.cli import main


def test_an_option_that_the_compiler_refuses_is_shown(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"stub: expected CMake to build assayer_stub in (?s:.*)no-such-compiler"):
        build("stub", tmp_path / "build", {"CMAKE_C_COMPILER": "no-such-compiler"})


@pytest.mark.parametrize(("gone", "named"), [(["cmake"], "no cmake"), (["cmake", "ninja"], "no cmake and no ninja")])
def test_a_missing_tool_is_named(
    gone: list[str], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda tool, path=None: None if tool in gone else f"/bin/{tool}")
    assert main(["build", "stub", "--folder", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert f"stub: expected cmake and ninja, found {named}: pip install cmake ninja" in said


@pytest.mark.parametrize(("target", "variable"), [("stub", "CC"), ("emulated", "CXX")])
def test_a_missing_compiler_is_named(
    target: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "_search_path", lambda: str(tmp_path))
    for tool in ("cmake", "ninja"):
        (tmp_path / tool).touch(mode=0o755)
    monkeypatch.setenv(variable, "mine-cc -m64")
    with pytest.raises(BuildError, match=rf"found none of mine-cc; {variable} names another"):
        build(target, tmp_path / "build")


def test_a_missing_cuda_compiler_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(device, "_packaged", lambda: None)
    monkeypatch.delenv("CUDACXX", raising=False)
    assert main(["build", "cuda"]) == 2
    assert "expected nvcc of CUDA 13, found none" in capsys.readouterr().err


def test_no_device_is_no_pass(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(device, "devices", list)
    with pytest.raises(DeviceError, match="expected a CUDA device of sm_80 or newer, found none"):
        list(device_builds(["sm_80"]))
    assert main(["run", "--on", "cuda"]) == 3
    assert "expected a CUDA device, found none" in capsys.readouterr().out


def test_an_architecture_that_nothing_compiles_for_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "devices", lambda: [90])
    with pytest.raises(BuildError, match=r"--arch sm_60: expected one of sm_75, .*sm_90"):
        list(device_builds(["sm_60"]))
    with pytest.raises(DeviceError, match="expected a CUDA device of sm_100 or newer, found one of sm_90"):
        list(device_builds(["sm_100"]))


def test_what_a_device_runs_is_built_newest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "devices", lambda: [86])
    monkeypatch.setattr(device, "nvcc", lambda: "nvcc")
    asked: list[Mapping[str, str]] = []

    def build(name: str, folder: Path, defines: Mapping[str, str], environment: Mapping[str, str]) -> Path:
        asked.append(defines)
        return folder

    monkeypatch.setattr(device, "build", build)
    names = [name for name, _ in device_builds()]
    assert names == ["cuda sm_86", "cuda sm_80 PTX", "cuda sm_75 PTX"]
    assert asked == [
        {"ASSAYER_ARCHITECTURES": "86-real"},
        {"ASSAYER_ARCHITECTURES": "80", "ASSAYER_RUNS_ON": "86"},
        {"ASSAYER_ARCHITECTURES": "75", "ASSAYER_RUNS_ON": "86"},
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--on", "stub", "--arch", "sm_80"], "--arch sm_80: expected --on emulated or cuda, got stub"),
        (["--on", "stub", "--schedule", "reverse"], "--schedule reverse: expected --on emulated, got stub"),
    ],
)
def test_options_of_a_build_that_is_not_judged_are_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *words]) == 2
    assert message in capsys.readouterr().out


def test_an_installed_package_builds_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cuda, cache = tmp_path / "site-packages" / "assayer" / "cuda", tmp_path / "cache"
    cuda.mkdir(parents=True)
    for name, value in {"ROOT": cuda.parent, "CUDA": cuda, "CACHE": cache}.items():
        monkeypatch.setattr(places, name, value)
    (cuda / "a.c").write_text("1", encoding="utf-8")
    first = builds.__wrapped__()
    assert first.parent == cache / "build"
    (cuda / "a.c").write_text("2", encoding="utf-8")
    assert builds.__wrapped__() != first, "other sources, in files of the same time and size"
    with pytest.raises(SystemExit):
        main(["golden"])


def test_modules_are_named_by_where_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module("training.data") == "training.data"
    monkeypatch.setattr(places, "__package__", "assayer.bindings")
    assert module("training.data") == "assayer.training.data"
