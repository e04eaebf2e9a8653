"""The table of operations: failing rows first and alone, passing families in a line each; candidates side by side.

A column that says the same in every row is left out, and candidates with equal columns share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from conformance import operations

from .lines import printed
from .record import Run
from .summary import Row, rows


def show_table(console: Console, runs: Sequence[Run], every: bool = False) -> None:
    """Print what each operation used of its limits; every: a row for each, also those that passed.

    With one candidate a row has its numbers; with several a cell for each candidate.
    """
    columns = [{row.operation: row for row in rows(run.results) if row.was_run} for run in runs]
    names = list(dict.fromkeys(name for column in columns for name in column))
    failing = [name for name in names if any(name in column and not column[name].is_fine for column in columns)]
    shown = names if every else failing
    if shown:
        console.print(
            _of_one(columns[0], shown, runs[0], every) if len(runs) == 1 else _of_several(columns, shown, runs)
        )
    passing = [name for name in names if name not in shown]
    if passing:
        if shown:
            console.print()
        _print(console, _families([[column[name] for name in passing if name in column] for column in columns]))


def _print(console: Console, table: Table) -> None:
    """Print a table; in a pipe without blanks at the ends of lines."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        printed(console, escape(line.rstrip()))


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    return table


def _of_one(found: dict[str, Row], names: Sequence[str], run: Run, every: bool) -> Table:
    """A row for each operation.

    Refusals are counted apart, since many a port computes right and refuses nothing, and so are calls in sequence.
    """
    few = [found[name] for name in names]
    columns: dict[str, list[str]] = {
        "right": [f"{row.right}/{row.computed}" for row in few],
        "refuses": [f"{row.refused}/{row.refusals}" if row.refusals else "" for row in few],
        "in sequence": [f"{row.sequenced}/{row.sequences}" if row.sequences else "" for row in few],
        "error/limit": [_share(row) for row in few],
    }
    if every:
        columns["rms"] = [number(row.rms, 2) if row.has_shares else "" for row in few]
        columns["bias"] = [number(row.bias, 2, "+") if row.has_shares else "" for row in few]
    if any(row.unsupported for row in few):
        columns["not supported"] = [str(row.unsupported or "") for row in few]
    if not run.is_of_files:
        columns["repeats"] = ["yes" if row.deterministic else "NO" for row in few]
    if all(row.refused == row.refusals for row in few):
        del columns["refuses"]
    if all(row.sequenced == row.sequences for row in few):
        del columns["in sequence"]
    if all(row.deterministic for row in few) and not every:
        columns.pop("repeats", None)
    table = _table("operation", *columns)
    for row, *cells in zip(few, *columns.values(), strict=True):
        table.add_row(row.operation, *cells, style="" if row.is_fine else "red")
    return table


def _of_several(columns: Sequence[dict[str, Row]], names: Sequence[str], runs: Sequence[Run]) -> Table:
    """A row for each operation, a column for each candidate; those that say the same share one."""
    merged: dict[tuple[str, ...], list[str]] = {}
    for column, run in zip(columns, runs, strict=True):
        merged.setdefault(tuple(_cell(column.get(name)) for name in names), []).append(run.candidate)
    table = _table("operation", *("\n".join(_shortened(called)) for called in merged.values()))
    for name, *cells in zip(names, *merged, strict=True):
        table.add_row(name, *cells)
    return table


def _shortened(names: Sequence[str]) -> list[str]:
    """Names under one another: the library's once, then the orders of its threads."""
    lines: list[str] = []
    before = ""
    for name in names:
        library, comma, order = name.partition(", ")
        lines += [library] * (library != before or not comma) + [order] * bool(comma)
        before = library
    return lines


def _families(found: Iterable[Sequence[Row]]) -> Table:
    """A line for each family of the operations that passed, over all candidates."""
    families: dict[str, list[Row]] = {}
    for few in found:
        for row in few:
            families.setdefault(operations.family(row.operation), []).append(row)
    table = _table("passed", "operations", "cases", "error/limit")
    table.add_column("by", no_wrap=True)
    for family, few in families.items():
        worst = max(few, key=lambda row: (row.has_shares, row.share))
        count = len({row.operation for row in few})
        cases = sum(row.passed for row in few)
        by = worst.operation if worst.has_shares else ""
        table.add_row(family, str(count), str(cases), _share(worst), by, style="green")
    return table


def _share(row: Row) -> str:
    return number(row.share) if row.has_shares else "exact" if row.exact else ""


def number(value: float, digits: int = 3, sign: str = "") -> str:
    """So many digits behind the point; a number that no honest error reaches by its size alone."""
    return f"{value:{sign}.{digits}f}" if abs(value) < 1000 else f"{value:{sign}.1e}"


def _cell(row: Row | None) -> str:
    if row is None:
        return "[yellow]not run[/]"
    if not row.is_fine:
        return f"[red]{row.cases - row.passed - row.excused} of {row.cases} wrong[/]"
    return _share(row) or "passed"
