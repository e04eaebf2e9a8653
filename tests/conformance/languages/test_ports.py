"""Ports in other languages are right; each mistake that a published one has made is named by the first line."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from conformance.catalogue.goldens.step import parameters
from conformance.languages import npm, ports
from conformance.languages.by_position import NotCalledError, judge_by_position
from conformance.languages.files import ProgramError, run_program, wrong_start
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


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_NAME)
def test_a_port_is_right(name: str, tmp_path: Path, built: Path) -> None:
    port, source = source_of(name, tmp_path)
    row = judge_port(port, source, built / name, "plain and not full/ and not designed")
    assert row.wrong == []
    judged = [row.passed[part] for part in ("operations", "files") if part in row.passed]
    assert judged
    assert all(int(count.partition("/")[0]) > 0 for count in judged)


@pytest.mark.slow
@pytest.mark.parametrize(("defect", "name"), PLANTED, ids=[f"{name}-{defect.name}" for defect, name in PLANTED])
def test_a_defect_is_named(defect: Defect, name: str, tmp_path: Path, built: Path) -> None:
    port, source = source_of(name, tmp_path)
    plant(defect, name, source)
    made, row = build(port, source, built / name), Row(name)
    if defect.judged == "start":
        row.wrong.append(wrong_start(made.program, tmp_path))
    elif defect.judged == "step":
        judge(row, "whole steps", "--step", f"{adapter(made.program, built / name)}:step")
    elif defect.judged == "by position":
        row.wrong.extend(by_position(port, source, built / name, made.library))
    elif not made.library:
        judge_answers(row, made.answers, (defect.judged,), tmp_path, "not full/")
    else:
        words = "not full/ and not designed and not sequence"
        judge(row, "operations", "--library", str(made.library), "-o", defect.judged, "-k", words)
    assert re.search(defect.said, row.wrong[0]), row.wrong


def by_position(port: Port, source: Path, out: Path, library: Path | None) -> list[str]:
    """What is wrong with a port where arguments travel by position; skips the test where nothing is called so."""
    assert port.positional
    assert library
    try:
        found = judge_by_position(port.name, port.positional, source, out, library, "rmsnorm/")
    except NotCalledError as error:
        pytest.skip(f"{port.name}: {error}")
    return [each.sentence for each in found if not each.is_right]


def test_what_is_not_called_by_position_is_named_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "_run", lambda command, folder: "note: x\nerror: no std\n  = help: add it\n")
    positional = BY_NAME["rust"].positional
    assert positional
    expected = "no compiler for 32-bit x86: error: no std (help: add it)"
    assert ports.lacking_by_position(positional) == expected
    monkeypatch.setattr("conformance.languages.by_position.build_caller", lambda: tmp_path)
    with pytest.raises(NotCalledError, match=r"no std"):
        judge_by_position("rust", positional, tmp_path, tmp_path, tmp_path, "")


def _prompt(**arguments: Any) -> dict[str, Any]:
    """A file that a prompt is continued from."""
    given = {f"input.parameters.{name}": array for name, array in parameters().items()}
    given |= {"input.prompt": np.array([[5, 17]], np.int32), "argument.max_new": np.array([1])}
    return given | {f"argument.{name}": np.array([value]) for name, value in arguments.items()}


def _sizes(**changed: int) -> dict[str, Any]:
    """As much of a step's file as says what the model is."""
    sizes = {"hidden": 8, "layers": 1, "q_heads": 2, "kv_heads": 1, "head_dim": 4, "experts": 2, "top_k": 1, "ffn": 8}
    numbers = ("rope_base", "rope_alpha", "eps", "aux_alpha", "lr", "beta1", "beta2", "adam_eps", "weight_decay")
    given: dict[str, Any] = {
        name: np.array([value]) for name, value in ({**sizes, "vocab": 9, "update": 1} | changed).items()
    }
    given |= {name: np.ones(1, np.float32) for name in (*numbers, "clip_norm")}
    return {f"settings.{name}": value for name, value in given.items()}


BAD_FILES = (
    ("generate", _prompt(seed=np.float32(7)), "argument.seed"),
    ("generate", _prompt(seed=-7), "argument.seed, a whole number of at least 0"),
    ("generate", _prompt(seed=7, temperature=np.float32(1), k=0), "argument.k of at least 1"),
    ("generate", _prompt() | {"argument.max_new": np.array([1, 2])}, "argument.max_new, a whole number"),
    ("step", _sizes(kv_heads=0), "sizes of at least 1"),
    ("step", _sizes(q_heads=3, kv_heads=2), "q_heads a multiple of kv_heads"),
    ("step", _sizes(update=0), "settings.update from 1"),
    ("golden", _sizes(), "input.parameters."),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rust", "go"])
def test_a_program_says_what_is_wrong_with_a_file(name: str, tmp_path: Path, built: Path) -> None:
    port, source = source_of(name, tmp_path)
    program, path = build(port, source, built / name).program, tmp_path / "given.safetensors"
    for command, given, said in BAD_FILES:
        save_file(given, path)
        with pytest.raises(ProgramError, match=f"^{command}: exit code 1: expected .*{re.escape(said)}"):
            run_program(program, command, tmp_path / "out.safetensors", path)
    save_file(_prompt(), path, metadata={"format": "np"})
    assert run_program(program, "generate", tmp_path / "out.safetensors", path)["output.tokens"].shape == (1, 3)


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
