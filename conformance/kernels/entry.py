"""One table of a map: which function computes an operation, and what each of its parameters gets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bindings.header.read import read_header
from bindings.header.records import Function

_KEYS = ("call", "kernel", "arguments", "grid", "block", "shared", "memory")
_OF_KERNELS = ("grid", "block", "shared")
_MEMORIES = ("device", "host")
_MOST_AXES = 3


class MapError(ValueError):
    """A map that cannot be used; the message names the key, what was expected and what came."""


@dataclass(frozen=True)
class Entry:
    """How one operation is computed: by a call, or by launching a kernel.

    arguments: expressions of C++ in the order of the function's parameters; None where its parameters' names say it.
    line: where the table stands.  source: the file of the map, None where no map was needed.
    """

    function: Function
    called: str
    arguments: tuple[str, ...] | None
    grid: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    shared: str = "0"
    on_host: bool = False
    line: int = 1
    source: Path | None = None

    @property
    def is_launch(self) -> bool:
        return bool(self.grid)

    @property
    def where(self) -> str:
        """The table, for messages."""
        return f"{self.source}: {self.function.operation}"

    @property
    def key(self) -> str:
        """The key that names the function."""
        return "kernel" if self.is_launch else "call"


def read_entry(path: Path, name: str, table: Any, line: int) -> Entry:
    """Read the table of a name, which stands at a line of the map.  Raises MapError."""
    where = f"{path}: {name}"
    operations = read_header().operations
    operation = name.removeprefix("cuda_")
    if operation not in operations:
        near = get_close_matches(operation, operations, 1)
        hint = f"; did you mean {near[0]}?" if near else "; `assayer list` shows what there is"
        raise MapError(f"{path}: expected tables named after the header's operations, got [{name}]{hint}")
    if not isinstance(table, dict):
        raise MapError(f"{where}: expected a table of {', '.join(_KEYS)}, got {table!r}")
    _check_keys(where, table)
    launch = "kernel" in table
    return Entry(
        operations[operation],
        _name(where, "kernel" if launch else "call", table),
        _expressions(where, "arguments", table["arguments"]) if "arguments" in table else None,
        _dimensions(where, "grid", table) if launch else (),
        _dimensions(where, "block", table) if launch else (),
        _expression(where, "shared", table.get("shared", 0)),
        _memory(where, table) == "host",
        line,
        path,
    )


def _check_keys(where: str, table: Mapping[str, Any]) -> None:
    """Raise MapError for keys that are unknown, missing, or do not go together."""
    if unknown := next((key for key in table if key not in _KEYS), None):
        near = get_close_matches(unknown, _KEYS, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise MapError(f"{where}.{unknown}: expected one of {', '.join(_KEYS)}, got {unknown!r}{hint}")
    if ("call" in table) == ("kernel" in table):
        got = "both" if "call" in table else "neither"
        raise MapError(f"{where}: expected either call (a function of the host) or kernel (one to launch), got {got}")
    if "kernel" in table and (missing := next((key for key in ("grid", "block") if key not in table), None)):
        raise MapError(f'{where}.{missing}: expected it beside kernel, such as "(rows + 255) / 256", got nothing')
    if "call" in table and (unfit := next((key for key in _OF_KERNELS if key in table), None)):
        raise MapError(f"{where}.{unfit}: expected it beside kernel only, got it beside call")
    if "kernel" in table and "memory" in table:
        raise MapError(f"{where}.memory: expected it beside call only: a kernel's arrays are the device's")


def _name(where: str, key: str, table: Mapping[str, Any]) -> str:
    name = table[key]
    if not isinstance(name, str) or not re.fullmatch(r"(?:::)?[A-Za-z_]\w*(?:::\w+)*\s*(?:<.*>)?", name.strip()):
        raise MapError(f'{where}.{key}: expected a function\'s name, such as "space::rms_norm<float>", got {name!r}')
    return name.strip().removeprefix("::")


def _dimensions(where: str, key: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    """One expression, or a list of up to three."""
    value = table[key]
    found = _expressions(where, key, value if isinstance(value, list) else [value])
    if not 1 <= len(found) <= _MOST_AXES:
        raise MapError(f"{where}.{key}: expected 1 to {_MOST_AXES} sizes, got {len(found)}")
    return found


def _memory(where: str, table: Mapping[str, Any]) -> str:
    memory = table.get("memory", _MEMORIES[0])
    if memory not in _MEMORIES:
        raise MapError(f"{where}.memory: expected {' or '.join(_MEMORIES)}, got {memory!r}")
    return str(memory)


def _expressions(where: str, key: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise MapError(f"{where}.{key}: expected a list of expressions, got {values!r}")
    return tuple(_expression(f"{where}", f"{key}[{place}]", value) for place, value in enumerate(values))


def _expression(where: str, key: str, value: Any) -> str:
    """An expression of C++: a number is written out."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str) or not value.strip() or re.search(r'[;{}\n\\"]|//|/\*', value):
        raise MapError(f"{where}.{key}: expected an expression of C++ or a number, got {value!r}")
    return value.strip()
