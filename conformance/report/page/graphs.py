"""The page of an engine: what is wrong, each graph drawn with the wrong records marked, every result beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from conformance.graphs.diagnosis import ASSIGNED
from conformance.graphs.judge import Judged, tensor_of
from conformance.judging.results import Result
from conformance.report.graphs import GraphRun, Mistake, explained, sentence, verdict
from conformance.report.summary import counts
from graph.draw import draw

from . import environment
from .model import Block, block
from .step_table import Share, used_of
from .words import bar, kind

_HERE = Path(__file__).parent
_RECORD = re.compile(r"record (\d+) \(")


@dataclass(frozen=True)
class Row:
    """One result of a step, by both ways."""

    place: str
    name: str
    record: str
    locked: Share | None
    free: Share | None


@dataclass(frozen=True)
class Drawn:
    """One graph."""

    judged: Judged
    sentence: str
    is_wrong: bool
    drawing: Markup
    rows: Sequence[Row]
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Card:
    """One mistake."""

    mistake: Mistake
    lines: Sequence[str]


def page(found: GraphRun) -> str:
    """Return the page."""
    graphs = [_drawn(found, judged, number) for number, judged in enumerate(found.judged)]
    return (
        environment()
        .get_template("graphs.html.jinja")
        .render(
            title=verdict(found),
            run=found.run,
            good=not found.run.bad and not found.run.problems,
            counts=[(status, kind(status), count) for status, count in counts(found.run.results).items()],
            cards=[Card(mistake, [*explained(mistake)]) for mistake in found.mistakes],
            graphs=graphs,
            repeat=found.repeat(found.mistakes[0].task) if found.mistakes else "",
            on_cards=set(),
            style=Markup((_HERE / "style.css").read_text(encoding="utf-8")),
        )
    )


def marked(found: GraphRun, task: str) -> dict[int, str]:
    """Return why records of a task stand out in its drawing: the record that a mistake is of."""
    reasons: dict[int, str] = {}
    for mistake in found.mistakes:
        text = mistake.text.partition("without ")[2] if ASSIGNED in mistake.text else mistake.text
        if mistake.task == task and (number := _RECORD.search(text)):
            reasons.setdefault(int(number[1]), mistake.text)
    return reasons


def _drawn(found: GraphRun, judged: Judged, number: int) -> Drawn:
    task = judged.task
    free = {tensor_of(result): result for result in judged.free}
    firsts = [_first(judged.locked), _first(judged.free)]
    rows = [
        Row(
            f"{place:03d}",
            tensor_of(result),
            _record(judged, tensor_of(result)),
            _share(result, firsts[0]),
            _share(free.get(tensor_of(result)), firsts[1]),
        )
        for place, result in enumerate(judged.locked)
    ]
    shown = [result for result in judged.results if result.evidence and not result.is_fine]
    blocks = [replace(block(result, found.run, number), repeat=found.repeat(task.name)) for result in shown]
    drawing = Markup(draw(task.graph, task.checked.shapes, marked(found, task.name)))
    return Drawn(judged, sentence(judged), any(not r.is_fine for r in judged.results), drawing, rows, blocks)


def _record(judged: Judged, name: str) -> str:
    """What writes a result; of gradients and parameters nothing."""
    task, bare = judged.task, name.partition(".")[2]
    if not name.startswith(("value.", "loss.")):
        return ""
    return next(task.called(n) for n, record in enumerate(task.records) if record.output == bare)


def _first(results: Sequence[Result]) -> Result | None:
    return next((result for result in results if result.has_failed), None)


def _share(result: Result | None, first: Result | None) -> Share | None:
    if result is None or not result.was_run:
        return None
    found = result.verdicts[0] if result.verdicts else None
    passed = result.is_fine
    if found is None or (not passed and not found.index):
        return Share(found.reason if found else str(result.status), 100, passed, result is first, "")
    return Share(used_of(found), bar(found.share), passed, result is first, "")
