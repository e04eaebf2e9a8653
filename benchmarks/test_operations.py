"""Each operation by itself: the reference, the C build and PyTorch, on the same arrays."""

from __future__ import annotations

from collections.abc import Callable

from .backends import Backends
from .cases import Case
from .interleaved import take_turns
from .sizes import Sizes
from .table import Table


def test_time(case: Case, backend: str, backends: Backends, timed: Callable[..., None]) -> None:
    timed(case.id, backend, backends.call(backend, case))


def test_ratio(case: Case, backends: Backends, sizes: Sizes, table: Table) -> None:
    calls = {name: backends.call(name, case) for name in backends.of(case.operation)}
    table.add_ratios(case.id, take_turns(calls, sizes.operations))
