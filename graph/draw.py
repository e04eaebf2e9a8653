"""A graph as SVG: a box for each record and input, a line for each value that one reads of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

from .kinds import KINDS
from .layout import Layout, layout
from .order import order
from .reading import Graph
from .records import Record, place

Shapes = Mapping[str, tuple[int, ...]]
Span = tuple[float, float]  # from top to bottom
_FONT, _CHARACTER, _LINE = 11, 6.7, 15  # of a monospaced font: size, width and height in pixels
_GAP, _BETWEEN, _MARGIN, _INSIDE = 22.0, 44.0, 16.0, 8.0  # beside a box, between layers, around the drawing, in a box
_LONGEST = 30  # characters of a line; more are cut, and stand whole in the box' title
# Below a class, since a page may hold the drawing among others.
_RULES = (
    f"text{{font:{_FONT}px 'DejaVu Sans Mono',ui-monospace,Menlo,Consolas,monospace;text-anchor:middle}}",
    "text{fill:#1c2530}",
    ".kind{font-weight:600}.more{fill:#5a6675}",
    "rect{fill:#f4f7fb;stroke:#8ea2b8}.input rect{fill:#fff;stroke-dasharray:4 3}",
    ".loss rect{fill:#fdf6e3;stroke:#c9a227}",
    ".marked rect{fill:#fde8e6;stroke:#c0271b;stroke-width:2}path{fill:none;stroke:#7d8b9a;stroke-width:1.2}",
)
_STYLE = "".join(f".graph {rule}" for rules in _RULES for rule in rules.replace("}", "}\n").splitlines())


def draw(graph: Graph, shapes: Shapes | None = None, marked: Mapping[int, str] | None = None) -> str:
    """Return the drawing, an <svg> element.

    shapes: of values and parameters, shown where given.  marked: by a record's number why it stands out, which its
    title says.  Raises GraphError for a graph that has no order.
    """
    shapes, marked = shapes or {}, marked or {}
    count = len(graph.records)
    said = [_text(record, shapes) for record in graph.records]
    said += [[name, _shape(name, shapes)] for name in graph.inputs]
    texts = [[_cut(line) for line in lines if line] for lines in said]
    widths = [max(map(len, lines)) * _CHARACTER + 2 * _INSIDE for lines in texts]
    number = {name: n for n, name in enumerate([*(record.output for record in graph.records), *graph.inputs])}
    edges = [(number[name], n) for n, record in enumerate(graph.records) for name in record.inputs]
    inputs = range(count, len(texts))
    made = layout([width + _GAP for width in widths], edges, [*inputs, *order(graph)], set(inputs))
    spans, height = _spans(made, texts)
    parts = [_line(made, way, spans) for way in made.ways.values()]
    for n, lines in enumerate(texts):
        title = _title(n, graph, marked)
        parts.append(_box(made.x[n] + _MARGIN, spans[n], widths[n], lines, _kind(n, graph, marked), title))
    width = max((x + w / 2 for x, w in zip(made.x, made.widths, strict=True)), default=0.0) + 2 * _MARGIN
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" {size} role="img">'
    return "\n".join([head, f"<style>{_STYLE}</style>", *parts, "</svg>\n"])


def _text(record: Record, shapes: Shapes) -> list[str]:
    """The lines of a record's box: its kind, what it writes, its parameters."""
    parameters = ", ".join(f"{name} {_shape(name, shapes)}".rstrip() for name in record.parameters)
    return [record.kind, f"{record.output} {_shape(record.output, shapes)}".rstrip(), parameters]


def _shape(name: str, shapes: Shapes) -> str:
    return "\u00d7".join(map(str, shapes[name])) if name in shapes else ""


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _kind(n: int, graph: Graph, marked: Mapping[int, str]) -> str:
    if n >= len(graph.records):
        return "input"
    return "marked" if n in marked else "loss" if KINDS[graph.records[n].kind].is_loss else "record"


def _title(n: int, graph: Graph, marked: Mapping[int, str]) -> str:
    """What is shown where somebody points at a box: all that it stands for."""
    if n >= len(graph.records):
        return f"input {graph.inputs[n - len(graph.records)]}"
    record = graph.records[n]
    said = [place(n, record), *([marked[n]] if n in marked else [])]
    for what, names in (("reads", record.inputs), ("parameters", record.parameters)):
        said += [f"{what}: {', '.join(names)}"] if names else []
    return "\n".join([*said, *(f"{name} = {value}" for name, value in record.attributes.items())])


def _spans(made: Layout, texts: Sequence[Sequence[str]]) -> tuple[list[Span], float]:
    """Top and bottom of each box and bend, and the drawing's height; boxes stand in the middle of their layer."""
    spans, at = [(0.0, 0.0)] * len(made.widths), _MARGIN
    for nodes in made.layers:
        high = {n: len(texts[n]) * _LINE + 2 * _INSIDE for n in nodes if n < len(texts)}
        most = max(high.values(), default=0.0)
        for n in nodes:
            left = (most - high.get(n, most)) / 2
            spans[n] = at + left, at + most - left
        at += most + _BETWEEN
    return spans, at - _BETWEEN + _MARGIN if made.layers else 2 * _MARGIN


def _line(made: Layout, way: Sequence[int], spans: Sequence[Span]) -> str:
    """A line from below a box to above another, straight down through the layers between."""
    drawn = ""
    for a, b in pairwise(way):
        x, y, u, v = made.x[a] + _MARGIN, spans[a][1], made.x[b] + _MARGIN, spans[b][0]
        start = f"V{y:.1f}" if drawn else f"M{x:.1f} {y:.1f}"
        drawn += f"{start}C{x:.1f} {(y + v) / 2:.1f} {u:.1f} {(y + v) / 2:.1f} {u:.1f} {v:.1f}"
    return f'<path d="{drawn}"/>'


def _box(x: float, span: Span, width: float, lines: Sequence[str], kind: str, title: str) -> str:
    """A box around its middle, x."""
    top, bottom = span
    corner = f'x="{x - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" height="{bottom - top:.1f}" rx="5"'
    texts = []
    for number, line in enumerate(lines):
        at = f'x="{x:.1f}" y="{top + _INSIDE + (number + 0.75) * _LINE:.1f}"'
        texts.append(f'<text {at} class="{"more" if number else "kind"}">{escape(line)}</text>')
    return f'<g class="{kind}"><title>{escape(title)}</title><rect {corner}/>{"".join(texts)}</g>'
