"""The entries that a part of a library leaves out: what only they need is then not compiled."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from .definitions import Definition, definitions_of

_PREFIX, _ENTRY = "cuda_", re.compile(r"int32_t cuda_(\w+)\(")
_END = "}"  # at the margin
Span = tuple[int, int]  # the first line, from 1, and the last


def left_out(operations: Collection[str], sources: Mapping[str, str]) -> dict[str, list[Span]]:
    """Return by file the lines of entries that neither are of these operations nor called by what stays.

    An entry that a macro makes stays.
    """
    every = [one for file, text in sources.items() for one in definitions_of(file, text)]
    rest = {name: one for one in every if (name := _operation(one)) and name not in operations}
    due = [one for one in every if one not in rest.values()]
    while due:
        called = {name for name in rest if _PREFIX + name in due[-1].mentions}
        due[-1:] = [rest.pop(name) for name in called]
    spans: dict[str, list[Span]] = {}
    for one in rest.values():
        last = sources[one.file].split("\n").index(_END, one.line - 1) + 1
        spans.setdefault(one.file, []).append((one.line, last))
    return spans


def _operation(one: Definition) -> str | None:
    """The operation that a definition is the entry of, unless it is a macro."""
    found = _ENTRY.match(one.text)
    return found[1] if found else None


def blank(text: str, spans: Iterable[Span]) -> str:
    """Return a source with nothing in these lines; all lines keep their numbers."""
    lines = text.split("\n")
    for first, last in spans:
        lines[first - 1 : last] = [""] * (last + 1 - first)
    return "\n".join(lines)
