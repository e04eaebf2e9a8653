"""One mistake on a terminal: what it is, how far it reaches, why it is made, its plainest failure, the command."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from .explanation import explained
from .findings import Finding
from .lines import printed, prose

_INDENT = 3


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
    if every:
        for result in cause.results:
            share = f", error / limit {result.share:.4g}" if result.verdicts else ""
            prose(console, f"{result.status} {result.id}{share}", _INDENT)
