"""The table of launches: a line for each call, and for all architectures on which it launches the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, TypeAlias

from conformance.operations import OPERATIONS, layout_arrays
from conformance.paths import CUDA

from .plans import ARCHITECTURES, Plan, Plans, Sizes, operation_of

TABLE = CUDA / "launches.tsv"
_HEAD = ("call", "architectures", "launches")
_BETWEEN, _NOTHING = "; ", "-"
_ALL = "all"  # architectures
_MOST = 16  # calls of an operation
_MOST_STRIDED = 256  # of strided tensors, whose way depends on how they lie more than on how large they are
Shape: TypeAlias = tuple[Plan, ...]  # launches without their grids, by architecture


class TableError(ValueError):
    """A table that cannot be read; the message names the line."""


class Difference(NamedTuple):
    """A call that launches something else than the table says, on some architectures."""

    id: str
    architectures: tuple[str, ...]
    expected: Plan
    found: Plan

    def __str__(self) -> str:
        where = ", ".join(self.architectures)
        return f"{self.id} on {where}: expected {_words(self.expected)}, got {_words(self.found)}"


def chosen(calls: Mapping[str, Sizes], plans: Plans) -> list[str]:
    """Return the calls that the table is to hold, in their order.

    Of each operation those between which the kernels, their blocks or their shared memory change as sizes grow: where
    one way ends, and where the next begins.  calls: the sizes of each.
    """
    kept: set[str] = set()
    for _, some in groupby(calls, key=operation_of):
        kept.update(_of_one([*some], calls, plans))
    return [id for id in calls if id in kept]


def _of_one(ids: Sequence[str], calls: Mapping[str, Sizes], plans: Plans) -> list[str]:
    """The calls that stand for those of one operation: the first of each shape, then the borders between shapes."""
    ordered = sorted(ids, key=lambda id: _ascending(calls[id]))
    shapes = {id: _shape(plans[id]) for id in ordered}
    runs = [[*some] for _, some in groupby(ordered, key=shapes.__getitem__)]
    first: dict[Shape, str] = {}
    for id in ordered:
        first.setdefault(shapes[id], id)
    ends = [id for run in runs for id in (run[0], run[-1])]
    most = _MOST_STRIDED if layout_arrays(OPERATIONS[operation_of(ids[0])]) else _MOST
    return [*dict.fromkeys([*first.values(), ordered[0], ordered[-1], *ends])][:most]


def _ascending(sizes: Sizes) -> tuple[float, ...]:
    """Sizes by which calls are ordered: the volume, then one after the other; other values do not count."""
    numbers = [size for size in sizes.values() if isinstance(size, int)]
    volume = 1.0
    for number in numbers:
        volume *= max(number, 1)
    return (volume, *numbers)


def _shape(of_call: Mapping[str, Plan]) -> Shape:
    """What a call launches, whatever its grids are."""
    return tuple(tuple(re.sub(r"<<<[\dx]+", "<<<", launch) for launch in plan) for plan in of_call.values())


def written(plans: Plans) -> str:
    """Return the table as a file."""
    lines = ["\t".join(_HEAD)]
    for id, by_architecture in plans.items():
        for plan in dict.fromkeys(by_architecture.values()):
            same = [arch for arch, each in by_architecture.items() if each == plan]
            lines.append("\t".join([id, _ALL if len(same) == len(ARCHITECTURES) else " ".join(same), _words(plan)]))
    return "\n".join(lines) + "\n"


def _words(plan: Plan) -> str:
    """Launches in their order, with how often each one is made in a row."""
    runs = [(launch, len([*some])) for launch, some in groupby(plan)]
    return _BETWEEN.join(launch if count == 1 else f"{count} x {launch}" for launch, count in runs) or _NOTHING


def _plan(words: str) -> Plan:
    """What `_words` made the words of."""
    runs = [re.fullmatch(r"(?:(\d+) x )?(.*)", each) for each in words.split(_BETWEEN)] if words != _NOTHING else []
    return tuple(found[2] for found in runs if found for _ in range(int(found[1] or 1)))


def read(path: Path = TABLE) -> dict[str, dict[str, Plan]]:
    """Return what the table says.  Raises TableError."""
    try:
        head, *lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: expected a table of launches: {error}") from None
    if tuple(head.split("\t")) != _HEAD:
        raise TableError(f"{path}:1: expected {', '.join(_HEAD)}, got {head}")
    rows: dict[str, dict[str, Plan]] = {}
    for number, line in enumerate(lines, 2):
        id, architectures, plan = _cells(path, number, line)
        for architecture in architectures:
            rows.setdefault(id, {})[architecture] = plan
    return rows


def _cells(path: Path, number: int, line: str) -> tuple[str, Sequence[str], Plan]:
    cells = line.split("\t")
    architectures = ARCHITECTURES if cells[1:2] == [_ALL] else tuple(" ".join(cells[1:2]).split())
    if len(cells) != len(_HEAD) or not {*architectures} <= {*ARCHITECTURES}:
        expected = f"a call, {_ALL} or some of {', '.join(ARCHITECTURES)}, launches"
        raise TableError(f"{path}:{number}: expected {expected}; got {line}")
    return cells[0], architectures, _plan(cells[2])


def differences(expected: Plans, found: Plans) -> Iterator[Difference]:
    """Yield where calls launch something else than they should, those of one call and one difference together."""
    for id, by_architecture in expected.items():
        pairs: dict[tuple[Plan, Plan], list[str]] = {}
        for architecture, plan in by_architecture.items():
            if plan != (other := found[id][architecture]):
                pairs.setdefault((plan, other), []).append(architecture)
        yield from (Difference(id, tuple(where), plan, other) for (plan, other), where in pairs.items())
