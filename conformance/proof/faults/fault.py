"""A fault: one text of a library's sources exchanged for another, and what a report must say of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .manner import AS_IT_IS, Manner


class FaultError(ValueError):
    """A fault that cannot be planted; the message names it, its file, and what was expected there."""


@dataclass(frozen=True)
class Fault:
    """One mistake in one file of cuda/src or cuda/kernels, and the operations whose cases have to find it.

    says: a regular expression for the first line of a report's block on it; in small letters or capitals.
    """

    name: str
    operations: tuple[str, ...]
    file: str  # below cuda/src, or, where it ends in .cu or .cuh, below cuda/kernels
    old: str  # stands there exactly once
    new: str
    says: str
    helpers: str = ""  # what the new text needs: put at the head of the file
    limit_s: float = 20.0  # seconds that a call may take
    manner: Manner = AS_IT_IS  # in which it has to be found
    cases: str = ""  # of the operations' cases those that match, as -k does; all

    @property
    def is_of_a_kernel(self) -> bool:
        """Whether it is planted in the CUDA library."""
        return self.file.endswith((".cu", ".cuh"))

    def planted(self, sources: Mapping[str, str]) -> dict[str, str]:
        """Return the sources, by file, with the fault in them.  Raises FaultError."""
        if self.file not in sources:
            raise FaultError(f"fault {self.name!r}: expected one of {', '.join(sorted(sources))}, got {self.file!r}")
        count = sources[self.file].count(self.old)
        if count != 1:
            raise FaultError(f"fault {self.name!r}: expected its old text once in {self.file}, found it {count} times")
        if self.old == self.new:
            raise FaultError(f"fault {self.name!r}: its old and new text are the same")
        return {**sources, self.file: self.helpers + sources[self.file].replace(self.old, self.new)}

    def is_said_by(self, line: str) -> bool:
        """Whether a line tells what is wrong."""
        return re.search(self.says, line, re.IGNORECASE) is not None
