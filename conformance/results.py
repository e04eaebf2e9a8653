"""What came of each case, and what a run's exit code says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from .verdict import Verdict


class Status(StrEnum):
    """How a case can end.  Only PASS counts as passed."""

    PASS = "PASS"
    FAIL = "FAIL"
    MISTRUSTED = "MISTRUSTED"  # the case could not have told a wrong result from a right one
    CRASHED = "CRASHED"
    TIMED_OUT = "TIMED OUT"
    NOT_RUN = "NOT RUN"


@dataclass(frozen=True)
class Result:
    """One case judged; `reason` is the first line a person reads where it did not pass."""

    id: str
    operation: str
    status: Status
    reason: str = ""
    verdicts: tuple[Verdict, ...] = ()
    findings: tuple[str, ...] = ()
    detail: str = ""
    seconds: float = 0.0
    repeat: str = ""  # the command that runs exactly this case again
    step: dict[str, str] = field(default_factory=dict)  # where in a training step it stands, if it does

    @property
    def share(self) -> float:
        """The largest share of its limit that any element used."""
        return max((v.share for v in self.verdicts), default=0.0)


PASSED, FAILED, HARNESS, NO_DEVICE = 0, 1, 2, 3


def exit_code(results: Iterable[Result], floor: int = 1) -> int:
    """0 all passed; 1 the candidate failed or lacks something; 2 the judge failed (mistrusted, too few cases)."""
    statuses = [result.status for result in results]
    if len(statuses) < max(floor, 1) or Status.MISTRUSTED in statuses:
        return HARNESS
    return PASSED if all(s is Status.PASS for s in statuses) else FAILED
