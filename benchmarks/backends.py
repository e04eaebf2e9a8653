"""What is timed: the reference in float32, a C library and, where it is asked for, PyTorch."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import reference
from bindings import Library

from .cases import TRAINING, Case, batch, initial_state
from .sizes import Sizes

BUILT = Path("build/stub")
REFERENCE, C, PYTORCH = "reference", "C", "PyTorch"


class AbsentError(Exception):
    """A backend that was asked for is not on this machine; says what brings it."""


class Backends:
    """The reference, a C library and perhaps PyTorch, by name. Raises AbsentError for one that is not there."""

    def __init__(self, library: Path | None, *, peers: bool, threads: int) -> None:
        self.path = find_library(library)
        self.library = Library(self.path)
        self.torch = _torch(threads) if peers else None
        self._in_torch = importlib.import_module("benchmarks.torch_operations") if peers else None

    @property
    def names(self) -> tuple[str, ...]:
        """Those that there are."""
        return (REFERENCE, C, *([PYTORCH] if self.torch else []))

    def of(self, operation: str) -> tuple[str, ...]:
        """Those that have the operation; PyTorch has none of some kinds."""
        return tuple(n for n in self.names if n != PYTORCH or hasattr(self._in_torch, operation))

    def operations(self, name: str) -> Any:
        """The namespace of the reference's or the library's operations."""
        return {REFERENCE: reference, C: self.library}[name]

    def call(self, name: str, case: Case) -> Callable[[], Any]:
        """The case on that backend, on arrays of its own."""
        if name == PYTORCH:
            prepare = getattr(self._in_torch, case.operation)
            prepared: Callable[[], Any] = prepare(*map(self._tensors, case.call()))
            return prepared
        function, arguments = getattr(self.operations(name), case.operation), case.call()
        return lambda: function(*arguments)

    def layer_in_torch(self, cases: Sequence[Case]) -> Callable[[], Any]:
        """A layer's operations, forward and then backward, as PyTorch computes them in one."""
        prepare = importlib.import_module("benchmarks.torch_layers").layer
        given = [(case.operation, {name: self._tensors(x) for name, x in case.arguments.items()}) for case in cases]
        prepared: Callable[[], Any] = prepare(given)
        return prepared

    def _tensors(self, value: Any) -> Any:
        if isinstance(value, list):
            return [*map(self._tensors, value)]
        assert self.torch
        return self.torch.from_numpy(value) if hasattr(value, "__array__") else value

    def peer(self, sizes: Sizes) -> tuple[Any, Any, Any]:
        """The training step in PyTorch, with tokens and targets for it."""
        from .torch_peer import TorchPeer

        tokens, targets = (self._tensors(array).long() for array in batch(sizes))
        return TorchPeer(sizes.config, TRAINING, initial_state(sizes).parameters), tokens, targets


def find_library(named: Path | None) -> Path:
    """Return the C library: the one that is named, or the one built here. Raises AbsentError where there is none."""
    built = [path for path in sorted(BUILT.glob("*assayer_stub.*")) if path.suffix in {".so", ".dylib", ".dll"}]
    if not (named or built):
        raise AbsentError(f"expected the C library in {BUILT}, found none: build it, or name one by --library")
    path = named or built[0]
    if not path.is_file():
        raise AbsentError(f"--library: expected a shared library, got {path}")
    return path


def _torch(threads: int) -> Any:
    """PyTorch, on as many threads as the others."""
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError as error:
        raise AbsentError("--peers: PyTorch is not installed (nox -s bench -- --peers installs it)") from error
    torch.set_num_threads(threads)
    return torch
