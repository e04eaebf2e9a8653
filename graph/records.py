"""A record of a graph: it writes one value, by one kind of layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    """One record.

    inputs: values read, in the kind's order (a loss reads prediction and label); parameters: names, likewise, shared
    between records at will; output: the value written; attributes: typed and complete, as `graph.read` makes them.
    """

    kind: str
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    output: str
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.kind, self.inputs, self.parameters, self.output))


def place(number: int, record: Record) -> str:
    """Say which record is meant: "record 3 (conv2d -> h2)"."""
    return f"record {number} ({record.kind} -> {record.output})"


def unwritten(records: Iterable[Record]) -> tuple[str, ...]:
    """The values that records read and none writes, in the order in which they are first read."""
    records = tuple(records)
    written = {record.output for record in records}
    return tuple(dict.fromkeys(name for record in records for name in record.inputs if name not in written))
