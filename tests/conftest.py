"""What all tests share: hypothesis's profile, and the builds under test."""

from __future__ import annotations

import atexit
import os
import tempfile
from pathlib import Path

import hypothesis
import pytest

# Before anything of ours is loaded: what tests prepare, some by a reference that is wrong on purpose, stays theirs.
_CACHE = tempfile.TemporaryDirectory(prefix="assayer-tests-")
atexit.register(_CACHE.cleanup)
os.environ["ASSAYER_CACHE"] = _CACHE.name

from bindings import Library, exported_symbols, read_header  # noqa: E402
from tests.tools import build_with_cmake, cmake_build  # noqa: E402

ROOT = Path(__file__).parents[1]

# A busy machine is slow, not wrong: no example has a deadline.
hypothesis.settings.register_profile("assayer", deadline=None)
hypothesis.settings.load_profile("assayer")


@pytest.fixture(scope="session")
def stub_path() -> Path:
    """The C build: that of $ASSAYER_STUB, or one made here by CMake.

    It is built in the folder that the sessions use, so that only what changed is compiled.
    """
    if given := os.environ.get("ASSAYER_STUB"):
        return Path(given)
    folder = build_with_cmake(ROOT / "build" / "stub", "assayer_stub")
    return cmake_build.built_library(folder, "assayer_stub")


@pytest.fixture(scope="session")
def stub(stub_path: Path) -> Library:
    return Library(stub_path)


@pytest.fixture(scope="session")
def emulated_path() -> Path:
    """The kernels on the emulated device, which take minutes to build: as the last session left them."""
    header = read_header()
    declared = {function.symbol for function in (*header.operations.values(), *header.services.values())}
    for path in (ROOT / "build" / "emulated").glob("*assayer_emulated.*"):
        if path.suffix in {".so", ".dylib"} and declared <= exported_symbols(path):
            return path
    pytest.skip("there are no emulated kernels, or only older ones: nox -s conformance builds them")


@pytest.fixture
def device_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulated device's arrays lie in memory of its own."""
    monkeypatch.setenv("ASSAYER_EMULATED_DEVICE_MEMORY", "1")
