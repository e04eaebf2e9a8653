"""The rows of the designed cases, a table for each family: chosen once, read whenever the catalogue is.

Choosing takes minutes, as what each row's call gives is computed, reading milliseconds; and what is read does not
change with a release of NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from conformance.operations import OPERATIONS, family

from .covering import JudgedLevels, Row, covering_rows, every_level
from .space import Space, level_text, space_of

FOLDER = Path(__file__).with_name("rows")
_HEAD = "# The rows of the designed cases, by `python -m conformance design --write`.\n"
_AGAIN = "`python -m conformance design --write` chooses its rows anew"


class StaleRowsError(ValueError):
    """A table does not fit the factors of an operation."""


def rows_of(operation: str) -> list[Row]:
    """Return the rows of an operation.  Raises StaleRowsError where its factors have others than the table."""
    table = _tables(family(operation)).get(operation)
    if table is None:
        raise StaleRowsError(f"{operation}: expected its rows in {file_of(family(operation)).name}, got none; {_AGAIN}")
    factors, lines = table
    space = space_of(operation)
    known = {factor.name: {level_text(level, factor): level for level in factor.levels} for factor in space.factors}
    if [*known] != factors:
        raise StaleRowsError(
            f"{operation}: expected the factors {', '.join(known)}, got {', '.join(factors)}; {_AGAIN}"
        )
    return [_row(operation, known, line) for line in lines]


def _row(operation: str, known: Mapping[str, Mapping[str, object]], line: Sequence[str]) -> Row:
    row: Row = {}
    for (name, levels), text in zip(known.items(), line, strict=True):
        if text not in levels:
            raise StaleRowsError(f"{operation}: expected a level of {name}, got {text}; {_AGAIN}")
        row[name] = levels[text]
    return row


def choose(operation: str, standing: Sequence[Row] = (), judges: JudgedLevels = every_level) -> list[Row]:
    """Return the rows that cover an operation's space, those that stand among them; the same ones, always.

    judges: what counts of a row.
    """
    space = space_of(operation)
    return covering_rows(space.factors, space.cost, standing, judges)


def write(
    families: Iterable[str], judges_of: Callable[[Space], JudgedLevels], folder: Path = FOLDER, *, keep: bool = False
) -> None:
    """Choose the rows of every operation of some families, and write their tables; keep: the rows that stand stay, and
    an operation that has none yet gets some.

    judges_of: of an operation's space what counts of a row.  Raises StaleRowsError where a row that is to stay has a
    level that there is no more.
    """
    folder.mkdir(exist_ok=True)
    for name in families:
        declared = [operation for operation in OPERATIONS if family(operation) == name]
        chosen = {
            operation: choose(
                operation,
                rows_of(operation) if keep and operation in _tables(name) else (),
                judges_of(space_of(operation)),
            )
            for operation in declared
        }
        lines = [line for operation, rows in chosen.items() for line in _lines(space_of(operation), rows)]
        file_of(name, folder).write_text("".join([_HEAD, *lines]), encoding="utf-8", newline="\n")
    _tables.cache_clear()


def _lines(space: Space, rows: Iterable[Row]) -> Iterator[str]:
    yield "\t".join([space.operation, *(factor.name for factor in space.factors)]) + "\n"
    for row in rows:
        yield "".join(f"\t{level_text(row[factor.name], factor)}" for factor in space.factors) + "\n"


def file_of(family: str, folder: Path = FOLDER) -> Path:
    """Return where the rows of a family's operations stand."""
    return folder / f"{family.replace(' ', '_')}.tsv"


@functools.cache
def _tables(name: str) -> Mapping[str, tuple[list[str], list[list[str]]]]:
    """By operation the names of its factors, and its rows as they stand in the file."""
    found: dict[str, tuple[list[str], list[list[str]]]] = {}
    lines: list[list[str]] = []
    path = file_of(name)
    if not path.is_file():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        first, *rest = line.split("\t")
        if first:
            lines = []
            found[first] = rest, lines
        else:
            lines.append(rest)
    return found
