"""The library's own declarations against the header's: those of the operations that a run judges must agree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from bindings.header.read import read_header
from bindings.shared_object.misnamed import listed
from conformance.operations import OPERATIONS
from conformance.report.record import counted


class Remarks(NamedTuple):
    """What stands against a candidate beside its cases, and what is worth saying and is no failure."""

    problems: list[str]
    notes: list[str]


def compare_with_header(path: Path, operations: Collection[str], everything: bool) -> Remarks:
    """Compare a file of declarations with the header's, of these operations and of all services.

    everything: a declaration of what the header has not is a problem too, rather than somebody else's function.
    Raises DeclarationError for a file that cannot be read, or declares none of the operations.
    """
    from bindings.declarations import DeclarationError, compare_each  # here: few runs compare declarations

    found = compare_each(path)
    judged = {OPERATIONS[operation].symbol for operation in operations}
    declared = [symbol for symbol in found if symbol in judged]
    if judged and not declared:
        expected = listed(sorted(judged))
        raise DeclarationError(f"{path}: expected declarations of what is judged ({expected}), got {listed([*found])}")
    services = {function.symbol for function in read_header().services.values()}
    held = {*declared, *(symbol for symbol in found if symbol in services)}
    held |= {symbol for symbol in found if everything and not _is_operation(symbol)}
    problems = [sentence for symbol in found if symbol in held for sentence in found[symbol]]
    elsewhere = [symbol for symbol in found if symbol not in held and found[symbol]]
    agreeing = sum(not found[symbol] for symbol in declared)
    return Remarks(problems, [*_agreement(agreeing, judged, declared), *_elsewhere(elsewhere)])


def _is_operation(symbol: str) -> bool:
    return any(function.symbol == symbol for function in OPERATIONS.values())


def _agreement(agreeing: int, judged: Collection[str], declared: Sequence[str]) -> list[str]:
    if not judged:
        return []
    undeclared = sorted({*judged} - {*declared})
    rest = f"; not declared: {listed(undeclared)}" if undeclared else ""
    return [f"declarations agree: {agreeing} of {counted(len(judged), 'operation')}{rest}"]


def _elsewhere(symbols: Sequence[str]) -> list[str]:
    """A line on what differs and is not judged."""
    if not symbols:
        return []
    return [f"declarations that differ, of what is not judged here: {listed(symbols)}"]
