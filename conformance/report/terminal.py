"""The report on a terminal: progress while it runs, a line for each operation, a block for each failure."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from conformance.exit_codes import PASSED
from conformance.judging.results import Result, Status

from .explanation import explained
from .record import Run, counted, verdict
from .steps import printed, show_steps
from .summary import Row, blocks, rows, tally

SHOWN = 10  # blocks; the rest is in the files
_EVERY_S = 5.0
_STYLES = {Status.PASS: "green", Status.WAIVED: "yellow", Status.TOO_FINE: "yellow", Status.NOT_RUN: "yellow"}


def followed(console: Console, batches: Iterable[list[Result]], total: int, every: bool = False) -> Iterator[Result]:
    """Yield results as they come, and show how far the run is: a bar on a terminal, else a line now and then.

    every: a line for each result instead.
    """
    done = failed = 0
    spoken = time.monotonic()
    columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[failed]}"))
    quiet = not console.is_terminal
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True, disable=quiet) as bar:
        task = bar.add_task("judging", total=total, failed="")
        for batch in batches:
            for result in batch:
                done += 1
                failed += result.status is not Status.PASS
                if every:
                    printed(console, _line(result))
                yield result
            bar.update(task, completed=done, total=max(total, done), failed=f"{failed} not passed" if failed else "")
            if quiet and not every and time.monotonic() - spoken > _EVERY_S:
                console.print(f"  {done} of about {total} judged, {failed} not passed")
                spoken = time.monotonic()


def _line(result: Result) -> str:
    share = f" {result.share:.3f}" if result.verdicts else ""
    return f"{_styled(result.status)} {escape(result.id)}{share}"


def _styled(status: Status) -> str:
    return f"[{_STYLES.get(status, 'red')}]{status}[/]"


def show(console: Console, run: Run, slowest: int = 0) -> None:
    """Print the report of a finished run, up to the closing lines."""
    table = rows(run.results)
    if judged := [row for row in table if row.was_run]:
        console.print(_operations(judged, repeated=not run.is_of_files))
    _show_not_run(console, table)
    show_steps(console, run)
    _show_failures(console, run)
    _show_waived(console, run.results)
    if fine := [result.id for result in run.results if result.status is Status.TOO_FINE]:
        printed(console, f"{_styled(Status.TOO_FINE)} for the declared precision: {escape(', '.join(fine))}")
    if loose := [row.operation for row in table if row.is_loose]:
        printed(console, f"Limits used to less than 0.1 % everywhere, perhaps too loose: {', '.join(loose)}")
    for result in sorted(run.results, key=lambda r: -r.seconds)[:slowest]:
        printed(console, f"{result.seconds:8.3f} s  {escape(result.id)}")


def close(console: Console, run: Run) -> None:
    """Print the closing lines: how many cases, how they ended, and the verdict."""
    printed(console, f"\n{tally(run.results, run.seconds)}")
    if run.device:
        printed(console, f"computed on {escape(run.device)}")
    if run.contract != Run.contract:
        printed(console, f"judged by the precision that it declares: {escape(run.contract)}")
    if run.text:
        printed(console, f"training steps on the embedded corpus, SHA-256 of its tokens {run.text[:16]}")
    if run.note:
        printed(console, escape(run.note))
    for note in run.notes:
        printed(console, escape(note))
    for problem in run.problems:
        printed(console, f"[red]{escape(problem)}[/]")
    colour = "green" if run.code == PASSED else "red"
    printed(console, f"[bold {colour}]{escape(verdict(run))}[/]")


def _operations(table: Sequence[Row], repeated: bool) -> Table:
    shown = Table(box=None, pad_edge=False, header_style="bold")
    shown.add_column("operation")
    for heading in ("passed", "error/limit", "rms", "bias", *(["repeats"] if repeated else [])):
        shown.add_column(heading, justify="right")
    for row in table:
        style = "" if row.passed == row.cases else "yellow" if row.is_fine else "red"
        numbers = (_number(row.share), _number(row.rms, 2), _number(row.bias, 2, "+"))
        if row.exact or not row.measured:
            numbers = ("exact" if row.exact else "", "", "")
        passed = f"{row.passed}/{row.cases}"
        repeats = ["yes" if row.deterministic else "NO"] if repeated else []
        shown.add_row(row.operation, passed, *numbers, *repeats, style=style)
    return shown


def _number(value: float, digits: int = 3, sign: str = "") -> str:
    """So many digits behind the point; a number that no honest error reaches by its size alone."""
    return f"{value:{sign}.{digits}f}" if abs(value) < 1000 else f"{value:{sign}.1e}"


def _show_not_run(console: Console, table: Sequence[Row]) -> None:
    """What a library does not export is one line, however much it is."""
    if missed := [row for row in table if row.not_run]:
        names = ", ".join(row.operation if not row.was_run else f"{row.operation} (in part)" for row in missed)
        cases = sum(row.not_run for row in missed)
        printed(
            console,
            f"{_styled(Status.NOT_RUN)} {counted(cases, 'case')} of {counted(len(missed), 'operation')}: {names}",
        )


def _show_failures(console: Console, run: Run) -> None:
    """One block for each operation that failed in the catalogue, and for each step's first wrong call."""
    failures = blocks(run.results)
    for result, count in failures[:SHOWN]:
        printed(console, f"\n[red bold]{result.status}[/] {escape(result.id)}")
        for line in explained(result, run):
            printed(console, f"  {escape(line)}")
        if count > 1:
            calls = "refusals " if result.is_refusal else ""
            printed(console, f"  and {count - 1} more {calls}of {result.part} did not pass")
    if rest := [result.part for result, _ in failures[SHOWN:]]:
        printed(console, f"\n... and {', '.join(rest)}; `--report FILE` shows all of it")


def _show_waived(console: Console, results: Sequence[Result]) -> None:
    by_waiver: dict[str, list[Result]] = {}
    for result in results:
        if result.status is Status.WAIVED:
            by_waiver.setdefault(result.waiver, []).append(result)
    for waiver, few in by_waiver.items():
        others = f" and {len(few) - 1} more" if len(few) > 1 else ""
        printed(console, f"{_styled(Status.WAIVED)} {escape(few[0].id)}{others}: {escape(waiver)}")
