"""What the designed cases that were judged cover of the inputs, by operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from conformance.catalogue.cases.designed import id_of
from conformance.catalogue.design.coverage import WHY_BEYOND, Coverage, coverage, together
from conformance.catalogue.design.rows import StaleRowsError, rows_of
from conformance.catalogue.design.space import space_of
from conformance.operations import OPERATIONS
from conformance.report.record import Run


class Covered(NamedTuple):
    """Of all operations together, of each, and why some of it is in no case."""

    total: Coverage
    operations: Sequence[Coverage]
    why: str


def covered(runs: Sequence[Run]) -> Covered | None:
    """Return what every candidate was judged on; nothing where that is no designed case of this catalogue."""
    judged = [{result.id for result in run.results if result.was_run} for run in runs]
    everywhere = set.intersection(*judged) if judged else set()
    names = {id.partition("/")[0] for id in everywhere}
    found = [one for operation in OPERATIONS if operation in names and (one := _covered(operation, everywhere))]
    return Covered(together(found), found, WHY_BEYOND) if found else None


def _covered(operation: str, judged: set[str]) -> Coverage | None:
    space = space_of(operation)
    try:
        rows = [row for row in rows_of(operation) if id_of(space, row) in judged]
    except StaleRowsError:  # the tables are of another header
        return None
    return coverage(space, rows) if rows else None
