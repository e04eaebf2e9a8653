"""The small library, right and wrong; and a memory of what failed that is each test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.commands.run import last_failed
from tests.compiler import compile_library
from tests.conformance.commands.small import FUNCTIONS, MATH


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_failed, "FILE", tmp_path / "last-failed.json")


@pytest.fixture
def right(tmp_path: Path) -> str:
    return str(compile_library(FUNCTIONS.replace("SIGN", "+"), tmp_path, "right", *MATH))


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    return str(compile_library(FUNCTIONS.replace("SIGN", "-"), tmp_path, "wrong", *MATH))
