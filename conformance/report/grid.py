"""Several candidates side by side on a terminal: what each used of its limits, operation by operation."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from .record import Run
from .summary import Row, rows


def show_grid(console: Console, runs: Sequence[Run]) -> None:
    """Print a row for each operation and a column for each candidate: the largest error/limit, or how many failed."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("error/limit", no_wrap=True)
    for run in runs:
        table.add_column(run.candidate.replace(", ", "\n"), justify="right", no_wrap=True)
    columns = [{row.operation: row for row in rows(run.results)} for run in runs]
    for operation in dict.fromkeys(name for column in columns for name in column):
        table.add_row(operation, *[_cell(column.get(operation)) for column in columns])
    console.print(table)


def _cell(row: Row | None) -> str:
    if row is None or not row.was_run:
        return "[yellow]not run[/]"
    if not row.is_fine:
        return f"[red]{row.cases - row.passed - row.excused} of {row.cases} wrong[/]"
    return f"{row.share:.3f}" if row.measured and not row.exact else "exact" if row.exact else "passed"
