"""`run --on`: what this project has built is judged as --library would have it judged."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conformance.commands.cli import main
from conformance.commands.run import own


@pytest.fixture(autouse=True)
def builds(monkeypatch: pytest.MonkeyPatch, stub_path: Path) -> None:
    """Nothing is compiled; a device is there."""
    monkeypatch.setattr(own, "build", lambda name: stub_path if name == "stub" else Path(name))
    monkeypatch.setattr(
        own, "device_builds", lambda archs: [(f"cuda {arch}", Path(arch)) for arch in archs or ["sm_90"]]
    )


def rounds(on: list[str], schedule: list[str] | None = None, arch: list[str] | None = None) -> list[Any]:
    options = argparse.Namespace(on=on, schedule=schedule or [], arch=arch or [], library=None, cuda=None)
    return list(own.rounds(Console(quiet=True), options))


def test_emulated_kernels_are_run_in_every_order_unless_one_is_chosen() -> None:
    stub, emulated = rounds(["emulated", "stub"])
    assert [stub.library, emulated.library] == [[("stub", stub.library[0][1])], [("emulated", Path("emulated"))]]
    assert [stub.schedule, emulated.schedule] == [[], ["forward", "reverse", "random"]]
    [emulated] = rounds(["emulated"], ["reverse"])
    assert emulated.schedule == ["reverse"]


def test_a_build_is_made_when_its_round_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(own, "build", lambda name: made.append(name) or Path(name))
    options = argparse.Namespace(on=["stub", "emulated"], schedule=[], arch=[], library=None, cuda=None)
    next(own.rounds(Console(quiet=True), options))
    assert made == ["stub"]


def test_an_architecture_is_built_for_on_a_device_and_stood_in_for_on_the_emulated_one() -> None:
    [cuda] = rounds(["cuda"], arch=["sm_80"])
    assert cuda.library == [("cuda sm_80", Path("sm_80"))]
    assert cuda.arch == []
    emulated, cuda = rounds(["emulated", "cuda"], arch=["sm_80"])
    assert [emulated.arch, cuda.arch] == [["sm_80"], []]


def test_a_build_is_judged_under_its_own_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--on", "stub", "--case", "silu/plain/1"]) == 0
    said = capsys.readouterr().out
    assert "building stub" in said
    assert "stub conforms as far as it was judged: 1 case passed." in said
