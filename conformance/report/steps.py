"""The training steps on a terminal: how each went, and the tensors about the first that is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from .findings import findings
from .lines import printed
from .record import Run, counted
from .runs import RunStep, name_of, runs, sentence
from .summary import StepSummary, step_summaries

if TYPE_CHECKING:
    from .page.step_table import Share

AROUND = 10  # tensors that are shown about a step's first wrong one


def show_steps(console: Console, run: Run, of: str = "", every: bool = False) -> None:
    """Print how the steps and runs went, after the words `of`.

    What went wrong in them because an operation is wrong is said with that operation, and here in one line; every: in
    a line for each step.
    """
    asked, made = step_summaries(run.results), runs(run.results)
    alone = {result.part for one in findings([run]) if one.is_of_steps for result in one.cause.results}
    wrong = [step for step in asked if step.first_wrong]
    left = [part for part, found in made.items() if _left(found)]
    followed = [step for step in wrong if step.name not in alone]
    if followed and not every:
        _show_consequences(console, of, followed, [part for part in left if part not in alone])
    for step in asked if every else [step for step in wrong if step.name in alone]:
        _show_step(console, of, step)
    if not every and not wrong:
        _show_right(console, of, asked)
    for part, found in made.items():
        if every or part in alone or not _left(found):
            colour = "[red]" if _left(found) else "[default]"
            printed(console, f"{colour}{escape(of)}{name_of(part)}: {escape(sentence(found))}[/]")
    if every or alone:
        _show_divergence(console, run)


def _left(found: Sequence[RunStep]) -> bool:
    return any(p.result.has_failed for p in found)


def _show_consequences(console: Console, of: str, wrong: Sequence[StepSummary], runs: Sequence[str]) -> None:
    first = next(step.first_wrong for step in wrong if step.first_wrong)
    also = f" and {counted(len(runs), 'training run')}" if runs else ""
    text = f"{of}training steps: {counted(len(wrong), 'step')}{also} fail by what is named above"
    printed(console, f"[red]{escape(text)}; first wrong: {escape(first.id)}[/]")


def _show_right(console: Console, of: str, right: Sequence[StepSummary]) -> None:
    """What every step got right, in a line; what could not be run in another."""
    ran = [step for step in right if step.not_run + step.unsupported < step.calls]
    used = [step.worst for step in ran if step.worst and step.worst.share]
    worst = max(used, key=lambda result: result.share, default=None)
    if ran:
        passed = sum(step.passed for step in ran)
        most = f"; most of a limit used: {worst.share:.3f} at {worst.id}" if worst else ""
        printed(console, f"{escape(of)}training steps: {counted(passed, 'result')} right{escape(most)}")
    if missed := sum(step.not_run for step in right):
        printed(console, f"{escape(of)}training steps: {counted(missed, 'result')} not run")
    if beyond := sum(step.unsupported for step in right):
        printed(console, f"{escape(of)}training steps: {counted(beyond, 'result')} not supported, as declared")


def _show_step(console: Console, of: str, step: StepSummary) -> None:
    text = f"{of}{step.name}: {step.passed} of {counted(step.calls, 'result')} right"
    text += f", {step.not_run} not run" if step.not_run else ""
    text += f", {step.unsupported} not supported, as declared" if step.unsupported else ""
    if step.first_wrong:
        printed(console, f"[red]{escape(text)}; first wrong: {escape(step.first_wrong.id)}[/]")
    elif step.worst:
        printed(console, escape(f"{text}; most of a limit used: {step.worst.share:.3f} at {step.worst.id}"))


def _show_divergence(console: Console, run: Run) -> None:
    """The calls around the first wrong one of the first step that has one, locked and free side by side."""
    from .page import step_table as divergence  # here: the page's templates take long to load

    step = next((step for step in divergence.step_tables(run, 0) if step.wrong), None)
    if not step:
        return
    at = divergence.first_wrong(step)
    rows = [("", f"step {step.name}", "tensor", "locked", "free")]
    for tensor in step.tensors[max(0, at - AROUND // 2) : at + AROUND // 2]:
        ways = (tensor.locked, tensor.free)
        mark = ">" if any(way and way.is_first for way in ways) else ""
        rows.append((mark, f"{tensor.place} {tensor.call}", tensor.name, _way(tensor.locked), _way(tensor.free)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        text = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        printed(console, f"{'[red]' if row[0] else '[default]'}{escape(text)}[/]")


def _way(found: Share | None) -> str:
    return "not run" if found is None else found.used if found.passed else f"{found.used} wrong"
