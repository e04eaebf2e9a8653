"""Tables of what is known of each kernel on each architecture: read, written, compared with the one before.

A cell is a tuple of whole numbers, written with slashes.  The second line says what compiled each column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any, TypeVar

T = TypeVar("T")
Compilers = dict[str, str]  # architecture -> compiler and version
Cell = Any  # a NamedTuple of whole numbers
Rows = Mapping[str, Mapping[str, Cell]]  # kernel -> architecture -> cell


def written(rows: Rows, compilers: Compilers) -> str:
    """Return the table as a file."""
    lines = [["kernel", *compilers], ["compiler", *compilers.values()]]
    for kernel, cells in sorted(rows.items()):
        lines.append([kernel, *("/".join(map(str, cells[arch])) if arch in cells else "-" for arch in compilers)])
    return "".join("\t".join(line) + "\n" for line in lines)


def read(table: str, cell: Callable[..., T]) -> tuple[dict[str, dict[str, T]], Compilers]:
    """Return what `written` was given, with cells of this type; nothing for an empty file."""
    if not table:
        return {}, {}
    (_, *archs), (_, *compilers), *lines = [line.split("\t") for line in table.splitlines()]
    rows = {
        kernel: {arch: cell(*map(int, each.split("/"))) for arch, each in zip(archs, cells, strict=True) if each != "-"}
        for kernel, *cells in lines
    }
    return rows, dict(zip(archs, compilers, strict=True))


def changes(old: Rows, new: Rows, columns: list[str]) -> Iterator[str]:
    """Yield what differs in these columns, a line for each kernel and what it has more or less of."""
    for kernel in sorted(old.keys() | new.keys()):
        if kernel not in new:
            yield f"{kernel} is gone"
        elif kernel not in old:
            fields = next(iter(new[kernel].values()))._fields
            most = (f"{max(getattr(cell, field) for cell in new[kernel].values())} {field}" for field in fields)
            yield f"{kernel} is new: up to {', '.join(most)}"
        else:
            for field in next(iter(new[kernel].values()))._fields:
                pairs = {arch: (old[kernel].get(arch), new[kernel].get(arch)) for arch in columns}
                steps = {arch: step(field, *pair) for arch, pair in pairs.items() if all(pair)}
                if parts := [f"{text} on {', '.join(archs)}" for text, archs in grouped(steps)]:
                    yield f"{kernel}: {field} {'; '.join(parts)}"


def step(field: str, old: Cell, new: Cell) -> str:
    before, now = getattr(old, field), getattr(new, field)
    return "" if before == now else f"{before} -> {now} ({now - before:+})"


def grouped(texts: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Return each text that is not empty, with the architectures that have it in common."""
    pairs = sorted((text, list(texts).index(arch)) for arch, text in texts.items() if text)
    found = [(text, [list(texts)[at] for _, at in same]) for text, same in groupby(pairs, key=lambda pair: pair[0])]
    return sorted(found, key=lambda pair: list(texts).index(pair[1][0]))


def not_compared(old: Compilers, new: Compilers, known: tuple[str, ...]) -> Iterator[str]:
    """Yield why a column of a table, of those that are known, is not compared."""
    for arch in known:
        if arch not in new:
            yield f"{arch}: it was not compiled"
        elif arch not in old:
            yield f"{arch}: the table does not have it yet"
        elif old[arch] != new[arch]:
            yield f"{arch}: compiled by {new[arch]}, the table by {old[arch]}"
