"""Drawings of graphs: boxes apart, no line through a box, everything escaped."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

import graph
from graph.draw import draw
from graph.layout import _crossings, _neighbours, layout
from reference import random

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]


def drawn_at_random(seed: int, count: int = 50) -> graph.Graph:
    """Records that each read two of the nine values before."""
    names, records = ["x0", "x1", "x2"], []
    for n in range(count):
        picked = random.permutation(random.stream("drawing", seed, n), len(names[-9:]))[:2]
        inputs = [names[-9:][place] for place in picked]
        records.append({"kind": "add", "inputs": inputs, "output": f"value{n}"})
        names.append(f"value{n}")
    return graph.Graph.read(records)


def boxes(svg: str) -> list[Box]:
    """Left, top, right and bottom of each."""
    found = []
    for each in ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        x, y, width, height = (float(each.attrib[name]) for name in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


def lines(svg: str) -> list[list[tuple[float, float]]]:
    """Points along each line: of its curves 20, and the ends of what is straight."""
    found = []
    for path in ElementTree.fromstring(svg).iter(f"{SVG}path"):
        points: list[tuple[float, float]] = []
        for letter, text in re.findall(r"([MCV])([^MCV]+)", path.attrib["d"]):
            numbers = [float(n) for n in text.split()]
            if letter == "C":
                control = [points[-1], *zip(numbers[::2], numbers[1::2], strict=True)]
                points += [bezier(control, step / 20) for step in range(1, 21)]
            else:
                points.append((numbers[0], numbers[1]) if letter == "M" else (points[-1][0], numbers[0]))
        found.append(points)
    return found


def bezier(p: list[tuple[float, float]], t: float) -> tuple[float, float]:
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    return tuple(sum(w * point[axis] for w, point in zip(weights, p, strict=True)) for axis in (0, 1))  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(4))
def test_boxes_stand_apart_and_no_line_runs_through_one(seed: int) -> None:
    made = drawn_at_random(seed)
    svg = draw(made, {f"value{n}": (2, 3) for n in range(50)})
    found = boxes(svg)
    assert len(found) == 50 + len(made.inputs)
    for a, b in combinations(found, 2):
        assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
    for points in lines(svg):
        for (x, y), (u, v) in pairwise(points):
            middle = ((x + u) / 2, (y + v) / 2)
            assert not any(b[0] < middle[0] < b[2] and b[1] < middle[1] < b[3] for b in found)


def test_lines_go_down_from_a_box_to_the_one_that_reads_it() -> None:
    svg = draw(drawn_at_random(5))
    tops, bottoms = ({round(box[side], 1) for box in boxes(svg)} for side in (1, 3))
    for points in lines(svg):
        assert round(points[0][1], 1) in bottoms
        assert round(points[-1][1], 1) in tops
        assert all(a[1] <= b[1] for a, b in pairwise(points))


def test_sweeps_leave_fewer_crossings_and_none_where_none_need_be() -> None:
    edges = [(0, 5), (1, 4), (2, 3), (0, 6), (3, 6)]
    made = layout([40.0] * 7, edges, range(7), set())
    assert _crossings(made.layers, _neighbours(made)[1]) == 0


def test_text_is_escaped_cut_and_whole_in_its_title() -> None:
    name = "a <b> & " + "very " * 9 + "long name"
    records = [{"kind": "relu", "inputs": [name], "output": "y"}, {"kind": "mse", "inputs": ["y", "t"], "output": "l"}]
    svg = draw(graph.Graph.read(records), marked={0: "5 times the limit"})
    root = ElementTree.fromstring(svg)
    titles = [each.text or "" for each in root.iter(f"{SVG}title")]
    assert f"input {name}" in titles
    assert any(title.startswith("record 0 (relu -> y)\n5 times the limit\nreads: a <b>") for title in titles)
    assert all(len(each.text or "") <= 30 for each in root.iter(f"{SVG}text"))
    assert [each.attrib["class"] for each in root.iter(f"{SVG}g")] == ["marked", "loss", "input", "input"]


def test_every_rule_is_below_a_class_so_that_a_page_keeps_its_own() -> None:
    style = next(ElementTree.fromstring(draw(drawn_at_random(1))).iter(f"{SVG}style")).text or ""
    assert all(rule.startswith(".graph ") for rule in style.splitlines() if rule.strip())


def test_a_graph_of_no_record_and_one_in_a_circle() -> None:
    assert boxes(draw(graph.Graph((), ()))) == []
    around = [{"kind": "relu", "inputs": ["b"], "output": "a"}, {"kind": "relu", "inputs": ["a"], "output": "b"}]
    with pytest.raises(graph.GraphError, match="cycle: record"):
        draw(graph.Graph.read(around))
