"""One self-contained page: verdict, a card for each mistake, the grid, the steps' course, every case.

It needs no network, and no script: what the script adds is the filter, and that links unfold what they lead to.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jinja2
from markupsafe import Markup

from conformance.exit_codes import PASSED
from conformance.report.explanation import is_partial
from conformance.report.record import Run, counted
from conformance.report.score import Score
from conformance.report.summary import rows
from conformance.report.writing import write_whole

from . import words
from .cards import cards
from .course import Course, courses
from .grid import grid, sorted_out
from .model import Candidate, candidates
from .runs import Shown
from .runs import shown as training_runs
from .whole import Held, held

_HERE = Path(__file__).parent


class Steps(NamedTuple):
    """What the page shows of a candidate's training steps."""

    candidate: Candidate
    courses: Sequence[Course]
    held: Sequence[Held]
    runs: Sequence[Shown]


def write_page(path: Path, runs: Sequence[Run], score: Score | None = None) -> None:
    """Write the page on one candidate or several, with the readings' score where there is one.  Raises ReportError."""
    write_whole(path, page(runs, score))


def page(runs: Sequence[Run], score: Score | None = None) -> str:
    """Return the page."""
    shown = candidates(runs)
    found = cards(shown)
    steps = [_steps(candidate) for candidate in shown]
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            title=_title(shown),
            candidates=shown,
            cards=found,
            on_cards={block.anchor for card in found for block in card.blocks},
            grid=sorted_out(grid(shown)),
            steps=[one for one in steps if one.courses or one.held or one.runs],
            loose=sorted({row.operation for run in runs for row in rows(run.results) if row.is_loose}),
            score=score,
            style=Markup((_HERE / "style.css").read_text(encoding="utf-8")),
            script=Markup((_HERE / "script.js").read_text(encoding="utf-8")),
        )
    )


def _title(shown: Sequence[Candidate]) -> str:
    """The verdict; of several candidates how many conform."""
    if len(shown) == 1:
        return shown[0].verdict
    passed = sum(candidate.run.code == PASSED for candidate in shown)
    return f"{passed} of {len(shown)} candidates conform"


def _steps(candidate: Candidate) -> Steps:
    run, number = candidate.run, candidate.number
    return Steps(candidate, courses(run, number), held(run, number), training_runs(run, number))


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"used": words.used, "kind": words.kind, "limit_name": words.limit_name}
    environment.filters |= {"counted": counted, "is_partial": is_partial, "breakable": _breakable}
    return environment


def _breakable(name: str) -> Markup:
    """A name that a narrow page may break behind underscores, dots and parentheses."""
    broken = Markup.escape(name)
    for mark in ("_", ".", "("):
        broken = broken.replace(mark, Markup(f"{mark}<wbr>"))
    return broken
