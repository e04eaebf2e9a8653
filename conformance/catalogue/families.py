"""The families of operations: for each section of the header a file in cases/, with cases and facts of its operations.

A file is read when one of its operations is asked for.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from conformance.operations import OPERATIONS, SIXTEEN_BIT, base_of, family

from .factors import Design
from .facts import Facts

if TYPE_CHECKING:
    from .cases.spec import Spec

_FOLDER = f"{__package__}.cases"
_SIXTEEN = "sixteen"


def families() -> tuple[str, ...]:
    """Return the file name of every family, in the order of the header."""
    return tuple(dict.fromkeys(_file(operation) for operation in OPERATIONS))


@functools.cache
def specs() -> tuple[Spec, ...]:
    """Return every line of the catalogue; those of 16 bits follow from the others."""
    stated = [spec for name in families() if name != _SIXTEEN for spec in _read(name).SPECS]
    return (*stated, *_read(_SIXTEEN).specs(stated, facts_of))


@functools.cache
def facts_of(operation: str) -> Facts:
    """Return the facts of an operation: its own, or those of the float32 operation that it is a 16-bit form of.

    Of what is no operation, such as a training step, there are none.
    """
    for name in (operation, base_of(operation) if operation in OPERATIONS else ""):
        if name in OPERATIONS and (stated := _stated(_file(name)).get(name)):
            return stated
    return Facts(operation)


@functools.cache
def design_of(operation: str) -> Design:
    """Return what is stated of an operation's space of inputs: of its own, or of the operation it is a form of."""
    for name in (operation, base_of(operation)):
        stated: Sequence[Design] = getattr(_read(_file(name)), "DESIGNS", ()) if name in OPERATIONS else ()
        if found := next((design for design in stated if design.operation == name), None):
            return found
    return Design(operation)


@functools.cache
def products() -> frozenset[str]:
    """Return the operations in float32 that multiply matrices."""
    return frozenset(n for n in OPERATIONS if facts_of(n).multiplies and base_of(n) == n)


def _file(operation: str) -> str:
    section = family(operation)
    return _SIXTEEN if section == SIXTEEN_BIT else section


def _read(name: str) -> Any:
    try:
        return importlib.import_module(f"{_FOLDER}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{_FOLDER}.{name}":
            raise
        expected = f"expected a file {name}.py in conformance/catalogue/cases, got none"
        raise LookupError(f"the header's section {name}: {expected}") from None


@functools.cache
def _stated(name: str) -> Mapping[str, Facts]:
    """The facts in one family's file.  Two of one operation, or of one that is declared elsewhere, are an error."""
    found: dict[str, Facts] = {}
    for facts in _read(name).FACTS:
        if facts.operation in found or OPERATIONS.get(facts.operation) is None or _file(facts.operation) != name:
            expected = "expected one record for each operation of the section"
            raise ValueError(f"the facts of {name}: {expected}, got another of {facts.operation}")
        found[facts.operation] = facts
    return found
