"""What the tests of the bindings share."""

from __future__ import annotations

import pytest

from bindings import Header, read_header
from tests.bindings.spy import Spy, source
from tests.compiler import compile_library


@pytest.fixture(scope="session")
def header() -> Header:
    return read_header()


@pytest.fixture(scope="session")
def spy(header: Header, tmp_path_factory: pytest.TempPathFactory) -> Spy:
    """A library that exports every operation, computes nothing and remembers its arguments."""
    return Spy(compile_library(source(header), tmp_path_factory.mktemp("spy")))
