"""What a call did that no correct library does: of which kind it is, and the sentence that says it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Misdeed(StrEnum):
    """What no correct library does."""

    STRAY_WRITE = "wrote beside an argument"
    STRAY_READ = "read beside an argument"
    STRAY_ADDRESS = "touched memory that is no argument's"
    CHANGED_INPUT = "changed an input"
    UNWRITTEN = "left an output unwritten"
    VARIES = "gave other bits the second time"
    OTHER_STREAM = "left on the default stream what belongs on another"
    OTHER_CODE = "returned another code the second time"
    WROTE_REFUSED = "refused a call and wrote all the same"
    NOT_REFUSED = "did not refuse a call that it has to"
    OUT_OF_RANGE = "made something else than NaN of an index out of range, or changed the rest"
    OTHER_PLACE = "gave something else where an array began elsewhere"
    KEEPS = "kept something from one call to the next"
    GROWS = "took more memory with every call"
    LEAVES_CHANGED = "changed what belongs to its process"
    WRITES_LATE = "wrote an output after it had returned"
    DISTURBS = "disturbed a call on another thread"
    RACES = "raced within a call, in threads of its own"
    NO_MEMORY = "went wrong where there was no memory"
    UNLIKE_ITSELF = "gave other bits by another way through a step"


@dataclass(frozen=True)
class Finding:
    """One of them, with the argument and the place in its text."""

    kind: Misdeed
    text: str

    def __str__(self) -> str:
        return self.text
