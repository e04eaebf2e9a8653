"""A finished run: what was judged, how, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from conformance.exit_codes import FAILED, HARNESS, PASSED
from conformance.judging.causes import Cause, causes
from conformance.judging.results import Result, Status, exit_code


@dataclass(frozen=True)
class Run:
    """One candidate's run; every report is written from it."""

    candidate: str  # what reports call it
    results: Sequence[Result] = ()
    library: str = ""  # where it lies
    seed: int = 0
    seconds: float = 0.0
    problems: Sequence[str] = ()  # what is wrong beside the cases: declarations that differ, waivers out of date
    whole: bool = True  # whether the whole catalogue was judged
    text: str = ""  # SHA-256 of the tokens that the training steps read
    date: str = ""
    floor: int = 1  # fewer cases than this are the judge's failure
    contract: str = "float32"  # what it declares of its precision: a shipped contract or a file
    option: str = "--library"  # by which the candidate is handed to the judge
    options: str = ""  # what was said beside it: the order of an emulated device's threads
    preload: str = ""  # under which sanitiser it was judged: address or thread
    device: str = ""  # what the candidate computes on, beside the host
    isolation: str = ""  # what the candidate was kept from, and what it could not be; nothing of files
    note: str = ""  # what a run of this kind cannot say
    notes: Sequence[str] = ()  # what is worth saying and is no failure
    absent: Sequence[str] = ()  # operations that were to be judged and are not exported
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)  # steps not run, and what each lacks
    exported: bool = False  # whether to judge what is exported was all that was asked

    @property
    def is_of_files(self) -> bool:
        """Whether the results came in files: nothing was called, and nothing twice."""
        return self.option == "--outputs"

    @property
    def code(self) -> int:
        """The exit code: what is not exported is a failure, unless only what is exported was asked for."""
        lacks = bool(self.absent) and not self.exported
        if lacks and not self.results:
            return FAILED
        code = exit_code(self.results, self.floor)
        return FAILED if code == PASSED and (self.problems or lacks) else code

    @property
    def bad(self) -> list[Result]:
        """What did not pass and is not waived."""
        return [result for result in self.results if not result.is_fine]

    @cached_property
    def causes(self) -> Sequence[Cause]:
        """What the failures come from."""
        return causes(self.results)


def verdict(run: Run) -> str:
    """Say in one sentence whether the candidate conforms."""
    total, bad = len(run.results), run.bad
    mistrusted = sum(result.status is Status.MISTRUSTED for result in bad)
    if mistrusted:
        return f"No verdict on {run.candidate}: {counted(mistrusted, 'case')} could not have told wrong from right."
    unjudged = sum(result.status is Status.NOT_JUDGED for result in bad)
    if unjudged:
        return f"No verdict on {run.candidate}: {counted(unjudged, 'case')} not judged, as the worker itself ran short."
    if total and all(result.status is Status.NOT_SUPPORTED for result in run.results):
        return f"No verdict on {run.candidate}: {not_supported(run.results)}, and nothing else was judged."
    if run.code == HARNESS:
        return f"No verdict on {run.candidate}: {counted(total, 'case')} judged, expected at least {run.floor}."
    lacks = f"; {_not_exported(run)}" if run.absent else ""
    lacks += f"; {said}" if (said := not_supported(run.results)) else ""
    if any(result.was_run for result in bad):
        rest = f"; {not_run(bad)}" if any(not result.was_run for result in bad) else ""
        return f"{run.candidate} does not conform: {_explained(run)}{rest}{lacks}."
    if bad:
        fine = sum(result.is_fine and result.status is not Status.NOT_SUPPORTED for result in run.results)
        others = f"; the other {fine} passed" if fine else ""
        return f"{run.candidate} does not conform: {not_run(bad)}{others}{lacks}."
    if run.problems:
        return f"{run.candidate} does not conform: {run.problems[0]}{_more(len(run.problems) - 1)}{lacks}."
    if run.absent and not run.exported:
        passed = f"; {counted(total, 'case')} of what is there passed (--exported asks no more)" if total else ""
        return f"{run.candidate} does not conform: {_not_exported(run)}{passed}."
    return _conforms(run) + f"{lacks}."


def _conforms(run: Run) -> str:
    total = len(run.results)
    waived = sum(result.status is Status.WAIVED for result in run.results)
    scope = "conforms" if run.whole else "conforms as far as it was judged"
    scope = "conforms in what it exports" if run.whole and run.absent else scope
    exception = f", {waived} of them waived" if waived else ""
    fine = sum(result.status is Status.TOO_FINE for result in run.results)
    exception += f", {fine} of them too fine for the precision it declares" if fine else ""
    total -= sum(result.status is Status.NOT_SUPPORTED for result in run.results)
    return f"{run.candidate} {scope}: {counted(total, 'case')}{exception or ' passed'}"


def not_supported(results: Iterable[Result]) -> str:
    """Say how many cases are of sizes that are declared not to be supported; nothing where none is."""
    count = sum(result.status is Status.NOT_SUPPORTED for result in results)
    return f"{counted(count, 'case')} not supported, as declared" if count else ""


def _not_exported(run: Run) -> str:
    return f"{counted(len(run.absent), 'operation')} not exported"


def not_run(results: Sequence[Result]) -> str:
    """Say how many of the results were not run, and of how many operations."""
    missed = [result for result in results if not result.was_run]
    operations = {result.operation for result in missed}
    return f"{counted(len(missed), 'case')} of {counted(len(operations), 'operation')} not run"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: 1 case, 2 cases."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _more(count: int) -> str:
    return f" (and {count} more)" if count else ""


def _explained(run: Run) -> str:
    """How many mistakes explain how many failures; calls that were not refused apart from them."""
    refusals = sum(result.is_refusal for cause in run.causes for result in cause.results)
    mistakes = [cause for cause in run.causes if not all(result.is_refusal for result in cause.results)]
    if not mistakes:
        computed = "what it computes is right; " if any(not result.is_refusal for result in run.results) else ""
        return f"{computed}{counted(refusals, 'call')} that it has to refuse did not pass"
    failures = sum(cause.count for cause in mistakes)
    ran = counted(sum(result.was_run for result in run.results), "case")
    verb = "explains" if len(mistakes) == 1 else "explain"
    said = f"{counted(len(mistakes), 'mistake')} {verb} {counted(failures, 'failure')} in {ran}"
    return said + (f"; {counted(refusals, 'call')} that it has to refuse did not pass" if refusals else "")
