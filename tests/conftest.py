"""What all tests share: hypothesis's profile, and the builds under test."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import hypothesis
import pytest

# Before anything of ours is loaded: what tests prepare, some by a reference that is wrong on purpose, stays theirs.
_CACHE = tempfile.TemporaryDirectory(prefix="assayer-tests-")
os.environ["ASSAYER_CACHE"] = _CACHE.name
# Tests run beside each other: BLAS keeps to one thread, and OpenMP's threads sleep while they wait for each other.
for _name, _value in {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}.items():
    os.environ.setdefault(_name, _value)

from bindings import Library  # noqa: E402
from conformance.commands.options import shard  # noqa: E402
from tests.parts import part_of  # noqa: E402
from tests.tools import CXX, build_with_cmake, cmake_build, works  # noqa: E402

ROOT = Path(__file__).parents[1]

# A busy machine is slow, not wrong: no example has a deadline.
hypothesis.settings.register_profile("assayer", deadline=None)
hypothesis.settings.load_profile("assayer")


def pytest_addoption(parser: pytest.Parser) -> None:
    part = "of the slow tests, and of the parameters of a test that has some, the K-th of N parts, as 2/3"
    parser.addoption("--part", type=shard, default=(1, 1), metavar="K/N", help=part)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow, built = ({item.nodeid for item in items if item.get_closest_marker(mark)} for mark in ("slow", "built"))
    chosen = part_of([item.nodeid for item in items], slow, built, *config.getoption("--part"))
    left_out = [item for item in items if item.nodeid not in chosen]
    if left_out:
        items[:] = [item for item in items if item.nodeid in chosen]
        config.hook.pytest_deselected(items=left_out)


def pytest_unconfigure() -> None:
    _CACHE.cleanup()


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
    """The kernels on the emulated device, built in the folder that the sessions use."""
    if not works(*CXX):
        pytest.skip("no C++ compiler that works")
    folder = build_with_cmake(ROOT / "build" / "emulated", "assayer_emulated")
    return cmake_build.built_library(folder, "assayer_emulated")


@pytest.fixture
def device_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulated device's arrays lie in memory of its own."""
    monkeypatch.setenv("ASSAYER_EMULATED_DEVICE_MEMORY", "1")
