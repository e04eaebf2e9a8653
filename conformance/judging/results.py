"""What came of each case, and what a run's exit code says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from conformance import ids
from conformance.candidates.finding import Finding, Misdeed
from conformance.exit_codes import FAILED, HARNESS, PASSED

from .diagnoses import Diagnosis
from .evidence import Evidence
from .verdict import Verdict


class Status(StrEnum):
    """How a case can end.  Only PASS counts as passed."""

    PASS = "PASS"
    FAIL = "FAIL"
    MISTRUSTED = "MISTRUSTED"  # the case could not have told a wrong result from a right one
    NOT_JUDGED = "NOT JUDGED"  # the worker ran short of memory, threads, files or time itself
    CRASHED = "CRASHED"
    TIMED_OUT = "TIMED OUT"
    NOT_RUN = "NOT RUN"
    TOO_FINE = "TOO FINE"  # at the precision that the candidate declares the case cannot tell right from wrong
    NOT_SUPPORTED = "NOT SUPPORTED"  # refused, at sizes that the candidate declares not to support
    WAIVED = "WAIVED"  # did not pass, and somebody answers for it until a date


JUDGES_OWN = (Status.MISTRUSTED, Status.NOT_JUDGED)


@dataclass(frozen=True)
class Result:
    """One case judged; `reason` is the first line a person reads where it did not pass."""

    id: str
    operation: str
    status: Status
    reason: str = ""
    verdicts: tuple[Verdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    detail: str = ""
    seconds: float = 0.0
    diagnosis: Diagnosis | None = None  # what the error looks like
    waiver: str = ""  # who answers for it, why and until when
    tensors: Mapping[str, str] = field(default_factory=dict)  # what its outputs are to a training step
    repro: str = ""  # the file that holds the call, where it is kept
    evidence: Evidence | None = None  # what its pictures are drawn from, where they are kept

    @property
    def headline(self) -> str:
        """What it looks like, in one line; where that is not known, what went wrong."""
        return self.diagnosis.text if self.diagnosis else self.reason

    @property
    def repeats(self) -> bool:
        """Whether both runs of the call gave the same bits."""
        return not any(finding.kind is Misdeed.VARIES for finding in self.findings)

    @property
    def share(self) -> float:
        """The largest share of its limit that any element used."""
        return max((v.share for v in self.verdicts), default=0.0)

    @property
    def is_fine(self) -> bool:
        """Whether it stands in nobody's way: passed, or waived, or declared to be beyond the candidate."""
        return self.status in (Status.PASS, Status.WAIVED, Status.TOO_FINE, Status.NOT_SUPPORTED)

    @property
    def was_run(self) -> bool:
        """Whether there is anything to say of it."""
        return self.status is not Status.NOT_RUN

    @property
    def has_failed(self) -> bool:
        """Whether it was run, and stands in somebody's way."""
        return self.was_run and not self.is_fine

    @property
    def is_judges_own(self) -> bool:
        """Whether it is the judge's own failure, and says nothing of the candidate."""
        return self.status in JUDGES_OWN

    @property
    def is_of_step(self) -> bool:
        """Whether it is of a training step rather than of the catalogue."""
        return ids.is_of_step(self.id)

    @property
    def is_refusal(self) -> bool:
        """Whether it is of a call that the library had to refuse."""
        return ids.is_refusal(self.id)

    @property
    def is_sequence(self) -> bool:
        """Whether it is of several calls in a row."""
        return ids.is_sequence(self.id)

    @property
    def is_full(self) -> bool:
        """Whether it is of a call at full size."""
        return ids.is_full(self.id)

    @property
    def part(self) -> str:
        """What it belongs to: its operation, or its training step."""
        return ids.step_of(self.id) if self.is_of_step else self.operation


def exit_code(results: Iterable[Result], floor: int = 1) -> int:
    """0 all passed or waived; 1 the candidate failed or lacks something; 2 the judge failed.

    It has failed where a case is mistrusted or was not judged, and where there are too few.

    Where nothing but calls of sizes that are not supported was judged, nothing was.
    """
    found = list(results)
    if len(found) < max(floor, 1) or any(result.is_judges_own for result in found):
        return HARNESS
    if all(result.status is Status.NOT_SUPPORTED for result in found):
        return HARNESS
    return PASSED if all(result.is_fine for result in found) else FAILED


def worst(verdicts: tuple[Verdict, ...]) -> Verdict | None:
    """Return the verdict to show first: one that failed, else the one that used most of its limit."""
    return max(verdicts, key=lambda v: (not v.passed, v.share), default=None)
