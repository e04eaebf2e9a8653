"""One mistake on a terminal: what it is, how far it reaches, why it is made, its plainest failure, the command."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from conformance.ids import REFUSED
from conformance.judging.results import Status

from .explanation import explained, refusals_repeated
from .findings import Finding
from .lines import printed, prose
from .record import counted

_INDENT = 3
_OPERATIONS = 12  # whose calls are named, where these were to be refused


def show_headline(console: Console, place: int, finding: Finding, several: bool) -> None:
    """Print a mistake in a line, and how far it reaches in another; several: name the candidates that have it."""
    printed(console, f"[red bold]{place}. {escape(finding.where)}[/]: [bold]{escape(finding.cause.sentence)}[/]")
    seen = f"; seen by {finding.seen_by}" if several else ""
    prose(console, f"{finding.extent}{seen}", _INDENT, "dim")


def show_details(console: Console, finding: Finding, every: bool = False) -> None:
    """Print a mistake's reason and its plainest failure; every: all its failures, too."""
    cause, plainest = finding.cause, finding.cause.plainest
    if finding.why:
        prose(console, finding.why, _INDENT)
    prose(console, f"{plainest.status} {plainest.id}", _INDENT)
    for line in explained(plainest, finding.run, but=cause.sentence):
        command = line.startswith("repeat: ")
        printed(console, f"{' ' * _INDENT}{escape(line)}") if command else prose(console, line, _INDENT + 2)
    if finding.is_refusal and len(cause.results) > 1 and not every:
        _show_calls(console, finding)
    if every:
        for result in cause.results:
            share = f", error / limit {result.share:.4g}" if result.verdicts else ""
            prose(console, f"{result.status} {result.id}{share}", _INDENT)


def _show_calls(console: Console, finding: Finding) -> None:
    """Print every call that had to be refused, a line for each operation, and the command that makes them all again."""
    by_operation: dict[str, dict[Status, list[str]]] = {}
    for result in finding.cause.results:
        call = result.id.partition(REFUSED)[2]
        by_operation.setdefault(result.operation, {}).setdefault(result.status, []).append(call)
    for operation, calls in [*by_operation.items()][:_OPERATIONS]:
        said = "; ".join(f"{status} {', '.join(names)}" for status, names in calls.items())
        prose(console, f"{operation}: {said}", _INDENT)
    if (rest := len(by_operation) - _OPERATIONS) > 0:
        prose(console, f"and of {counted(rest, 'operation')} more (-v names them)", _INDENT)
    again = refusals_repeated([*by_operation], finding.run)
    printed(console, f"{' ' * _INDENT}repeat all: {escape(again)}")
