"""What the judge makes for one candidate's process: the walls that it is kept within, and a folder to write to."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from conformance.candidates.module import source
from conformance.candidates.sandbox.files import READABLE, rules
from conformance.candidates.sandbox.landlock import Rule
from conformance.candidates.sandbox.limits import most_memory
from conformance.candidates.sandbox.restrictions import Walls
from conformance.candidates.sandbox.secrecy import close_memory
from conformance.scratch import Scratch


class Room:
    """The walls of one process; its folder is there until it is closed."""

    def __init__(self, candidate: str, environment: Mapping[str, str] | None = None) -> None:
        """environment: variables of the process beside the judge's own."""
        close_memory()
        self._scratch = Scratch()
        rules = _rules(candidate, (environment or {}).get(READABLE, ""))
        self.walls = Walls(rules, str(self._scratch.path), most_memory())

    def close(self) -> None:
        """Remove the folder."""
        self._scratch.close()


@functools.lru_cache
def _rules(candidate: str, readable: str) -> tuple[Rule, ...]:
    module = source.read(candidate)
    return tuple(rules(module.path, module.root) if module else rules(Path(candidate), readable=readable))
