"""The order in which records are evaluated: every value is written before it is read."""

from __future__ import annotations

import heapq

from .errors import GraphError
from .reading import Graph
from .records import place


def order(graph: Graph) -> tuple[int, ...]:
    """Return the records' numbers in an order of evaluation, the given one where that is one.

    Raises GraphError for a value that is written twice, or written although it is an input or a parameter; for one
    that is read and comes from nowhere; and for a cycle, naming the records on it.
    """
    writer = _writers(graph)
    readers: list[list[int]] = [[] for _ in graph.records]
    missing = [0] * len(graph.records)
    for number, record in enumerate(graph.records):
        for name in record.inputs:
            if (source := writer.get(name)) is not None:
                readers[source].append(number)
                missing[number] += 1
    ready = [number for number, count in enumerate(missing) if not count]
    found = []
    while ready:
        number = heapq.heappop(ready)
        found.append(number)
        for reader in readers[number]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, reader)
    if len(found) < len(graph.records):
        raise GraphError(f"cycle: {_cycle(graph, writer, missing)}")
    return tuple(found)


def _writers(graph: Graph) -> dict[str, int]:
    """Which record writes each value."""
    inputs, parameters = set(graph.inputs), set(graph.parameters)
    if both := inputs & parameters:
        raise GraphError(f"{min(both)}: expected an input or a parameter, got a name of both")
    writer: dict[str, int] = {}
    for number, record in enumerate(graph.records):
        where, name = place(number, record), record.output
        if name in writer:
            other = place(writer[name], graph.records[writer[name]])
            raise GraphError(f"{where}: output {name}: expected a value written once, got one that {other} writes too")
        if name in inputs or name in parameters:
            what = "an input" if name in inputs else "a parameter"
            raise GraphError(f"{where}: output {name}: expected a name of its own, got that of {what}")
        writer[name] = number
    for number, record in enumerate(graph.records):
        for name in record.inputs:
            if name not in writer and name not in inputs:
                what = "a parameter" if name in parameters else "an unknown name"
                expected = "an input of the graph or a value that a record writes"
                raise GraphError(f"{place(number, record)}: input {name}: expected {expected}, got {what}")
    return writer


def _cycle(graph: Graph, writer: dict[str, int], missing: list[int]) -> str:
    """The records of one cycle, each of which reads what the one before it writes."""
    stuck = {number for number, count in enumerate(missing) if count}
    number, seen = min(stuck), dict[int, int]()
    way: list[int] = []
    while number not in seen:  # backwards: what is stuck reads something of another that is
        seen[number] = len(way)
        way.append(number)
        sources = (writer.get(name) for name in graph.records[number].inputs)
        number = next(source for source in sources if source in stuck and source is not None)
    around = way[seen[number] :][::-1]
    first = around.index(min(around))
    around = around[first:] + around[:first]
    return ", ".join(place(one, graph.records[one]) for one in around) + " read each other's values in a circle"
