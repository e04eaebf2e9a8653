"""One self-contained page: the verdict, the grid, the steps' course, every case.  It needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jinja2
from markupsafe import Markup

from conformance.report.record import Run
from conformance.report.score import Score
from conformance.report.summary import blocks, rows

from . import words
from .course import Course, courses
from .grid import grid
from .model import Block, Candidate, block, candidates
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
    """Write the page on one candidate or several, with the readings' score where there is one."""
    path.write_text(page(runs, score), encoding="utf-8")


def page(runs: Sequence[Run], score: Score | None = None) -> str:
    """Return the page."""
    shown = candidates(runs)
    steps = [
        Steps(
            candidate,
            courses(candidate.run, candidate.number),
            held(candidate.run, candidate.number),
            training_runs(candidate.run, candidate.number),
        )
        for candidate in shown
    ]
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            candidates=shown,
            families=grid(shown),
            steps=[one for one in steps if one.courses or one.held or one.runs],
            failures=_failures(shown),
            loose=sorted({row.operation for run in runs for row in rows(run.results) if row.is_loose}),
            score=score,
            style=Markup((_HERE / "style.css").read_text(encoding="utf-8")),
            script=Markup((_HERE / "script.js").read_text(encoding="utf-8")),
        )
    )


def _failures(shown: Sequence[Candidate]) -> list[tuple[Block, str, int]]:
    """The failure to show of each operation and step, whose it is if there are several, and how many more there are."""
    several = len(shown) > 1
    return [
        (block(result, candidate.run, candidate.number), candidate.run.candidate if several else "", count - 1)
        for candidate in shown
        for result, count in blocks(candidate.run.results)
    ]


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"used": words.used, "kind": words.kind, "breakable": _breakable}
    return environment


def _breakable(name: str) -> Markup:
    """A name that a narrow page may break behind underscores, dots and parentheses."""
    broken = Markup.escape(name)
    for mark in ("_", ".", "("):
        broken = broken.replace(mark, Markup(f"{mark}<wbr>"))
    return broken
