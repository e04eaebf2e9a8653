"""Each operation by itself: the reference, the C build and PyTorch in turn, on the same arrays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .backends import Backends
from .cases import LARGE, large, of_a_step
from .table import BACKENDS


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("id", [*LARGE, *of_a_step()])
def test_operation(id: str, backend: str, backends: Backends, timed: Callable[..., None]) -> None:
    case = large(id) if id in LARGE else of_a_step()[id]
    call = backends.call(backend, case)
    if call is not None:
        timed(id, backend, call)
