"""What the judge makes for one candidate's process: the walls that it is kept within, and a folder to write to."""

from __future__ import annotations

import contextlib
import functools
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from conformance.candidates.module import source
from conformance.candidates.sandbox.files import READABLE, rules
from conformance.candidates.sandbox.landlock import Rule
from conformance.candidates.sandbox.limits import most_memory
from conformance.candidates.sandbox.restrictions import Walls
from conformance.candidates.sandbox.secrecy import close_memory


class Room:
    """The walls of one process; its folder is there until it is closed."""

    def __init__(self, candidate: str, environment: Mapping[str, str] | None = None) -> None:
        """environment: variables of the process beside the judge's own."""
        close_memory()
        self._scratch = Path(tempfile.mkdtemp(prefix="assayer-"))
        self.walls = Walls(_rules(candidate, (environment or {}).get(READABLE, "")), str(self._scratch), most_memory())

    def close(self) -> None:
        """Remove the folder, whatever was left there: nested deeper than Python can walk, or closed to reading."""
        with contextlib.suppress(OSError):
            self._scratch.rmdir()
            return
        for command in (("chmod", "-R", "u+rwX"), ("rm", "-rf")):
            subprocess.run([*command, "--", self._scratch], capture_output=True, check=False)


@functools.lru_cache
def _rules(candidate: str, readable: str) -> tuple[Rule, ...]:
    module = source.read(candidate)
    return tuple(rules(module.path, module.root) if module else rules(Path(candidate), readable=readable))
