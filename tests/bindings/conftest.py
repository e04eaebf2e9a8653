"""What the tests of the bindings share."""

from __future__ import annotations

from pathlib import Path

import pytest

from bindings import Header, Library, read_header
from tests.bindings.spy import Spy, source
from tests.compiler import compile_device, compile_library


@pytest.fixture(scope="session")
def header() -> Header:
    return read_header()


@pytest.fixture(scope="session")
def spy(header: Header, tmp_path_factory: pytest.TempPathFactory) -> Spy:
    """A library that exports every operation, computes nothing and remembers its arguments."""
    return Spy(compile_library(source(header), tmp_path_factory.mktemp("spy")))


@pytest.fixture(scope="session")
def device_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_device(tmp_path_factory.mktemp("device"))


@pytest.fixture
def device(device_path: Path) -> Library:
    """A library on a device whose addresses are none of the host's."""
    return Library(device_path)


@pytest.fixture(params=["device", "host"])
def library(request: pytest.FixtureRequest, device: Library, spy: Spy) -> Library:
    return spy.library if request.param == "host" else device
