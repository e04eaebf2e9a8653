"""Elements past place 2^31 are found, by this project's libraries; a framework whose positions have 32 bits is told."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.frameworks import Framework, link
from conformance.paths import EXAMPLES, ROOT
from tests.compiler import compile_library

SENTENCE = "place 2147483650 is taken for -2147483646, as positions of 32 bits have it"


def wrong(library: Path) -> list[str]:
    """What `far` says of a library, in a process of its own; how that ended, where it crashed."""
    variables = os.environ | {"PYTHONPATH": str(ROOT), "ASSAYER_EMULATOR_SCHEDULE": "forward"}
    command = [sys.executable, "-P", "-m", "tests.tensors.far", str(library)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    if "Cannot allocate memory" in done.stderr:
        pytest.skip("this machine gives no memory that is not there yet")
    return [*done.stdout.splitlines(), *([f"exit status {done.returncode}: {done.stderr}"] * bool(done.returncode))]


def test_the_c_library_finds_them(stub_path: Path) -> None:
    assert wrong(stub_path) == []


def test_the_kernels_find_them(emulated_path: Path) -> None:
    assert wrong(emulated_path) == []


def wide(folder: Path, old: str, new: str) -> Path:
    """What stands before the example of a framework with shapes, strides and sizes of 64 bits, one text exchanged."""
    source = (EXAMPLES / "framework" / "tensors.c").read_text(encoding="utf-8")
    source = re.sub(r"\bint( \w+_size|\* index|\* \w+_s|\* shape|\* strides| index)", r"int64_t\1", source)
    assert old in source
    theirs = compile_library(source.replace(old, new), folder, "tensors", "-lm")
    chart = (EXAMPLES / "framework" / "tensors.toml").read_text(encoding="utf-8")
    (folder / "wide.toml").write_text(re.sub(r'"int(\*| \w+_size)', r'"int64_t\1', chart), encoding="utf-8")
    return link(Framework(theirs, folder / "wide.toml")).path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.frameworks.library.CACHE", tmp_path / "cache")


def test_a_framework_finds_them(tmp_path: Path) -> None:
    assert wrong(wide(tmp_path, "int64_t place = 0;", "int64_t place = 0;")) == []


def test_positions_of_32_bits_are_named(tmp_path: Path) -> None:
    said = wrong(wide(tmp_path, "int64_t place = 0;", "int place = 0;"))
    assert [line.partition(": expected")[0] for line in said] == [
        "map_strided: input",
        "reduce_strided: input",
        "map_strided: output",
        "reduce_strided: output",
        "zip_strided: a",
        "zip_strided: b",
        "zip_strided: output",
    ]
    assert all(line.endswith(SENTENCE) for line in said), said


def test_sizes_of_32_bits_are_not_supported(tmp_path: Path) -> None:
    theirs = compile_library((EXAMPLES / "framework" / "tensors.c").read_text(encoding="utf-8"), tmp_path, "t", "-lm")
    said = wrong(link(Framework(theirs, EXAMPLES / "framework" / "tensors.toml")).path)
    assert said
    assert all(line.endswith(": returned -4") for line in said), said
