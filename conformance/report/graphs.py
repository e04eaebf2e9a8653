"""Graphs on a terminal: the verdict with the first mistake, each mistake with its results, and every task in a line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rich.console import Console
from rich.markup import escape

from conformance.exit_codes import HARNESS
from conformance.graphs.diagnosis import ASSIGNED, FOLLOWS
from conformance.graphs.judge import Judged, tensor_of
from conformance.judging.results import Result, Status, worst
from conformance.program import program

from .lines import NAMED, printed, prose
from .record import Run, counted

AROUND = 10  # results that are shown about the first wrong one
SHOWN = 12  # mistakes that are shown
_INDENT = 3


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong, by what it looks like."""

    task: str
    text: str
    results: tuple[Result, ...]


@dataclass(frozen=True)
class GraphRun:
    """One engine's run.  judged: its tasks; stopped: of tasks that gave nothing to judge, why."""

    run: Run
    judged: Sequence[Judged]
    stopped: Sequence[Result] = ()
    partial: bool = False

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """What is wrong, task by task in the order of a step; what follows from what was not handed in is none."""
        found = [Mistake(one.id.partition("/")[2], one.reason, (one,)) for one in self.stopped]
        for judged in self.judged:
            alike: dict[str, list[Result]] = {}
            for result in judged.wrong:
                if result.status is Status.FAIL and not result.headline.startswith(FOLLOWS):
                    alike.setdefault(_cause(result.headline), []).append(result)
            found += [Mistake(judged.task.name, few[0].headline, tuple(few)) for few in alike.values()]
            drifts = [result for result in judged.free if result.status is Status.FAIL]
            if drifts and not alike:
                text = f"every record is right on what it reads, the whole run is not: {drifts[0].reason}"
                found.append(Mistake(judged.task.name, text, tuple(drifts)))
        return found

    @property
    def mistrusted(self) -> list[Result]:
        return [result for result in self.run.results if result.is_judges_own]

    def repeat(self, task: str) -> str:
        """The command that judges a task of this engine again."""
        run = self.run
        candidate = f"{run.option} {shlex.quote(run.library)}" if run.library else ""
        seed = f"--seed {run.seed}" if run.seed else ""
        words = (program(), "graph", run.options, candidate, f"--task {task}" if not run.options else "", seed)
        return " ".join(filter(None, (*words, "--partial" * self.partial)))


def _cause(text: str) -> str:
    """What is one mistake wherever it shows: an engine that assigns gradients does so everywhere."""
    return ASSIGNED if ASSIGNED in text else text


def verdict(one: GraphRun) -> str:
    """Say in a sentence whether the engine conforms, and what its first mistake is."""
    run, mistakes = one.run, one.mistakes
    if mistakes:
        more = f" (and {counted(len(mistakes) - 1, 'more mistake')})" if len(mistakes) > 1 else ""
        return f"{run.candidate} does not conform: {mistakes[0].task}: {mistakes[0].text}{more}"
    if one.mistrusted:
        first = one.mistrusted[0]
        return f"No verdict on {run.candidate}: {first.id}: {first.reason}"
    if run.code == HARNESS:
        return f"No verdict on {run.candidate}: nothing was judged"
    if run.bad:
        return f"{run.candidate} does not conform: {run.bad[0].id}: {run.bad[0].reason}"
    if run.problems:
        return f"{run.candidate} does not conform: {run.problems[0]}"
    graphs = counted(len(one.judged), "graph")
    scope = "conforms" if not one.partial or not any(j.absent for j in one.judged) else "conforms in what it handed in"
    return f"{run.candidate} {scope}: {counted(len(run.results), 'result')} of {graphs} passed"


def show(console: Console, one: GraphRun, quiet: bool = False) -> None:
    """Print the report."""
    good = not one.run.bad and not one.run.problems
    printed(console, f"[{'green' if good else 'red'} bold]{escape(verdict(one))}[/]")
    if quiet:
        return
    if one.run.isolation:
        prose(console, one.run.isolation, 0, "dim")
    for problem in one.run.problems:
        prose(console, problem, 0, "red")
    for note in one.run.notes:
        prose(console, note)
    for place, mistake in enumerate(one.mistakes[:SHOWN], 1):
        _show_mistake(console, place, mistake)
    if len(one.mistakes) > SHOWN:
        prose(console, f"... and {counted(len(one.mistakes) - SHOWN, 'more mistake')}; --report shows all")
    console.print()
    for judged in one.judged:
        printed(console, escape(sentence(judged)))
    first = next((judged for judged in one.judged if judged.wrong), None)
    if first:
        console.print()
        for line, is_first in around(first):
            printed(console, f"{'[red]' if is_first else '[default]'}{escape(line)}[/]")
    if one.mistakes:
        printed(console, f"\nrepeat: {escape(one.repeat(one.mistakes[0].task))}")


def _show_mistake(console: Console, place: int, mistake: Mistake) -> None:
    console.print()
    printed(console, f"[red bold]{place}. {escape(mistake.task)}[/]: [bold]{escape(mistake.text)}[/]")
    for line in explained(mistake):
        prose(console, line, _INDENT)


def explained(mistake: Mistake) -> Iterator[str]:
    """Yield the lines that tell of a mistake: its results, and the first of them in numbers."""
    first, names = mistake.results[0], [tensor_of(result) for result in mistake.results]
    if len(names) > 1:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield f"in {', '.join(names[:NAMED])}{more}"
    yield f"{first.status} {first.id}"
    if first.reason and first.reason not in mistake.text:
        yield f"  {first.reason}"
    found = worst(first.verdicts)
    if found and not found.passed and found.index and found.made_of:
        at = ", ".join(map(str, found.index))
        yield (
            f"  worst at [{at}]: reference {found.expected:.9g}, got {found.got:.9g}, limit {found.limit:.3g} "
            f"({found.made_of}), error / limit {found.share:.4g}"
        )
    yield from (f"  {finding.text}" for finding in first.findings if finding.text != first.reason)
    yield from (f"  {line}" for line in first.detail.strip().splitlines()[:NAMED])


def sentence(judged: Judged) -> str:
    """Say in a line how a task went, locked and free."""
    ways = []
    for words, results in (("locked", judged.locked), ("free", judged.free)):
        right = sum(result.is_fine for result in results)
        first = next((result for result in results if not result.is_fine), None)
        wrong = f", first wrong: {tensor_of(first)}" if first and first.was_run else ""
        ways.append(f"{words} {right} of {len(results)} right{wrong}")
    most = max(judged.results, key=lambda result: result.share, default=None)
    used = f"; most of a limit used: {most.share:.3f} at {most.id}" if most and most.share <= 1 else ""
    follows = sum(result.headline.startswith(FOLLOWS) for result in judged.wrong)
    later = f"; {counted(follows, 'result')} computed from what was not handed in" if follows else ""
    return f"{judged.task.name}: {'; '.join(ways)}{used}{later}"


def around(judged: Judged) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a table of the results about the first wrong one, and which is that one's."""
    free = {tensor_of(result): result for result in judged.free}
    at = judged.locked.index(judged.wrong[0])
    rows = [("", judged.task.name, "locked", "free")]
    for place, result in enumerate(judged.locked):
        if at - AROUND // 2 <= place < at + AROUND // 2:
            name = tensor_of(result)
            mark = ">" if place == at else ""
            rows.append((mark, f"{place:03d} {name}", used(result), used(free.get(name))))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        yield line, bool(row[0])


def used(result: Result | None) -> str:
    """The share of its limit that a result used, and whether that is too much."""
    if result is None or not result.was_run:
        return "not judged"
    share = f"{result.share:.4g}" if result.verdicts else str(result.status)
    return share if result.is_fine else f"{share} wrong"
