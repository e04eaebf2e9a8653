"""The map from a framework's entry points to the header's operations, in one TOML file.

[framework]                       # of all tables; the keys of `Settings`
least_axes = 1

[map_strided]
call = "tensorMap"
arguments = ["float* output", "int* output_shape", "int* output_strides", "int output_elements",
             "float* input", "int* input_shape", "int* input_strides", "int input_size", "int axes", "int function"]
functions = { identity = 0, negative = 2, relu = 5 }
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.kernels import MapError

from .entry import Entry, function_names, read_entry
from .parameter import ENTRIES, LARGEST, NUMBER, WHOLE
from .settings import Settings, changed

TABLE = "framework"


@dataclass(frozen=True)
class FrameworkMap:
    """Entries by operation, in the header's order."""

    entries: Mapping[str, Entry]

    def unsaid(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Say what of a call the framework cannot be told; nothing where it can, and of what it has not."""
        entry = self.entries.get(operation)
        return entry.unsaid(arguments) if entry else ""

    def sentences(self, operations: Collection[str]) -> Iterator[str]:
        """Yield for each of the operations what of it is not supported, as a run says it."""
        for entry in self.entries.values():
            if entry.operation in operations and (lacking := ", ".join(_lacking(entry))):
                yield f"not supported of {entry.operation}, which is {entry.call}: {lacking}"


def _lacking(entry: Entry) -> Iterator[str]:
    settings = entry.settings
    names = function_names(entry.operation) if entry.functions is not None else []
    lacking = [name for number, name in enumerate(names) if number not in (entry.functions or {})]
    if lacking:
        yield f"{' '.join(lacking)}"
    if entry.at_start:
        yield f"offsets of {' and '.join(entry.at_start)}"
    if entry.dense:
        yield f"strides of {' and '.join(entry.dense)}"
    narrow = sorted({p.type for p in entry.parameters if p.kind in (ENTRIES, NUMBER) and WHOLE[p.type][1] < LARGEST})
    if narrow:
        yield f"numbers past {' and '.join(narrow)}"
    if settings.most_axes < type(settings)().most_axes:
        yield f"more than {settings.most_axes} axes"
    if not settings.empty:
        yield "tensors without an element"
    if entry.operation == "reduce_strided" and settings.several_axes != type(settings)().several_axes:
        yield "several axes at once"


def is_of_framework(path: Path) -> bool:
    """Whether a map is one of a framework's entry points: what cannot be read is none."""
    try:
        return TABLE in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False


def read_map(path: Path) -> FrameworkMap:
    """Read a map.  Raises MapError."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise MapError(f"{path}: {error}") from None
    if TABLE not in content:
        raise MapError(f"{path}: expected a table [{TABLE}], which says what its tensors can be, got none")
    common = content.pop(TABLE)
    if not isinstance(common, dict):
        raise MapError(f"{path}: {TABLE}: expected a table, got {common!r}")
    if not content:
        raise MapError(f"{path}: expected a table for each operation, such as [map_strided], got none")
    settings = changed(f"{path}: {TABLE}", Settings(), common)
    entries: dict[str, Entry] = {}
    for name, table in content.items():
        entry = read_entry(path, name, table, settings)
        if entry.operation in entries:
            raise MapError(f"{path}: expected one table for each operation, got [{name}] beside another")
        entries[entry.operation] = entry
    return FrameworkMap(entries)
