"""A fault: one text of a library's sources exchanged for another, and what a report must say of it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .run_mode import AS_IT_IS, RunMode

FRAMEWORK = "framework/"  # how the files of the example of a framework begin


class FaultError(ValueError):
    """A fault that cannot be planted; the message names it, its file, and what was expected there."""


class RefusedError(FaultError):
    """The compiler or the linker refuses a text; the message ends with what it says."""


@dataclass(frozen=True)
class Fault:
    """One mistake in one file of cuda/src, cuda/kernels or examples/framework, and the operations that have to show it.

    says: a regular expression for the first line of a report's block on it; in small letters or capitals.
    """

    name: str
    operations: tuple[str, ...]
    file: str  # below cuda/src, or, where it ends in .cu or .cuh, below cuda/kernels, or framework/...
    old: str  # stands there exactly once, however it is laid out in lines and spaces
    new: str
    says: str
    helpers: str = ""  # what the new text needs: put at the head of the file
    limit_s: float = 20.0  # seconds that a call may take
    run_mode: RunMode = AS_IT_IS  # in which it has to be found
    cases: str = ""  # of the operations' cases those that match, as -k does; all
    contract: str = ""  # a shipped one, by which it is judged; the header's
    unnamed: str = ""  # where it is known that the first line does not say so: what it says instead, or why

    @property
    def is_of_a_kernel(self) -> bool:
        """Whether it is planted in the CUDA library."""
        return self.file.endswith((".cu", ".cuh"))

    @property
    def is_of_a_framework(self) -> bool:
        """Whether it is planted in the example of a framework behind a map."""
        return self.file.startswith(FRAMEWORK)

    def planted(self, sources: Mapping[str, str]) -> dict[str, str]:
        """Return the sources, by file, with the fault in them.  Raises FaultError."""
        if self.file not in sources:
            raise FaultError(f"fault {self.name!r}: expected one of {', '.join(sorted(sources))}, got {self.file!r}")
        source = sources[self.file]
        places = [place.span() for place in _pattern(self.old).finditer(source)]
        if len(places) != 1:
            found = f"found it {len(places)} times"
            raise FaultError(f"fault {self.name!r}: expected its old text once in {self.file}, {found}")
        if _tokens(self.old) == _tokens(self.new):
            raise FaultError(f"fault {self.name!r}: its old and new text are the same")
        [(start, end)] = places
        return {**sources, self.file: self.helpers + source[:start] + self.new + source[end:]}

    def is_said_by(self, line: str) -> bool:
        """Whether a line tells what is wrong."""
        return re.search(self.says, line, re.IGNORECASE) is not None


def _tokens(code: str) -> list[str]:
    """The words and marks of a piece of C, without the white space that a formatter may change."""
    return re.findall(r"\w+|[^\w\s]", code)


def _pattern(code: str) -> re.Pattern[str]:
    """What finds a piece of C in any layout: white space may stand between any two tokens, and must between words."""
    tokens = _tokens(code)
    gaps = (r"\s+" if a[-1].isalnum() and b[0].isalnum() else r"\s*" for a, b in itertools.pairwise(tokens))
    return re.compile("".join(part for pair in zip(map(re.escape, tokens), [*gaps, ""], strict=True) for part in pair))
