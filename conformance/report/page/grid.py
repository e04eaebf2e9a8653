"""The grid: every operation of every candidate, with the share of its limit that its worst element used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conformance import operations
from conformance.judging.causes import RIGHT_BUT
from conformance.judging.results import Status

from .model import Candidate, Section
from .words import headroom, used


@dataclass(frozen=True)
class Cell:
    """One operation of one candidate."""

    status: Status
    kind: str
    count: str  # how many of its cases have this status, or worse than passed; where it refuses nothing, are right
    used: str
    percent: int  # of the limit, for the colour
    anchor: str


@dataclass(frozen=True)
class Line:
    """One operation of all candidates."""

    operation: str
    cells: Sequence[Cell | None]  # nothing where a candidate was not judged on it
    headroom: str

    @property
    def is_bad(self) -> bool:
        """Whether a candidate fails it."""
        return any(cell and cell.kind == "bad" for cell in self.cells)

    @property
    def was_run(self) -> bool:
        """Whether there is anything to say of it."""
        return any(cell and cell.count for cell in self.cells)


Families = Sequence[tuple[str, Sequence[Line]]]


@dataclass(frozen=True)
class Grid:
    """The operations by family: those that fail, those that do not, and the names of those that were not run."""

    failing: Families
    passing: Families
    absent: Sequence[str]

    @property
    def passed(self) -> int:
        """How many operations do not fail."""
        return sum(len(lines) for _, lines in self.passing)

    @property
    def failed(self) -> int:
        """How many fail."""
        return sum(len(lines) for _, lines in self.failing)


def sorted_out(families: Families) -> Grid:
    """Tell what fails from the rest."""
    lines = [line for _, few in families for line in few]
    return Grid(
        _those(families, lambda line: line.is_bad),
        _those(families, lambda line: line.was_run and not line.is_bad),
        [line.operation for line in lines if not line.was_run],
    )


def _those(families: Families, wanted: Callable[[Line], bool]) -> Families:
    found = [(family, [line for line in lines if wanted(line)]) for family, lines in families]
    return [(family, lines) for family, lines in found if lines]


def grid(shown: Sequence[Candidate]) -> list[tuple[str, list[Line]]]:
    """Return the operations in the header's order, by family."""
    families: dict[str, list[Line]] = {}
    sections = [{section.operation: section for section in candidate.sections} for candidate in shown]
    judged = dict.fromkeys(operation for of_candidate in sections for operation in of_candidate)
    places = {operation: place for place, operation in enumerate(operations.OPERATIONS)}
    for operation in sorted(judged, key=lambda operation: places.get(operation, len(places))):
        found = [of_candidate.get(operation) for of_candidate in sections]
        line = Line(operation, [_cell(section) if section else None for section in found], _headroom(found))
        families.setdefault(operations.family(operation), []).append(line)
    return list(families.items())


def _headroom(found: Sequence[Section | None]) -> str:
    if any(section and section.kind == "bad" for section in found):
        return "none"
    rows = [section.row for section in found if section and section.row.was_run]
    shares = [row.share for row in rows if not row.exact]
    return headroom(max(shares)) if shares else "exact" if rows else ""


def _cell(section: Section) -> Cell:
    row = section.row
    if not row.was_run:
        return Cell(section.status, section.kind, "", f"{row.cases} cases", 100, section.anchor)
    if row.only_unrefused:
        right, refused = f"{row.right} of {row.computed} right", f"{RIGHT_BUT}: {row.refused} of {row.refusals}"
        return Cell(Status.FAIL, section.kind, right, refused, 100, section.anchor)
    good = section.kind == "good"
    count = row.passed if good else row.cases - row.passed
    percent = min(100, round(100 * row.share)) if good else 100
    return Cell(section.status, section.kind, f"{count} of {row.cases}", _sentence(section), percent, section.anchor)


def _sentence(section: Section) -> str:
    """The worst that numbers say of an operation."""
    if not any(result.verdicts for result in section.results):
        return "no results"
    if section.status in (Status.PASS, Status.FAIL, Status.WAIVED) and not section.row.exact:
        return used(section.row.share)
    return "exact" if section.kind == "good" else "past any limit" if section.row.share > 1 else "see the cases"
