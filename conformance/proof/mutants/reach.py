"""Which operations a line of C or CUDA can affect, by the names that its definition mentions and is mentioned by."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping
from itertools import chain
from typing import TypeAlias

from conformance.proof.faults.recipes import reached

from .definitions import Definition, definitions_of
from .source import without_comments

_UNITS = (".c", ".cu")


class Reach:
    """Which operations a line of a library can affect.

    Names are all that is looked at: an operation reaches the definitions of the names that its entry mentions, those
    that these mention, and so on, each in the unit that it is compiled in.  That is more than are called, and never
    less; where nothing reaches a line, it is said to affect all operations.  services: the name of what uses a
    library's memory and streams.
    """

    def __init__(self, sources: Mapping[str, str], operations: Collection[str], services: str) -> None:
        self._all, self._services = frozenset(operations), services
        self._names = _Names(sources)
        self._reached: dict[Definition, set[str]] = {}
        for entry in (one for some in self._names.definitions.values() for one in some):
            for operation in self._asked(entry):
                for one in self._names.closure(entry):
                    self._reached.setdefault(one, set()).add(operation)

    def _asked(self, entry: Definition) -> frozenset[str]:
        """What of the judge calls a definition by its name."""
        return (entry.operations & self._all) | ({self._services} if entry.is_service else set())

    def definition(self, file: str, line: int) -> Definition | None:
        """Return what a line belongs to."""
        some = self._names.definitions.get(file, [])
        place = bisect_right([one.line for one in some], line)
        return some[place - 1] if place else None

    def entries(self, file: str) -> frozenset[str]:
        """Return the operations whose entries stand in a file."""
        return frozenset(name for one in self._names.definitions[file] for name in one.operations)

    def of_file(self, file: str) -> frozenset[str]:
        """Return the operations that reach anything of a file."""
        return frozenset().union(*(self._reached.get(one, ()) for one in self._names.definitions.get(file, ())))

    def operations(self, file: str, line: int) -> frozenset[str]:
        """Return the operations that a line can affect."""
        one = self.definition(file, line)
        return frozenset(self._reached.get(one, self._all)) if one else self._all


class _Names:
    """Which definitions a name can mean where a unit is compiled: those of the unit and of what it includes, and what
    these declare of other files."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.definitions = {file: definitions_of(file, text) for file, text in sources.items()}
        self._by_name: dict[str, list[Definition]] = {}
        for one in (one for some in self.definitions.values() for one in some):
            for name in one.names:
                self._by_name.setdefault(name, []).append(one)
        words = {file: _words(text) for file, text in sources.items() if not file.endswith(_UNITS)}
        self._units = _units(sources)
        self._visible = {unit: {unit, *reached(unit, sources)} for unit in {*chain(*self._units.values())}}
        self._declared = {
            unit: frozenset().union(*(words[each] for each in seen if each in words))
            for unit, seen in self._visible.items()
        }
        self._known: dict[tuple[str, str], frozenset[_Compiled]] = {}

    def closure(self, entry: Definition) -> set[Definition]:
        """Return what a definition mentions, what that mentions, and so on, and itself."""
        found = {(entry, unit) for unit in self._units[entry.file]}
        due = [*found]
        while due:
            one, unit = due.pop()
            meant = {other for name in one.mentions for other in self._meant(name, unit)}
            due += (new := {other for other in meant if not (one.is_record and other[0].is_function)} - found)
            found |= new
        return {one for one, _ in found}

    def _meant(self, name: str, unit: str) -> frozenset[_Compiled]:
        """What a name can mean in a unit, each with the unit that it is compiled in."""
        if (name, unit) not in self._known:
            own = [one for one in self._by_name.get(name, ()) if one.file in self._visible[unit]]
            is_declared = name in self._declared[unit]
            others = [one for one in self._by_name.get(name, ()) if is_declared and not one.is_hidden]
            elsewhere = (one for one in others if one.file not in self._visible[unit])
            there = {(one, other) for one in elsewhere for other in self._units[one.file]}
            self._known[name, unit] = frozenset({*((one, unit) for one in own), *there})
        return self._known[name, unit]


_Compiled: TypeAlias = tuple[Definition, str]  # and the unit that it is compiled in


def _units(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """The units that each file is compiled in: itself, or those that include it; a header that nobody includes."""
    reached_by = {unit: reached(unit, sources) for unit in sources if unit.endswith(_UNITS)}
    including = {file: [unit for unit, seen in reached_by.items() if file in seen] for file in sources}
    return {file: [file] if file in reached_by else units or [file] for file, units in including.items()}


def _words(text: str) -> frozenset[str]:
    """The names that stand in a header, those of files that it includes left out."""
    code = re.sub(r"^#include.*$", "", without_comments(text), flags=re.MULTILINE)
    return frozenset(re.findall(r"\w+", code))
