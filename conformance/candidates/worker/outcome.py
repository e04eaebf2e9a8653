"""What came of one call in a worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from conformance.candidates.finding import Finding

Status = Literal["done", "raised", "mishap", "crashed", "timed out", "missing"]


@dataclass
class Outcome:
    """`status`: "done" (`code` is what the operation returned), "raised" (a Python function did), "mishap"
    (the worker itself ran short of something: nothing was judged), "crashed", "timed out", or "missing" (the library
    does not export it).

    outputs   arrays by the header's names as the first run left them, also where it was refused: updated ones
              included, workspaces not; lists of arrays are lists; empty where the first run did not end
    findings  what it did that no correct library does, in the order of arguments
    detail    why there are no outputs, and the end of what the library printed
    value     what a Python function returned
    again     outputs as the second run left them; None where it is not known, the very same where they do not differ
    elsewhere outputs as the third run left them, where it was made: other bits may be as right
    raised    the line that says by what a module's function has refused the call
    """

    status: Status
    code: int | None = None
    outputs: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    detail: str = ""
    value: Any = None
    again: dict[str, Any] | None = None
    elsewhere: dict[str, Any] = field(default_factory=dict)
    raised: str = ""
