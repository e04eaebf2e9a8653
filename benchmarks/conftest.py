"""The backends, the timer, and the table of ratios at the end."""

from __future__ import annotations

from .threads import THREADS  # isort: skip (before NumPy)

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from training.memory.heap import keep_freed_memory

from .backends import Backends
from .table import Table, cores_in_use

TABLE = pytest.StashKey[Table]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--library", type=Path, help="the C build to time (default: the one in build/stub)")
    parser.addoption("--fresh-memory", action="store_true", help="leave the C library's malloc as it is, for all alike")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--fresh-memory"):
        keep_freed_memory()  # of the whole process, so that every backend has the same
    config.stash[TABLE] = Table(busy=cores_in_use())


@pytest.fixture(scope="session")
def backends(request: pytest.FixtureRequest) -> Backends:
    return Backends(request.config.getoption("--library"), THREADS)


@pytest.fixture
def timed(benchmark: Any, request: pytest.FixtureRequest) -> Callable[..., None]:
    """Time a function as one backend's answer to one case; it goes into the table too."""

    def time(case: str, backend: str, function: Callable[[], Any], rounds: int = 0, tokens: int = 0) -> None:
        benchmark.group = case
        if rounds:
            benchmark.pedantic(function, rounds=rounds, warmup_rounds=2)
        else:
            benchmark(function)
        request.config.stash[TABLE].add(case, backend, benchmark.stats.stats.data, tokens)

    return time


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Put a line below the table."""
    return request.config.stash[TABLE].notes.append


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for line in config.stash[TABLE].lines():
        terminalreporter.write_line(line)
