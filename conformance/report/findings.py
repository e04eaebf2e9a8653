"""What is wrong, grouped by cause: a mistake that several candidates share is one finding that names them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from conformance import operations
from conformance.judging.causes import FLOAT32, OUT_OF_RANGE, Cause

from .record import Run, counted

REFUSAL = "A call that breaks the declaration (a null array, a negative size) has to return its code and write nothing."
INDEX = (
    "A device build, which cannot refuse it, writes NaN in place of what it would have produced, and the rest as ever."
)


@dataclass(frozen=True)
class Finding:
    """One cause, as the first candidate that has it shows it."""

    cause: Cause
    run: Run
    seen_by: str  # every candidate that has it

    @property
    def is_refusal(self) -> bool:
        """Whether it is of calls that had to be refused."""
        return all(result.is_refusal for result in self.cause.results)

    @property
    def why(self) -> str:
        """The reading's own sentence; of refusals what they are; else nothing."""
        if self.is_refusal:
            return INDEX if self.cause.sentence == OUT_OF_RANGE else REFUSAL
        return self.cause.reading.why if self.cause.reading else ""

    @property
    def is_of_steps(self) -> bool:
        """Whether no case of the catalogue shows it: training steps and runs alone do."""
        return all(result.is_of_step for result in self.cause.results)

    @property
    def where(self) -> str:
        """The operations that are wrong themselves."""
        names = list(self.cause.operations)
        if self.is_refusal and len(names) > 1:
            return counted(len(names), "operation")
        return ", ".join(name.replace("training_step", "training steps") for name in names)

    @property
    def extent(self) -> str:
        """How far it reaches: cases of its own by format, and results of training steps that follow from it."""
        cases = sum(not result.is_of_step for result in self.cause.results)
        later, steps = self.cause.count - cases, self.cause.steps
        said = []
        if cases:
            in_formats = f" in {_and(self.cause.formats)}" if self.cause.formats != (FLOAT32,) else ""
            said.append(counted(cases, "call" if self.is_refusal else "case") + in_formats)
        if later:
            where = steps[0] if len(steps) == 1 else f"{len(steps)} training steps and runs"
            said.append(f"{counted(later, 'result')} in {where}")
        return "; ".join(said)


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def findings(runs: Sequence[Run]) -> list[Finding]:
    """Return what is wrong with the candidates, each mistake once: most failures first, refusals last."""
    found: dict[Hashable, list[tuple[Run, Cause]]] = {}
    for run in runs:
        for cause in run.causes:
            found.setdefault(_identity(cause), []).append((run, cause))
    shared = [Finding(few[0][1], few[0][0], joined([run.candidate for run, _ in few])) for few in found.values()]
    return sorted(shared, key=lambda finding: (finding.is_refusal, -finding.cause.count))


def _identity(cause: Cause) -> Hashable:
    """What is the same mistake in two candidates: its numbers need not be."""
    if any(result.is_refusal for result in cause.results):
        return cause.sentence
    part = "" if cause.operation in operations.OPERATIONS else cause.plainest.part
    return cause.operation, cause.reading.name if cause.reading else "", part


def joined(candidates: Sequence[str]) -> str:
    """Return candidates in a line: a library's name once, and in which orders its threads ran."""
    orders: dict[str, list[str]] = {}
    for name in candidates:
        library, _, order = name.partition(", ")
        orders.setdefault(library, []).append(order)
    return ", ".join(f"{name} ({', '.join(few)})" if any(few) else name for name, few in orders.items())
