"""One table of a map: which function of a framework computes an operation, and what it cannot be told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bindings.header.read import read_header
from bindings.header.records import Function
from conformance.kernels import MapError

from .asked import OPERANDS, Asked, asked
from .parameter import STORAGE, Parameter, read_parameter
from .settings import KEYS, NOT_SUPPORTED, Settings, changed, unknown

_OWN = ("call", "arguments", "functions")
_KINDS = {"map_strided": "MAP", "zip_strided": "ZIP", "reduce_strided": "REDUCE"}
_OF_REDUCTIONS = ("keeps_axis", "several_axes")


@dataclass(frozen=True)
class Entry:
    """How a framework computes one operation.

    functions: its number for each number of the header's that it has; None of an operation that has no functions.
    """

    operation: str
    call: str
    parameters: tuple[Parameter, ...]
    functions: Mapping[int, int] | None
    settings: Settings

    @property
    def function(self) -> Function:
        """The header's declaration."""
        return read_header().operations[self.operation]

    @property
    def words(self) -> frozenset[str]:
        """All that the function is told."""
        return frozenset(word for parameter in self.parameters for word in parameter.words)

    @property
    def dense(self) -> tuple[str, ...]:
        """The operands whose strides the function is not told: it has to take them for dense ones."""
        return tuple(name for name in OPERANDS[self.operation] if f"{name}_strides" not in self.words)

    @property
    def at_start(self) -> tuple[str, ...]:
        """The operands whose offset the function is not told: their storages have to begin with them."""
        return tuple(name for name in OPERANDS[self.operation] if f"{name}_offset" not in self.words)

    def unsaid(self, arguments: Mapping[str, Any]) -> str:
        """Say what of a call of the header's the function cannot be told; nothing where that is nothing."""
        if self.functions is not None and arguments["function"] not in self.functions:
            return f"{self.call} has no {function_names(self.operation)[arguments['function']]}"
        calls = list(asked(self.operation, self.settings, arguments))
        if len(calls) > 1 and self.settings.several_axes == NOT_SUPPORTED:
            return f"{self.call} reduces one axis"
        said = (reason for call in calls for reason in self._unsaid(call))
        return next((f"{self.call} is not told {reason}" for reason in said), "")

    def _unsaid(self, call: Asked) -> Iterator[str]:
        """What of one call of the function cannot be said."""
        for name, operand in call.operands.items():
            if operand.axes > self.settings.most_axes:
                yield f"of {operand.axes} axes"
            if not operand.elements and not self.settings.empty:
                yield "of tensors without an element"
            if name in self.at_start and operand.offset:
                yield f"{name}_offset, {operand.offset}"
            if name in self.dense and not operand.is_dense:
                yield f"{name}_strides, {operand.strides} of shape {operand.lengths}"
        if not call.is_product:
            yield "of sums that are no product of matrices"
        yield from filter(None, (parameter.unheld(call) for parameter in self.parameters))


def function_names(operation: str) -> list[str]:
    """Return the header's functions of an operation in small letters, by number."""
    prefix = f"ASSAYER_{_KINDS[operation]}_"
    named = {each.value: name for name, each in read_header().constants.items() if name.startswith(prefix)}
    return [named[number].removeprefix(prefix).lower() for number in sorted(named)]


def read_entry(path: Path, name: str, table: Any, settings: Settings) -> Entry:
    """Read the table of an operation.  Raises MapError."""
    where, operation = f"{path}: {name}", name.removeprefix("cuda_")
    if operation not in OPERANDS:
        raise unknown(str(path), name, tuple(OPERANDS))
    if not isinstance(table, dict):
        raise MapError(f"{where}: expected a table of {', '.join(_OWN)}, got {table!r}")
    known = (*_OWN, *(key for key in KEYS if operation == "reduce_strided" or key not in _OF_REDUCTIONS))
    for key in table:
        if key not in known:
            raise unknown(where, key, known)
    own = changed(where, settings, {key: value for key, value in table.items() if key not in _OWN})
    call = table.get("call")
    if not isinstance(call, str) or not re.fullmatch(r"[A-Za-z_]\w*", call):
        raise MapError(f"{where}.call: expected the name of an exported function, got {call!r}")
    entry = Entry(
        operation,
        call,
        _parameters(f"{where}.arguments", operation, table.get("arguments")),
        _functions(where, operation, table.get("functions")),
        own,
    )
    _check_told(where, entry)
    return entry


def _parameters(where: str, operation: str, texts: Any) -> tuple[Parameter, ...]:
    if not isinstance(texts, list) or not texts:
        raise MapError(f"{where}: expected a list of what each parameter is given, got {texts!r}")
    found = tuple(read_parameter(f"{where}[{place}]", operation, text) for place, text in enumerate(texts))
    given = [parameter.words[0] for parameter in found if parameter.kind == STORAGE]
    for operand in OPERANDS[operation]:
        if given.count(operand) != 1:
            raise MapError(f'{where}: expected "float* {operand}" once, got it {given.count(operand)} times')
    return found


def _functions(where: str, operation: str, table: Any) -> Mapping[int, int] | None:
    """Their numbers by the header's."""
    if operation not in _KINDS:
        if table is not None:
            raise MapError(f"{where}.functions: expected none, for {operation} is one function, got {table!r}")
        return None
    names = function_names(operation)
    if not isinstance(table, dict) or not table:
        raise MapError(f"{where}.functions: expected a table such as {{ {names[0]} = 0 }}, got {table!r}")
    found: dict[int, int] = {}
    for name, number in table.items():
        if name not in names:
            raise unknown(f"{where}.functions", name, tuple(names))
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**31:
            raise MapError(f"{where}.functions.{name}: expected the number that {name} has there, got {number!r}")
        found[names.index(name)] = number
    return found


def _check_told(where: str, entry: Entry) -> None:
    """Raise MapError for functions that could not know which of several they are, or where they start."""
    several = entry.functions is not None and len(entry.functions) > 1
    for word, is_due in (("function", several), ("start", entry.operation == "reduce_strided")):
        if is_due and word not in entry.words:
            what = "int function" if word == "function" else "float start"
            raise MapError(f'{where}.arguments: expected "{what}", got {entry.call} without it')
