"""Which tools a machine has: a name on the path may be a shim that starts nothing."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from filelock import FileLock

sys.path.insert(0, str(Path(__file__).parents[1] / "cuda" / "tools"))  # scripts
import cmake_build

CXX = shlex.split(os.environ.get("CXX", "c++"))  # as CMake takes it


@cache
def works(*command: str) -> bool:
    """Whether the tool is on the path and can say its version."""
    if not shutil.which(command[0]):
        return False
    asked = "version" if command[0] == "go" else "--version"
    return subprocess.run([*command, asked], capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


def needs(*command: str) -> pytest.MarkDecorator:
    """Skip a test where the tool is missing or does not work."""
    return pytest.mark.skipif(not works(*command), reason=f"no {command[0]} that works on the path")


def build_with_cmake(folder: Path, target: str, source: Path = cmake_build.CUDA, **defines: str) -> Path:
    """Configure and build the target in the folder, where only what changed is compiled; return the folder.

    Of several processes that want it, one builds while the others wait.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        for command in cmake_build.commands(folder, target, source, **defines):
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
    return folder
