"""The backends, what is timed of them, and the table of ratios at the end."""

from __future__ import annotations

from .threads import THREADS  # isort: skip (before NumPy)

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from training.memory.heap import keep_freed_memory

from .agreement import Agreement, wrong_in_a_step
from .backends import REFERENCE, AbsentError, Backends
from .cases import Case
from .layers import timed_layers
from .machine import header
from .sizes import PUBLISHED, SHORT, SHORT_FORM, Sizes
from .table import Table
from .timed import timed as timed_cases

BACKENDS = pytest.StashKey[Backends]()
SIZES = pytest.StashKey[Sizes]()
TABLE = pytest.StashKey[Table]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--library", type=Path, help="the C build to time (default: the one in build/stub)")
    parser.addoption("--fresh-memory", action="store_true", help="leave the C library's malloc as it is, for all alike")
    parser.addoption("--peers", action="store_true", help="PyTorch too")
    parser.addoption("--short", action="store_true", help="small sizes and few rounds: that every benchmark runs")


def pytest_configure(config: pytest.Config) -> None:
    try:
        backends = Backends(config.getoption("--library"), peers=config.getoption("--peers"), threads=THREADS)
    except AbsentError as error:
        raise pytest.UsageError(str(error)) from error
    if not config.getoption("--fresh-memory"):
        keep_freed_memory()  # of the whole process, so that every backend has the same
    packages = ("numpy", *(["torch"] if backends.torch else []))
    sizes = SHORT if config.getoption("--short") else PUBLISHED
    about = header(backends.path, packages) + ([SHORT_FORM] if sizes == SHORT else [])
    config.stash[BACKENDS], config.stash[SIZES] = backends, sizes
    config.stash[TABLE] = Table(backends.names, about)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every operation, and every backend that has it: what a backend lacks is no test."""
    backends, asked = metafunc.config.stash[BACKENDS], metafunc.fixturenames
    known = timed_cases(metafunc.config.stash[SIZES]) if "id" in asked else {}
    if "id" in asked and "backend" in asked:
        pairs = [(id, name) for id in known for name in backends.of(id.split()[0])]
        metafunc.parametrize(("id", "backend"), pairs)
    elif "id" in asked:
        metafunc.parametrize("id", known)
    elif "layer_id" in asked:
        metafunc.parametrize("layer_id", timed_layers(metafunc.config.stash[SIZES]))
    elif "backend" in asked:
        metafunc.parametrize("backend", backends.names)


@pytest.fixture(scope="session")
def backends(request: pytest.FixtureRequest) -> Backends:
    return request.config.stash[BACKENDS]


@pytest.fixture(scope="session")
def sizes(request: pytest.FixtureRequest) -> Sizes:
    return request.config.stash[SIZES]


@pytest.fixture(scope="session")
def agreement(backends: Backends) -> Agreement:
    return Agreement(backends)


@pytest.fixture
def case(id: str, sizes: Sizes, agreement: Agreement) -> Case:
    """The case, if all backends agree with the reference on it; what one gets wrong is not worth timing."""
    known = timed_cases(sizes)[id]
    assert not any(agreement.disagreements(known.smaller()).values())
    return known.case()


@pytest.fixture(scope="session")
def agreed_step(backends: Backends, sizes: Sizes) -> None:
    """The same of the training step."""
    others = [name for name in backends.names if name != REFERENCE]
    assert not any(found := {name: wrong_in_a_step(backends, name, sizes) for name in others}.values()), found


@pytest.fixture
def table(request: pytest.FixtureRequest) -> Table:
    return request.config.stash[TABLE]


@pytest.fixture
def timed(benchmark: Any, table: Table, sizes: Sizes) -> Callable[..., None]:
    """Time a function as one backend's answer to one case."""

    def time(case: str, backend: str, function: Callable[[], Any], rounds: int = 0) -> None:
        benchmark.group = case
        if rounds or sizes == SHORT:
            benchmark.pedantic(function, rounds=rounds or SHORT.operations.most, warmup_rounds=1)
        else:
            benchmark(function)
        table.add_time(case, backend, benchmark.stats.stats.data)

    return time


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for line in config.stash[TABLE].lines():
        terminalreporter.write_line(line)
