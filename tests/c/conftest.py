"""The C build under test: that of $ASSAYER_STUB, or one made here by CMake."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bindings import Library

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def stub_path() -> Path:
    """The library: built in the folder that the sessions use, so that only what changed is compiled."""
    if given := os.environ.get("ASSAYER_STUB"):
        return Path(given)
    folder = ROOT / "build" / "stub"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    configure = ["cmake", "-S", ROOT / "cuda", "-B", folder, *generator]
    for command in (configure, ["cmake", "--build", folder, "--target", "assayer_stub"]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    (built,) = (path for path in folder.glob("*assayer_stub.*") if path.suffix in {".so", ".dylib"})
    return built


@pytest.fixture(scope="session")
def stub(stub_path: Path) -> Library:
    return Library(stub_path)
