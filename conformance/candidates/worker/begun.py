"""Processes that are started before their worker: a library opens while the judge loads what it judges by."""

from __future__ import annotations

import contextlib
from pathlib import Path

from bindings import LibraryError, exported_symbols

from .arena import Arena
from .process import Process

THREADS = 2
_begun: dict[Path, tuple[Arena, Process]] = {}  # they end with this process


def begin(path: Path) -> None:
    """Start the process of the library at `path` with THREADS threads, for whoever takes it over.

    Of a file that exports nothing like an operation nothing runs; that it cannot be opened is said by its worker.
    """
    path = path.resolve()
    with contextlib.suppress(LibraryError, OSError):
        if path not in _begun and any(symbol.startswith("cuda_") for symbol in exported_symbols(path)):
            arena = Arena()
            _begun[path] = arena, Process(str(path), arena, THREADS, {})


def take_over(path: Path) -> tuple[Arena, Process] | None:
    """Return the process that was begun for the library, and the arena that it shares; None where there is none."""
    return _begun.pop(path.resolve(), None)


def end_begun() -> None:
    """End the processes that nobody has taken over."""
    for arena, process in _begun.values():
        process.close()
        arena.close()
    _begun.clear()
