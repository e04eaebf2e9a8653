"""The test programs, compiled once for each mode that is asked for."""

from __future__ import annotations

import pytest

from tests.emulator.programs import Programs, skip_without


def _programs(mode: str, folders: pytest.TempPathFactory) -> Programs:
    skip_without(mode, folders.mktemp(mode))
    return Programs(mode)


@pytest.fixture(scope="session")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return _programs("fast", tmp_path_factory)


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return _programs("address", tmp_path_factory)


@pytest.fixture(scope="session")
def thread(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return _programs("thread", tmp_path_factory)
