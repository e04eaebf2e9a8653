"""The map from somebody's own functions to the header's operations, in one TOML file.

    [rmsnorm]                                     # an operation of the header
    call = "rms_norm<float>"                      # a function of theirs; or kernel = "...", with grid and block
    arguments = ["output", "input", "transposed(weight)", "rows * hidden_dim", 1e-6]

An argument is an expression of C++ over the names of the header's arguments and whatever the file knows.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.unsupported import UnsupportedCalls

from .entry import Entry, MapError, read_entry

_OF_BUILDS = ("include", "define", "link")


@dataclass(frozen=True)
class Boundary:
    """Functions of the header's names as a source of their own, which call what the other sources export as C.

    Their arrays lie in host memory.  text: the source.  mapped: the operations.  chart: what they cannot be told.
    """

    text: str
    mapped: tuple[str, ...]
    chart: UnsupportedCalls


@dataclass(frozen=True)
class Map:
    """Entries by operation; folders of headers and macros that the sources are compiled with.

    link: libraries that a device's build is linked to.
    """

    entries: Mapping[str, Entry]
    include: tuple[Path, ...] = ()
    define: tuple[str, ...] = ()
    link: tuple[str, ...] = ()


def read_map(path: Path) -> Map:
    """Read a map.  Raises MapError."""
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise MapError(f"{path}: {error}") from None
    build = content.pop("build", {})
    if not content and not build:
        raise MapError(f"{path}: expected a table for each operation, such as [rmsnorm], got none")
    entries: dict[str, Entry] = {}
    for name, table in content.items():
        entry = read_entry(path, name, table, _line(text, name))
        if entry.function.operation in entries:
            raise MapError(f"{path}: expected one table for each operation, got [{name}] beside another")
        entries[entry.function.operation] = entry
    include, define, link = _build(path, build)
    return Map(entries, tuple(path.resolve().parent / folder for folder in include), define, link)


def _line(text: str, table: str) -> int:
    """Where a table's head stands; tomllib does not say."""
    found = re.search(rf'^\s*\[\s*["\']?{re.escape(table)}["\']?\s*\]', text, re.MULTILINE)
    return text.count("\n", 0, found.end()) + 1 if found else 1


def _build(path: Path, table: Any) -> list[tuple[str, ...]]:
    """The words of each key of [build], in the order of the keys."""
    if not isinstance(table, dict) or not {*table} <= {*_OF_BUILDS}:
        raise MapError(f"{path}: build: expected a table of {', '.join(_OF_BUILDS)}, got {_shown(table)}")
    found = []
    for key in _OF_BUILDS:
        words = table.get(key, [])
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            raise MapError(f"{path}: build.{key}: expected a list of words, got {words!r}")
        found.append(tuple(words))
    for folder in found[0]:
        if not (path.resolve().parent / folder).is_dir():
            raise MapError(f"{path}: build.include: expected a folder beside the map, got {folder!r}")
    return found


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, dict) else repr(value)
