"""Which operations a library exports, told from its file before anything of it runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from bindings.header.read import read_header
from bindings.shared_object.misnamed import listed, slips
from bindings.shared_object.symbols import Symbols, read_symbols
from conformance.operations import OPERATIONS

from .candidate import Candidate, CandidateError
from .worker.worker import Worker

_SYMBOLS = {operation: function.symbol for operation, function in OPERATIONS.items()}
# What every library is linked to; any other may hold operations, which are then found through the library.
_RUNTIME = re.compile(r"(?:ld-linux[\w-]*|lib(?:c|m|dl|rt|pthread|util|gcc_s|stdc\+\+|c\+\+|gomp))\.so[.\d]*")


def refuse_strangers(path: Path) -> None:
    """Raise CandidateError for a library that exports none of the operations, saying what may be the reason.

    Raises LibraryError for a file that is no library.
    """
    symbols = read_symbols(path)
    if symbols.exported.isdisjoint(_SYMBOLS.values()) and not _borrows(symbols):
        raise CandidateError(_stranger(path, symbols))


def _stranger(path: Path, symbols: Symbols) -> str:
    sentence = f"{path}: exports none of the header's {len(_SYMBOLS)} operations ({listed(list(_SYMBOLS.values()))})"
    theirs = sorted(symbols.exported)
    said = [*slips(symbols, _SYMBOLS.values()), f"it exports {listed(theirs, 6)}" if theirs else "it exports nothing"]
    return "\n  ".join([sentence, *said])


def absent(candidate: Candidate) -> tuple[str, ...]:
    """Return the operations that a candidate's library does not export, in the header's order.

    Only one that is linked to libraries of its maker is opened for it: their functions are found through it too.
    """
    symbols = read_symbols(candidate.path)
    lacking = tuple(operation for operation, symbol in _SYMBOLS.items() if symbol not in symbols.exported)
    if not lacking or not _borrows(symbols):
        return lacking
    with Worker(candidate.path, environment=candidate.environment) as worker:
        found = worker.call(missing).value
    if len(found) == len(_SYMBOLS):
        raise CandidateError(_stranger(candidate.path, symbols))
    return tuple(found)


def missing(library: Any) -> tuple[str, ...]:
    """Return what an open library does not export, in its worker."""
    names: tuple[str, ...] = library.missing
    return names


def misnamed(path: Path, operations: tuple[str, ...]) -> list[str]:
    """Return a sentence for each slip by which some of these operations may have gone missing."""
    header = read_header()
    known = {function.symbol for function in (*header.operations.values(), *header.services.values())}
    symbols = read_symbols(path)
    others = Symbols(symbols.exported - known, symbols.internal, ())
    return slips(others, [_SYMBOLS[operation] for operation in operations])


def _borrows(symbols: Symbols) -> bool:
    """Whether it is linked to libraries beside those that every program has."""
    return not all(_RUNTIME.fullmatch(name) for name in symbols.needed)
