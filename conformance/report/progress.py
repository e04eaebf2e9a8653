"""What is shown while a run goes on: how far it is, and each mistake when it is first met."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from conformance import operations
from conformance.judging.results import Result, Status

from .lines import printed, prose, styled
from .record import counted

HEARTBEAT_S = 60.0  # between two lines of progress where there is no terminal: so that no log falls silent


class Follower:
    """Passes results on as they come and says how the run goes, over one candidate or several.

    A failure is a line when it is the first of its kind: one for each operation, and reading that it matches, whatever
    the format and the candidate; one for all calls that were not refused, and for the steps that run by themselves.
    """

    def __init__(self, console: Console, every: bool = False, quiet: bool = False) -> None:
        """every: a line for each result; quiet: none for failures."""
        self.console, self.every, self.quiet = console, every, quiet
        self._met: set[tuple[str, str]] = set()

    def follow(self, batches: Iterable[list[Result]], total: int) -> Iterator[Result]:
        """Yield the results.  total: about how many there will be, 0 where that is not known."""
        done = wrong = absent = 0
        spoken = time.monotonic()
        with self._bar() as bar:
            task = bar.add_task("judging", total=total or None, ended="")
            for batch in batches:
                for result in batch:
                    done += 1
                    absent += not result.was_run
                    wrong += result.has_failed
                    self._say(result)
                    yield result
                bar.update(task, completed=done, total=max(total, done), ended=_ended(wrong, absent))
                if not self.console.is_terminal and time.monotonic() - spoken > HEARTBEAT_S:
                    printed(self.console, f"  {_far(done, total)}{', ' * bool(wrong or absent)}{_ended(wrong, absent)}")
                    spoken = time.monotonic()

    def _bar(self) -> Progress:
        columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[ended]}"))
        hidden = not self.console.is_terminal
        return Progress(*columns, TimeElapsedColumn(), console=self.console, transient=True, disable=hidden)

    def _say(self, result: Result) -> None:
        if self.every:
            share = f" {result.share:.3f}" if result.verdicts else ""
            printed(self.console, f"{styled(result.status)} {escape(result.id)}{share}")
        elif not self.quiet and result.has_failed and self._is_new(result):
            prose(self.console, f"{result.status} {result.id}: {result.headline}", style="dim")

    def _is_new(self, result: Result) -> bool:
        """Whether nothing like it was met; a failure that matches several readings is like those that match any."""
        readings = result.diagnosis.readings if result.diagnosis else ()
        kinds = {(_origin(result), name) for name in readings or [""]}
        known = bool(kinds & self._met)
        if result.is_sequence and not result.diagnosis:  # its calls are wrong alone
            known = any(origin == _origin(result) for origin, _ in self._met)
        self._met |= kinds
        return not known


def _origin(result: Result) -> str:
    """What a failure is of: its operation; all refusals are alike, and all steps in which a mistake is handed on."""
    if result.is_refusal:
        return "refused"
    if result.is_of_step and not result.part.endswith("/locked"):
        return "steps"
    return _base(result)


def _base(result: Result) -> str:
    known = result.operation in operations.OPERATIONS
    return operations.base_of(result.operation) if known else result.operation


def _far(done: int, total: int) -> str:
    return f"{done} of about {counted(total, 'case')} judged" if total >= done else f"{counted(done, 'case')} judged"


def _ended(wrong: int, absent: int) -> str:
    """How many did not pass; what was not run apart from it."""
    said = [f"{wrong} failed"] * bool(wrong) + [f"{absent} {Status.NOT_RUN.lower()}"] * bool(absent)
    return ", ".join(said)
