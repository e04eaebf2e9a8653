"""What is timed: the reference in float32, a C library, PyTorch; those that are missing say so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reference
from bindings import Library
from reference.model.config import BENCH

from .cases import TRAINING, Case, batch, initial_state

BUILT = Path("build/stub")


class Backends:
    """The reference, the C library and PyTorch; asking for one that is not there skips the test."""

    def __init__(self, library: Path | None, threads: int) -> None:
        self.threads = threads
        self._path = library or next(iter(sorted(BUILT.glob("*assayer_stub.so"))), None)
        self._library: Library | None = None

    def operations(self, backend: str) -> Any:
        """The namespace of the reference's or the library's operations."""
        if backend == "reference":
            return reference
        if self._path is None:
            pytest.skip(f"no C library in {BUILT}: build it, or name one by --library")
        self._library = self._library or Library(self._path)
        return self._library

    def call(self, backend: str, case: Case) -> Callable[[], Any] | None:
        """The case on that backend, on arrays of its own; None where PyTorch has no operation of that kind."""
        if backend == "PyTorch":
            return self._call_torch(case)
        function, arguments = getattr(self.operations(backend), case.operation), case.call()
        return lambda: function(*arguments)

    def _call_torch(self, case: Case) -> Callable[[], Any] | None:
        torch = self.torch()
        from . import torch_operations

        def tensor(value: Any) -> Any:
            if isinstance(value, list):
                return [torch.from_numpy(array) for array in value]
            return torch.from_numpy(value) if hasattr(value, "__array__") else value

        prepare = getattr(torch_operations, case.operation, None)
        call: Callable[[], Any] | None = prepare and prepare(*map(tensor, case.call()))
        return call

    def peer(self) -> tuple[Any, Any, Any]:
        """The training step in PyTorch, with tokens and targets for it."""
        torch = self.torch()
        from .torch_peer import TorchPeer

        tokens, targets = (torch.from_numpy(array).long() for array in batch())
        return TorchPeer(BENCH, TRAINING, initial_state().parameters), tokens, targets

    def torch(self) -> Any:
        """PyTorch, on as many threads as the others."""
        torch = pytest.importorskip("torch", reason="PyTorch is not installed (nox -s bench -- --peers installs it)")
        torch.set_num_threads(self.threads)
        return torch
