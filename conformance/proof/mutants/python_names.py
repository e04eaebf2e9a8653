"""Which operations a line of the reference can affect, by the names that its definition mentions."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from conformance import operations as header

_SHORT = ("ops/sixteen.py", "ops/rounding.py")  # what makes 16-bit operations of others


@dataclass(frozen=True)
class _Definition:
    """A statement of a module: its lines, from 1, what it defines and what it mentions."""

    file: str
    first: int
    last: int
    names: frozenset[str]
    mentions: frozenset[str]


class Names:
    """The reference's definitions.

    An operation reaches those of the names that it mentions, in its own file and in those that this imports, and so on.
    """

    def __init__(self, sources: Mapping[str, str], operations: Collection[str]) -> None:
        self._all = [one for file, text in sources.items() for one in _definitions(file, text)]
        self._imported = {file: {file, *_imported(file, sources)} for file in sources}
        self._by_name: dict[str, list[_Definition]] = {}
        for one in self._all:
            for name in one.names:
                self._by_name.setdefault(name, []).append(one)
        self._reached: dict[_Definition, set[str]] = {}
        for entry in (one for one in self._all if one.file.startswith("ops/")):
            for one in self._closure(entry):
                self._reached.setdefault(one, set()).update(entry.names & set(operations))
        self._sixteen = frozenset(filter(header.is_sixteen_bit, operations))

    def place(self, file: str, line: int) -> str:
        """Return the name of what a line belongs to, or nothing."""
        return min((name for one in self._at(file, line) for name in one.names), default="")

    def lines(self, file: str, line: int) -> tuple[int, int]:
        """Return the first and last line of what a line belongs to; of what belongs to nothing, itself."""
        return next(((one.first, one.last) for one in self._at(file, line)), (line, line))

    def operations(self, file: str, line: int) -> frozenset[str]:
        """Return the operations that a line can affect; none, where only models and steps do."""
        found = {name for one in self._at(file, line) for name in self._reached.get(one, ())}
        return frozenset(found | {name for name in self._sixteen if header.base_of(name) in found or file in _SHORT})

    def _at(self, file: str, line: int) -> list[_Definition]:
        return [one for one in self._all if one.file == file and one.first <= line <= one.last]

    def _closure(self, entry: _Definition) -> set[_Definition]:
        found, due = {entry}, [entry]
        while due:
            one = due.pop()
            seen = self._imported[one.file]
            near = (other for name in one.mentions for other in self._by_name.get(name, ()) if other.file in seen)
            due += (new := set(near) - found)
            found |= new
        return found


def _imported(file: str, sources: Mapping[str, str]) -> Iterator[str]:
    """The files of a package that a file imports by relative names, those of folders among them."""
    folder = posixpath.dirname(file)
    for node in ast.parse(sources[file]).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = posixpath.normpath(
                posixpath.join(folder, *[".."] * (node.level - 1), *(node.module or "").split("."))
            )
            for name in ("", *(alias.name for alias in node.names)):
                path = posixpath.normpath(posixpath.join(base, name))
                yield from (each for each in (f"{path}.py", f"{path}/__init__.py") if each in sources)


def _definitions(file: str, text: str) -> Iterator[_Definition]:
    for node in ast.parse(text).body:
        decorators: list[ast.expr] = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names, decorators = {node.name}, node.decorator_list
        else:
            named = (each for each in ast.walk(node) if isinstance(each, ast.Name))
            names = {each.id for each in named if isinstance(each.ctx, ast.Store)}
        mentions = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        mentions |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
        first = min([node.lineno, *(each.lineno for each in decorators)])
        yield _Definition(file, first, node.end_lineno or node.lineno, frozenset(names), frozenset(mentions))
