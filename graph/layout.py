"""Where the boxes of a drawing stand: layers by longest path, few crossings, lines that pass between boxes.

The steps of Sugiyama, Tagawa and Toda (1981): a line over several layers gets a bend in each of those between; the
order within a layer follows the mean place of the neighbours; places are the nearest to the neighbours' mean that
leave room.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

SWEEPS = 12
BEND = 14.0  # the width that a line has where it passes between boxes


@dataclass
class Layout:
    """Nodes, boxes before bends.  layers: the nodes of each, from left to right; links: between neighbouring layers."""

    widths: list[float]
    layer: list[int]
    layers: list[list[int]]
    links: list[tuple[int, int]]
    x: list[float] = field(default_factory=list)  # the middle of each node
    ways: dict[tuple[int, int], list[int]] = field(default_factory=dict)  # by edge the nodes that its line passes


def layout(widths: Sequence[float], edges: Sequence[tuple[int, int]], ahead: Sequence[int], late: set[int]) -> Layout:
    """Place boxes.

    widths: of each; edges: (from, to); ahead: the boxes in an order in which every edge goes forward; late: boxes
    without edges to them that stand right before the first of those they lead to.
    """
    layer = _layers(len(widths), edges, ahead, late)
    made = Layout([*widths], layer, [], [])
    _bend(made, edges)
    _arrange(made)
    _place(made)
    return made


def _layers(count: int, edges: Sequence[tuple[int, int]], ahead: Sequence[int], late: set[int]) -> list[int]:
    after: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        after[a].append(b)
    layer = [0] * count
    for a in ahead:
        for b in after[a]:
            layer[b] = max(layer[b], layer[a] + 1)
    for a in late:
        if after[a]:
            layer[a] = min(layer[b] for b in after[a]) - 1
    return layer


def _bend(made: Layout, edges: Sequence[tuple[int, int]]) -> None:
    """Give long lines a bend in every layer between; lines from one box share theirs."""
    bends: dict[tuple[int, int], int] = {}
    links: dict[tuple[int, int], None] = {}
    for a, b in dict.fromkeys(edges):
        way = [a]
        for between in range(made.layer[a] + 1, made.layer[b]):
            if (a, between) not in bends:
                bends[a, between] = len(made.widths)
                made.widths.append(BEND)
                made.layer.append(between)
            way.append(bends[a, between])
        made.ways[a, b] = [*way, b]
        links |= dict.fromkeys(pairwise(made.ways[a, b]))
    made.links = [*links]


def _neighbours(made: Layout) -> tuple[list[list[int]], list[list[int]]]:
    above: list[list[int]] = [[] for _ in made.widths]
    below: list[list[int]] = [[] for _ in made.widths]
    for a, b in made.links:
        above[b].append(a)
        below[a].append(b)
    return above, below


def _arrange(made: Layout) -> None:
    """Order each layer by the mean place of its neighbours above, then below, by turns; keep the best that was seen."""
    above, below = _neighbours(made)
    found: list[list[int]] = [[] for _ in range(max(made.layer, default=-1) + 1)]
    for node, number in enumerate(made.layer):
        found[number].append(node)
    made.layers, fewest = [[*nodes] for nodes in found], _crossings(found, below)
    place = {node: i for nodes in found for i, node in enumerate(nodes)}
    for sweep in range(SWEEPS):
        if not fewest:
            return
        beside = below if sweep % 2 else above
        for nodes in reversed(found) if sweep % 2 else found:
            mean = {n: sum(place[o] for o in beside[n]) / len(beside[n]) if beside[n] else place[n] for n in nodes}
            nodes.sort(key=mean.__getitem__)
            place |= {node: i for i, node in enumerate(nodes)}
        if (count := _crossings(found, below)) < fewest:
            made.layers, fewest = [[*nodes] for nodes in found], count


def _crossings(layers: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    """How many pairs of lines cross: pairs of ends below in another order than those above."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {node: i for i, node in enumerate(lower)}
        seen: list[int] = []
        for node in upper:
            ends = [place[other] for other in below[node]]
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _place(made: Layout) -> None:
    above, below = _neighbours(made)
    boxes = len(made.widths)
    made.x = [0.0] * boxes
    for nodes in made.layers:
        _settle(made, nodes, [0.0] * len(nodes))
    for sweep in range(SWEEPS):
        beside = below if sweep % 2 else above
        for nodes in reversed(made.layers) if sweep % 2 else made.layers:
            wanted = [sum(made.x[o] for o in beside[n]) / len(beside[n]) if beside[n] else made.x[n] for n in nodes]
            _settle(made, nodes, wanted)
    left = min((x - width / 2 for x, width in zip(made.x, made.widths, strict=True)), default=0.0)
    made.x = [x - left for x in made.x]


def _settle(made: Layout, nodes: Sequence[int], wanted: Sequence[float]) -> None:
    """Put a layer's nodes as near to where they are wanted as their widths allow, in the sense of least squares.

    Less the room that those before it take, each place is one of a rising sequence: its nearest is found by pooling
    neighbours that fall (Ayer et al. 1955).
    """
    room, taken = [0.0], 0.0
    for a, b in pairwise(nodes):
        taken += (made.widths[a] + made.widths[b]) / 2
        room.append(taken)
    pools: list[list[float]] = []  # sum, count
    for target, before in zip(wanted, room, strict=True):
        pools.append([target - before, 1.0])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += count
    flat = [total / count for total, count in pools for _ in range(int(count))]
    for node, value, before in zip(nodes, flat, room, strict=True):
        made.x[node] = value + before
