"""The report on a terminal: progress while it runs, a line for each operation, a block for each failure."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from conformance.calls import worst
from conformance.results import Result, Status

from .summary import counts, courses, is_step, rows

SHOWN = 10  # blocks; the rest is in the files
_EVERY_S = 5.0


def followed(console: Console, batches: Iterable[list[Result]], total: int) -> Iterator[Result]:
    """Yield results as they come, and show how far the run is: a bar on a terminal, else a line now and then."""
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
                yield result
            bar.update(task, completed=done, total=max(total, done), failed=f"{failed} failed" if failed else "")
            if quiet and time.monotonic() - spoken > _EVERY_S:
                console.print(f"  {done} of about {total} judged, {failed} not passed")
                spoken = time.monotonic()


def show(console: Console, results: Sequence[Result], seconds: float) -> None:
    """Print the report of a finished run."""
    if any(rows(results)):
        console.print(_operations(results))
    _show_courses(console, results)
    _show_failures(console, results)
    loose = [row.operation for row in rows(results) if row.is_loose]
    if loose:
        console.print(f"Limits used to less than 0.1 % everywhere, perhaps too loose: {', '.join(loose)}")
    found = {status: n for status, n in counts(results).items() if n}
    said = ", ".join(f"{n} {status}" for status, n in found.items())
    console.print(
        f"\n{len(results)} cases in {seconds:.1f} s, {len(results) / max(seconds, 1e-9):.0f} a second: {said}"
    )


def _operations(results: Sequence[Result]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("operation")
    for heading in ("passed", "error/limit", "rms", "bias", "repeats"):
        table.add_column(heading, justify="right")
    for row in rows(results):
        style = "" if row.passed == row.cases else "red"
        numbers = ("exact", "", "") if row.exact else (f"{row.share:.3f}", f"{row.rms:.2f}", f"{row.bias:+.2f}")
        passed = f"{row.passed}/{row.cases}"
        table.add_row(row.operation, passed, *numbers, "yes" if row.deterministic else "NO", style=style)
    return table


def _show_courses(console: Console, results: Sequence[Result]) -> None:
    for course in courses(results):
        text = f"{course.name}: {course.passed} of {course.calls} results right"
        if course.first_wrong:
            console.print(f"[red]{text}; first wrong: {_plain(course.first_wrong.id)}", highlight=False)
        elif course.worst:
            console.print(f"{text}; most of a limit used: {course.worst.share:.3f} at {_plain(course.worst.id)}")


def _show_failures(console: Console, results: Sequence[Result]) -> None:
    """One block for each operation that failed in the catalogue, and for each step's first wrong call."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        if result.status is not Status.PASS:
            name = "/".join(result.id.split("/")[:2]) if is_step(result) else result.operation
            groups.setdefault(name, []).append(result)
    for name, bad in list(groups.items())[:SHOWN]:
        shown = bad[0] if is_step(bad[0]) else max(bad, key=_gravity)
        console.print(f"\n[red bold]{shown.status}[/] {_plain(shown.id)}", highlight=False)
        for line in explained(shown):
            console.print(f"  {_plain(line)}", highlight=False)
        if len(bad) > 1:
            console.print(f"  and {len(bad) - 1} more of {name} did not pass", highlight=False)
    if len(groups) > SHOWN:
        console.print(f"\n... and {', '.join(list(groups)[SHOWN:])}; `--jsonl FILE` writes all of it")


def _gravity(result: Result) -> tuple[bool, float]:
    """A call that did not come back says more than a wrong number, and a larger error more than a small one."""
    return result.status is not Status.FAIL, result.share


def explained(result: Result) -> Iterator[str]:
    """Yield the lines that tell what went wrong and how to see it again."""
    yield result.reason
    verdict = worst(result.verdicts)
    if verdict and not verdict.passed and verdict.index:
        at = ", ".join(map(str, verdict.index))
        yield f"worst at [{at}]: reference {verdict.expected:.9g}, got {verdict.got:.9g}, limit {verdict.limit:.3g}"
        yield f"({verdict.made_of}), error / limit {verdict.share:.4g}, rms {verdict.rms:.3g}, bias {verdict.bias:+.3g}"
        if verdict.region:
            yield f"wrong elements lie in {verdict.region}"
    yield from (finding for finding in result.findings if finding != result.reason)
    yield from (line for line in result.detail.strip().splitlines()[:6] if line != result.reason)
    yield f"repeat: nox -s conformance -- --case '{result.id}'"


def _plain(text: str) -> str:
    return text.replace("[", "\\[")
