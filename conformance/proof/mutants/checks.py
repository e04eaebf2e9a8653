"""What kills mutants of the reference, each by itself: a golden that is made anew, a test that pytest has collected."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Protocol

import pytest
from _pytest.runner import runtestprotocol

from .bytecode import Key, key_of


class Check(Protocol):
    """Something of a name that fails, or does not."""

    @property
    def name(self) -> str: ...
    def failure(self, following: Check | None) -> str:
        """Return what fails, or nothing; following: what is run next."""


@dataclass(frozen=True)
class Golden:
    """A golden, by its id."""

    id: str

    @property
    def name(self) -> str:
        return f"golden {self.id}"

    def failure(self, following: Check | None) -> str:
        from .replay import change  # here, where the reference may be loaded

        return change(self.id)


@dataclass(frozen=True)
class Test:
    """A test with its fixtures; those that the next one needs, too, stay."""

    item: pytest.Item

    @property
    def name(self) -> str:
        return self.item.nodeid

    def failure(self, following: Check | None) -> str:
        after = following.item if isinstance(following, Test) else None
        reports = runtestprotocol(self.item, log=False, nextitem=after)
        failed = [str(report.longrepr) for report in reports if report.failed]
        return next((line for text in failed for line in reversed(text.splitlines()) if line.strip()), "")[:200]


@dataclass(frozen=True)
class Known:
    """How long a check takes, and the functions of the reference that it calls."""

    seconds: float
    called: frozenset[Key]


@contextmanager
def calls(folder: str) -> Iterator[set[CodeType]]:
    """Collect the functions of modules below a folder that are called meanwhile."""
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(folder):
            found.add(frame.f_code)

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


def learnt(checks: Sequence[Check], folder: str) -> dict[str, Known]:
    """Run every check once.  Raises ValueError where one fails."""
    known = {}
    for check in checks:
        started = time.perf_counter()
        with calls(folder) as called:
            said = check.failure(None)
        if said:
            raise ValueError(f"{check.name}: {said}")
        known[check.name] = Known(time.perf_counter() - started, frozenset(map(key_of, called)))
    return known
