"""One training step of every candidate in one picture: a row for each tensor, a mark for each candidate.

Across lies the largest error / limit, in powers of ten, so that a mark right of 1 is a tensor that is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from conformance.report.page.scales import LogAxis
from conformance.report.writing import write_whole

from .judged import PARTS, Row

_HERE = Path(__file__).parent
_TOP, _LINE, _LEFT, _WIDTH, _MARGIN = 34, 15, 190, 900, 24  # pixels
_NO_NUMBER = 1e9  # where what is not there, or no number, stands
# Colours that stay apart without red and green (Okabe and Ito 2008), and a shape for each.
_MARKS = (
    ("#0072b2", "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0"),
    ("#d55e00", "M-4,-4h8v8h-8z"),
    ("#009e73", "M0,-5L5,4H-5z"),
    ("#cc79a7", "M0,-5L5,0L0,5L-5,0z"),
    ("#7a6a00", "M-5,-1.5h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z"),
    ("#555555", "M0,5L5,-4H-5z"),
)


@dataclass(frozen=True)
class Mark:
    """One tensor of one candidate."""

    x: int
    y: int
    colour: str
    path: str
    title: str


@dataclass(frozen=True)
class Picture:
    """What the page draws: sizes in pixels, ticks and names with their places, marks, a legend."""

    width: int
    height: int
    limit: int
    ticks: tuple[tuple[int, str], ...]
    names: tuple[tuple[int, str], ...]
    marks: tuple[Mark, ...]
    legend: tuple[tuple[int, str, str, str], ...]


def draw(steps: Mapping[str, Mapping[str, float]]) -> Picture:
    """Draw candidates' shares by tensor; the order of tensors is the first candidate's.  Raises ValueError on none."""
    if not steps:
        raise ValueError("expected the shares of a candidate, got none")
    tensors = list(dict.fromkeys(name for shares in steps.values() for name in shares))
    usual = [share for shares in steps.values() for share in shares.values() if math.isfinite(share)]
    axis = LogAxis.over([*usual, 1.0], _LEFT, _WIDTH - _MARGIN, _LEFT - 8)
    names = tuple((_TOP + _LINE * place, name) for place, name in enumerate(tensors))
    places = {name: y for y, name in names}
    height = _TOP + _LINE * len(tensors) + _MARGIN
    marks = tuple(
        Mark(axis.at(min(share, _NO_NUMBER)), places[tensor], *_mark(index), f"{candidate}: {tensor}: {share:.3g}")
        for index, (candidate, shares) in enumerate(steps.items())
        for tensor, share in shares.items()
    )
    return Picture(_WIDTH, height, axis.at(1.0), tuple(axis.ticks(8)), names, marks, tuple(_legend(steps)))


def _legend(steps: Mapping[str, object]) -> Iterator[tuple[int, str, str, str]]:
    x = _LEFT
    for index, name in enumerate(steps):
        yield x, name, *_mark(index)
        x += 28 + 8 * len(name)


def _mark(index: int) -> tuple[str, str]:
    return _MARKS[index % len(_MARKS)]


def write_page(path: Path, rows: list[Row], speeds: Mapping[str, float]) -> None:
    """Write the page: the table, the picture, the speeds.  Raises ReportError where it cannot be written."""
    steps = {row.name: row.tensors for row in rows if row.tensors}
    loader = jinja2.FileSystemLoader(_HERE)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    style = Markup((_HERE / "page.css").read_text(encoding="utf-8"))
    picture = draw(steps) if steps else None
    template = environment.get_template("page.html.jinja")
    write_whole(path, template.render(rows=rows, parts=PARTS, picture=picture, speeds=speeds, style=style) + "\n")
