"""Which operations a line of C or CUDA can affect, by the names that its definition mentions and is mentioned by."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping

from conformance.proof.faults.recipes import reached

from .definitions import Definition, definitions_of
from .source import without_comments

_UNITS = (".c", ".cu")


class Reach:
    """Which operations a line of a library can affect.

    Names are all that is looked at: an operation reaches the definitions of the names that its entry mentions, those
    that these mention, and so on.  That is more than are called, and never less; where nothing reaches a line, it is
    said to affect all operations.  services: the name of what uses a library's memory and streams.
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

    def operations(self, file: str, line: int) -> frozenset[str]:
        """Return the operations that a line can affect."""
        one = self.definition(file, line)
        return frozenset(self._reached.get(one, self._all)) if one else self._all


class _Names:
    """Which definitions a name can mean: those of its own file, of headers, and what headers declare of other files."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.definitions = {file: definitions_of(file, text) for file, text in sources.items()}
        self._by_name: dict[str, list[Definition]] = {}
        for one in (one for some in self.definitions.values() for one in some):
            for name in one.names:
                self._by_name.setdefault(name, []).append(one)
        words = {file: _words(text) for file, text in sources.items() if not file.endswith(_UNITS)}
        self._visible = {file: _visible(file, sources) for file in sources}
        self._declared = {
            file: frozenset().union(*(words[each] for each in seen if each in words))
            for file, seen in self._visible.items()
        }

    def closure(self, entry: Definition) -> set[Definition]:
        """Return what a definition mentions, what that mentions, and so on, and itself."""
        found, due = {entry}, [entry]
        while due:
            one = due.pop()
            meant = {other for name in one.mentions for other in self._meant(name, one.file)}
            due += (new := {other for other in meant if not (one.is_record and other.is_function)} - found)
            found |= new
        return found

    def _meant(self, name: str, file: str) -> list[Definition]:
        visible, is_declared = self._visible[file], name in self._declared[file]
        found = self._by_name.get(name, ())
        return [one for one in found if one.file in visible or (is_declared and not one.is_hidden)]


def _visible(file: str, sources: Mapping[str, str]) -> set[str]:
    """The files whose names a file may use: for a header those, too, of the units that include it."""
    units = [unit for unit in sources if unit == file or file in reached(unit, sources)]
    return {each for unit in units for each in (unit, *reached(unit, sources))}


def _words(text: str) -> frozenset[str]:
    """The names that stand in a header, those of files that it includes left out."""
    code = re.sub(r"^#include.*$", "", without_comments(text), flags=re.MULTILINE)
    return frozenset(re.findall(r"\w+", code))
