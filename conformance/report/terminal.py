"""The report on a terminal: the verdict, what is wrong by cause, the table of operations, the training steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.markup import escape

from conformance.candidates.sandbox.restrictions import is_lacking
from conformance.exit_codes import PASSED
from conformance.judging.results import Result, Status

from .blocks import show_details, show_headline
from .findings import findings, joined
from .lines import listed, printed, styled
from .passed_over import passed_over
from .record import Run, counted, verdict
from .same_bits import same_bits
from .steps import show_steps
from .summary import rows, tally
from .table import show_table

FEW = 3  # mistakes that are shown in full at once; of more there is an overview first
SHOWN = 12  # mistakes that are shown in full at all; the rest is in the files


def show(console: Console, runs: Sequence[Run], every: bool = False, slowest: int = 0) -> None:
    """Print the report of finished runs, up to the closing lines.

    every: rows of operations that passed, and all failures of a mistake, too; slowest: so many cases by time.
    """
    console.print()
    _show_verdicts(console, runs)
    _show_beside(console, runs)
    found, several = findings(runs), len(runs) > 1
    for place, finding in enumerate(found, 1):
        if place == 1 or len(found) <= FEW:
            console.print()
        show_headline(console, place, finding, several)
        if len(found) <= FEW:
            show_details(console, finding, every)
    _show_judges_own(console, runs, every)
    console.print()
    show_table(console, runs, every)
    for few in _alike(runs):
        _show_not_run(console, few[0], f"{joined([run.candidate for run in few])}: " if several else "", every)
    for run in runs:
        show_steps(console, run, f"{run.candidate}: " if several else "", every)
        _show_excused(console, run.results, every)
        if every and (loose := [row.operation for row in rows(run.results) if row.is_loose]):
            printed(console, f"Limits used to less than 0.1 % everywhere, perhaps too loose: {', '.join(loose)}")
        if every and (said := passed_over(run.results)):
            printed(console, said)
        for result in sorted(run.results, key=lambda r: -r.seconds)[:slowest]:
            printed(console, f"{result.seconds:8.3f} s  {escape(result.id)}")
    for place, finding in enumerate(found[: None if every else SHOWN] if len(found) > FEW else [], 1):
        console.print()
        show_headline(console, place, finding, several)
        show_details(console, finding, every)


def close(console: Console, runs: Sequence[Run], alone: bool = False, every: bool = False) -> None:
    """Print the closing lines: how many cases, how they ended, and the verdict.

    alone: `show` was not called.  every: what a candidate was kept from, also where that is all.
    """
    console.print()
    for run in runs:
        of = f"{run.candidate}: " if len(runs) > 1 else ""
        on = f", computed on {run.device}" if run.device else ""
        printed(console, escape(f"{of}{tally(run.results, run.seconds)}{on}"))
        if run.contract != Run.contract:
            printed(console, f"judged by the precision that it declares: {escape(run.contract)}")
        if said_bits := same_bits(run.results):
            printed(console, f"{of}{said_bits}")
    for said in dict.fromkeys(run.isolation for run in runs if run.isolation and (every or is_lacking(run.isolation))):
        printed(console, escape(said))
    if any(run.text for run in runs):
        printed(console, f"training steps on the embedded corpus, SHA-256 of its tokens {runs[0].text[:16]}")
    for note in dict.fromkeys(run.note for run in runs if run.note):
        printed(console, escape(note))
    if alone:
        _show_beside(console, runs)
    _show_verdicts(console, runs)


def _show_beside(console: Console, runs: Sequence[Run]) -> None:
    """What is wrong beside the cases, and what is worth saying and is no failure."""
    for problem in dict.fromkeys(problem for run in runs for problem in run.problems):
        printed(console, f"[red]{escape(problem)}[/]")
    for note in dict.fromkeys(note for run in runs for note in run.notes):
        printed(console, escape(note))


def _show_verdicts(console: Console, runs: Sequence[Run]) -> None:
    for few in _alike(runs):
        colour = "green" if few[0].code == PASSED else "red"
        called = replace(few[0], candidate=joined([run.candidate for run in few]))
        printed(console, f"[bold {colour}]{escape(verdict(called))}[/]")


def _alike(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs of one library, with its threads in other orders, of which the same is to be said."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        library = run.candidate.partition(", ")[0]
        groups.setdefault((library, verdict(replace(run, candidate=library))), []).append(run)
    return list(groups.values())


def _show_judges_own(console: Console, runs: Sequence[Run], every: bool) -> None:
    """What says nothing against a candidate, and lets there be no verdict."""
    own = [result for run in runs for result in run.results if result.is_judges_own]
    for result in own[: None if every else SHOWN]:
        printed(console, f"{styled(result.status)} {escape(result.id)}: {escape(result.reason)}")


def _show_not_run(console: Console, run: Run, of: str, every: bool) -> None:
    """What a library does not export is one line, however much it is."""
    missed = [row for row in rows(run.results) if row.not_run]
    if missed:
        names = [row.operation if not row.was_run else f"{row.operation} (in part)" for row in missed]
        cases = f"{counted(sum(row.not_run for row in missed), 'case')} of {counted(len(missed), 'operation')}"
        printed(console, f"{escape(of)}{styled(Status.NOT_RUN)} {cases}: {listed(names, every)}")


def _show_excused(console: Console, results: Sequence[Result], every: bool) -> None:
    """Failures that an owner answers for, and what is declared: a precision some cases are too fine for, and sizes."""
    if fine := [result.id for result in results if result.status is Status.TOO_FINE]:
        cases = counted(len(fine), "case")
        printed(console, f"{styled(Status.TOO_FINE)} for the declared precision, {cases}: {listed(fine, every)}")
    if beyond := [result for result in results if result.status is Status.NOT_SUPPORTED]:
        parts = [f"{part} ({count})" for part, count in Counter(result.part for result in beyond).items()]
        cases = counted(len(beyond), "case")
        printed(console, f"{styled(Status.NOT_SUPPORTED)} as declared, {cases}: {listed(parts, every)}")
    by_waiver: dict[str, list[str]] = {}
    for result in results:
        if result.status is Status.WAIVED:
            by_waiver.setdefault(result.waiver, []).append(result.id)
    for waiver, ids in by_waiver.items():
        printed(console, f"{styled(Status.WAIVED)} {listed(ids, every)}: {escape(waiver)}")
