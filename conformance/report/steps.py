"""The training steps on a terminal: how each went, and the tensors about the first that is wrong."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from .page import course as divergence
from .record import Run
from .runs import name_of, runs, said
from .summary import courses

AROUND = 10  # tensors that are shown about a step's first wrong one


def show_steps(console: Console, run: Run) -> None:
    """Print a line for each step and for the run, and where the first of them goes wrong."""
    for course in courses(run.results):
        text = f"{course.name}: {course.passed} of {course.calls} results right"
        text += f", {course.not_run} not run" if course.not_run else ""
        if course.first_wrong:
            printed(console, f"[red]{text}; first wrong: {escape(course.first_wrong.id)}[/]")
        elif course.worst:
            printed(console, f"{text}; most of a limit used: {course.worst.share:.3f} at {escape(course.worst.id)}")
    for part, found in runs(run.results).items():
        colour = "[red]" if any(p.result.was_run and not p.result.is_fine for p in found) else "[default]"
        printed(console, f"{colour}{name_of(part)}: {escape(said(found))}[/]")
    _show_divergence(console, run)


def _show_divergence(console: Console, run: Run) -> None:
    """The calls around the first wrong one of the first step that has one, locked and free side by side."""
    step = next((step for step in divergence.courses(run, 0) if step.wrong), None)
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


def _way(found: divergence.Share | None) -> str:
    return "not run" if found is None else found.used if found.passed else f"{found.used} wrong"


def printed(console: Console, text: str) -> None:
    """Print a line as it is: never broken, so that what follows in a pipe finds it whole."""
    console.print(text, highlight=False, soft_wrap=True)
