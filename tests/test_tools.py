"""The helpers that look for tools, and the build in a folder that came from elsewhere."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tools import build_with_cmake, cmake_build, works

LISTS = """\
cmake_minimum_required(VERSION 3.24)
project(small LANGUAGES NONE)
configure_file(word.in word)
add_custom_target(small)
"""


def test_a_shim_that_starts_nothing_is_no_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, code in (("shim", 1), ("tool", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert (works("tool"), works("shim"), works("missing")) == (True, False, False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    source = tmp_path / "first"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(LISTS)
    (source / "word.in").write_text("one")
    build_with_cmake(source / "build", "small", source)
    return source


def test_a_second_build_keeps_what_was_configured(checkout: Path) -> None:
    configure, _ = cmake_build.commands(checkout / "build", "small", checkout)
    assert "--fresh" not in configure


@pytest.mark.parametrize("way", [shutil.copytree, shutil.move])
def test_a_checkout_that_was_copied_or_moved_is_configured_afresh(way: object, checkout: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    assert callable(way)
    way(checkout, second)
    (second / "word.in").write_text("two\n")
    command = ["cmake", "-S", second, "-B", second / "build"]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert (refused.returncode, "is different than the directory" in refused.stderr) == (1, True)
    build_with_cmake(second / "build", "small", second)
    assert (second / "build" / "word").read_text() == "two\n"


def test_a_folder_without_a_library_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"expected one assayer_stub library in .*, found 0"):
        cmake_build.built_library(tmp_path, "assayer_stub")
