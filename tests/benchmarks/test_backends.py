"""A backend that is not there is named when it is asked for; an operation that PyTorch lacks is not tried on it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import backends as module
from benchmarks.backends import AbsentError, Backends, find_library

ROOT = Path(__file__).parents[2]


def test_without_peers_pytorch_is_not_asked_for(stub_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert Backends(stub_path, peers=False, threads=1).names == ("reference", "C")


def test_peers_without_pytorch_are_an_error(stub_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(AbsentError, match="PyTorch is not installed"):
        Backends(stub_path, peers=True, threads=1)


def test_only_operations_that_pytorch_has_are_its_own(stub_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch, in_torch = ModuleType("torch"), ModuleType("benchmarks.torch_operations")
    threads: list[int] = []
    torch.set_num_threads = threads.append  # type: ignore[attr-defined]
    in_torch.gemm = None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, torch.__name__, torch)
    monkeypatch.setitem(sys.modules, in_torch.__name__, in_torch)
    backends = Backends(stub_path, peers=True, threads=2)
    assert threads == [2]
    assert backends.of("gemm") == ("reference", "C", "PyTorch")
    assert backends.of("expert_sort") == ("reference", "C")


def test_a_library_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AbsentError, match=r"expected a shared library, got .*none\.so"):
        find_library(tmp_path / "none.so")
    monkeypatch.setattr(module, "BUILT", tmp_path)
    with pytest.raises(AbsentError, match="found none: build it, or name one by --library"):
        find_library(None)


@pytest.mark.parametrize("script", ["sixteen", "recompute"])
def test_scripts_name_the_packages_that_are_missing(script: str) -> None:
    run = f"import runpy, sys; sys.path.insert(0, {str(ROOT)!r}); runpy.run_module('benchmarks.{script}')"
    ended = subprocess.run([sys.executable, "-S", "-c", run], capture_output=True, text=True)  # -S: no packages
    assert ended.returncode == 1
    assert "the benchmarks need numpy, cffi, ml_dtypes; not installed: numpy, cffi, ml_dtypes" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("script", ["sixteen", "recompute"])
def test_scripts_run_without_pytest(script: str, stub_path: Path) -> None:
    run = (
        f"import runpy, sys; sys.modules['pytest'] = None; sys.argv[1:] = ['--short', '--library', {str(stub_path)!r}]"
    )
    run += f"; runpy.run_module('benchmarks.{script}', run_name='__main__')"
    ended = subprocess.run([sys.executable, "-c", run], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "round by round: median (quartiles)" in ended.stdout
