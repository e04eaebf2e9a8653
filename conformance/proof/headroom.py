"""How much of the limits honest libraries use, as a committed table: a row for each library and operation."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """library: name and, last, version.  known: of the failed runs those that fail by differences that are known.
    most: the largest share of a limit among the runs that passed.
    """

    library: str
    operation: str
    runs: int
    failed: int
    known: int
    most: str

    @property
    def name(self) -> str:
        """The library without its version."""
        return self.library.rpartition(" ")[0]


HEAD = tuple(field.name for field in fields(Row))


class TableError(ValueError):
    """A file is no such table; the message says where."""


def read_table(path: Path) -> list[Row]:
    """Return the rows of a table; none where there is no file.  Raises TableError."""
    if not path.exists():
        return []
    lines = [*csv.reader(io.StringIO(path.read_text(encoding="utf-8")), delimiter="\t")]
    if not lines or tuple(lines[0]) != HEAD:
        raise TableError(
            f"{path}: expected the columns {', '.join(HEAD)}, got {', '.join(lines[0]) if lines else 'none'}"
        )
    return [_row(path, number, line) for number, line in enumerate(lines[1:], 2)]


def _row(path: Path, number: int, line: list[str]) -> Row:
    try:
        library, operation, runs, failed, known, most = line
        return Row(library, operation, int(runs), int(failed), int(known), most)
    except ValueError:
        raise TableError(f"{path}:{number}: expected {', '.join(HEAD)}, got {line}") from None


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Put rows in place of those that the table has of the same libraries, whatever their versions were."""
    fresh = [*rows]
    names = {row.name for row in fresh}
    others = [row for row in read_table(path) if row.name not in names]
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows(astuple(row) for row in sorted([*others, *fresh], key=lambda row: (row.name, row.operation)))
    path.write_text(text.getvalue(), encoding="utf-8")
