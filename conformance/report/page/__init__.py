"""One self-contained page: verdict, a card for each mistake, the grid, the steps' tables, every case.

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
from conformance.report.step_tensors import tensors
from conformance.report.summary import rows
from conformance.report.writing import write_whole

from . import words
from .cards import cards
from .claims import StepClaim, step_claims
from .coverage import covered
from .grid import grid, sorted_out
from .model import Candidate, candidates
from .runs import TrainingRun, training_runs
from .step_table import StepTable, step_tables

_HERE = Path(__file__).parent


class Steps(NamedTuple):
    """What the page shows of a candidate's training steps."""

    candidate: Candidate
    step_tables: Sequence[StepTable]
    step_claims: Sequence[StepClaim]
    runs: Sequence[TrainingRun]


def write_page(path: Path, runs: Sequence[Run], score: Score | None = None) -> None:
    """Write the page on one candidate or several, with the readings' score where there is one.  Raises ReportError."""
    write_whole(path, page(runs, score))


def page(runs: Sequence[Run], score: Score | None = None) -> str:
    """Return the page."""
    judged = candidates(runs)
    found = cards(judged)
    steps = [_steps(candidate) for candidate in judged]
    return (
        environment()
        .get_template("page.html.jinja")
        .render(
            title=_title(judged),
            candidates=judged,
            cards=found,
            on_cards={block.anchor for card in found for block in card.blocks},
            grid=sorted_out(grid(judged)),
            steps=[one for one in steps if one.step_tables or one.step_claims or one.runs],
            loose=sorted({row.operation for run in runs for row in rows(run.results) if row.is_loose}),
            covered=covered(runs),
            score=score,
            style=Markup((_HERE / "style.css").read_text(encoding="utf-8")),
            script=Markup((_HERE / "script.js").read_text(encoding="utf-8")),
        )
    )


def _title(judged: Sequence[Candidate]) -> str:
    """The verdict; of several candidates how many conform."""
    if len(judged) == 1:
        return judged[0].verdict
    passed = sum(candidate.run.code == PASSED for candidate in judged)
    return f"{passed} of {len(judged)} candidates conform"


def _steps(candidate: Candidate) -> Steps:
    run, number = candidate.run, candidate.number
    return Steps(candidate, step_tables(run, number), step_claims(run, number), training_runs(run, number))


def environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"used": words.used, "kind": words.kind, "limit_name": words.limit_name}
    environment.filters |= {"tensors": tensors, "counted": counted, "is_partial": is_partial, "breakable": _breakable}
    return environment


def _breakable(name: str) -> Markup:
    """A name that a narrow page may break behind underscores, dots and parentheses."""
    broken = Markup.escape(name)
    for mark in ("_", ".", "("):
        broken = broken.replace(mark, Markup(f"{mark}<wbr>"))
    return broken
