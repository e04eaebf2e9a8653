"""What came of a mutant."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .mutator import Mutant


class Verdict(StrEnum):
    """How a mutant can end; the first three count, the others are no mutants."""

    KILLED = "killed"
    SURVIVED = "survived"
    PASSED = "passed"  # its likeliest cases; it awaits a second look
    REFUSED = "refused"  # by the compiler, the linker or the interpreter
    SAME = "same"  # compiled to the code that stands there unchanged
    REPEATED = "repeated"  # compiled to the code of a mutant that has been judged
    UNJUDGED = "unjudged"  # what runs it, this machine has not got


@dataclass(frozen=True)
class Trial:
    """A mutant and its verdict.

    by: the case or check that killed it.  said: how that failed; of a survivor, what was asked.  code: a digest of what
    it compiles to, where it compiles.
    """

    mutant: Mutant
    verdict: Verdict
    by: str = ""
    said: str = ""
    code: str = ""
    seconds: float = 0.0

    @property
    def counts(self) -> bool:
        """Whether it is of a mutant that differs from all others."""
        return self.verdict in (Verdict.KILLED, Verdict.SURVIVED, Verdict.PASSED)
