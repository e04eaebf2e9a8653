"""Ports in other languages are right; each mistake that a published one has made is named by the first line."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from conformance.languages import npm, ports
from conformance.languages.files import wrong_start
from conformance.languages.judged import Row, adapter, judge, judge_answers, judge_port
from conformance.languages.listed import PORTS, Port
from conformance.languages.ports import PortError, build, lacking
from conformance.paths import EXAMPLES
from tests.conformance.languages.defects import DEFECTS, Defect, plant

BY_NAME = {port.name: port for port in PORTS}
PLANTED = [(defect, name) for defect in DEFECTS for name in defect.place]


def source_of(name: str, folder: Path) -> tuple[Port, Path]:
    """A copy of a port's sources; skips the test where its compiler is missing or broken."""
    port = BY_NAME[name]
    if reason := lacking(port):
        pytest.skip(f"{name}: not judged: {reason}")
    return port, Path(shutil.copytree(EXAMPLES / port.folder, folder / "source"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where ports are built, so that a second build compiles only what has changed."""
    return tmp_path_factory.mktemp("languages")


@pytest.mark.parametrize("name", BY_NAME)
def test_a_port_is_right(name: str, tmp_path: Path, built: Path) -> None:
    port, source = source_of(name, tmp_path)
    row = judge_port(port, source, built / name, "plain and not full/ and not designed")
    assert row.wrong == []
    judged = [row.passed[part] for part in ("operations", "files") if part in row.passed]
    assert judged
    assert all(int(count.partition("/")[0]) > 0 for count in judged)


@pytest.mark.parametrize(("defect", "name"), PLANTED, ids=[f"{name}-{defect.name}" for defect, name in PLANTED])
def test_a_defect_is_named(defect: Defect, name: str, tmp_path: Path, built: Path) -> None:
    port, source = source_of(name, tmp_path)
    plant(defect, name, source)
    made, row = build(port, source, built / name), Row(name)
    if defect.judged == "start":
        row.wrong.append(wrong_start(made.program, tmp_path))
    elif defect.judged == "step":
        judge(row, "whole steps", "--step", f"{adapter(made.program, built / name)}:step")
    elif not made.library:
        judge_answers(row, made.answers, (defect.judged,), tmp_path, "not full/")
    else:
        words = "not full/ and not designed and not sequence"
        judge(row, "operations", "--library", str(made.library), "-o", defect.judged, "-k", words)
    assert re.search(defect.said, row.wrong[0]), row.wrong


def test_a_compiler_that_does_not_work_counts_as_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for tool in ("cargo", "rustc"):
        (tmp_path / tool).write_text("#!/bin/sh\necho no toolchain is installed >&2\nexit 1\n")
        (tmp_path / tool).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lacking(BY_NAME["rust"]).startswith("rustc is on the path and does not work: ")
    assert lacking(BY_NAME["go"]) == "there is no go on the path"


def test_a_compiler_that_npm_cannot_fetch_counts_as_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := lacking(BY_NAME["typescript"]):
        pytest.skip(f"typescript: not judged: {reason}")
    (tmp_path / "npm").write_text("#!/bin/sh\necho npm error network >&2\nexit 1\n")
    (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(npm, "builds", lambda: tmp_path / "build")
    assert lacking(BY_NAME["typescript"]) == "npm cannot fetch it: npm error network"
    assert [*(tmp_path / "build/languages").iterdir()] == []


def test_what_does_not_compile_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_run", lambda command, folder: "error: expected one of")
    with pytest.raises(PortError, match=r"rust: cargo build .*: error: expected one of"):
        build(BY_NAME["rust"], tmp_path, tmp_path)
