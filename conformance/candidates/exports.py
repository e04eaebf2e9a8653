"""Which operations a library exports, told from its file before anything of it runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bindings.header.read import read_header
from bindings.shared_object.misnamed import left_out, listed, slips
from bindings.shared_object.symbols import Symbols, read_symbols
from conformance.operations import OPERATIONS

from .candidate import Candidate, CandidateError, ask
from .module.source import Module
from .worker.worker import Worker

_ALIKE = 0.8  # of two names, by difflib's measure: a letter or two apart
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
    near = slips(symbols, _SYMBOLS.values()) or left_out(symbols)
    said = [*near, f"it exports {listed(theirs, 6)}" if theirs else "it exports nothing"]
    return "\n  ".join([sentence, *said])


def absent(candidate: Candidate) -> tuple[str, ...]:
    """Return the operations that a candidate's library does not export, in the header's order.

    Only one that is linked to libraries of its maker is opened for it: their functions are found through it too.
    """
    if candidate.module:
        return _absent_from(candidate, candidate.module)
    symbols = read_symbols(candidate.path)
    lacking = tuple(operation for operation, symbol in _SYMBOLS.items() if symbol not in symbols.exported)
    if not lacking or not _borrows(symbols):
        return lacking
    with Worker(candidate.path, environment=candidate.environment) as worker:
        found = worker.call(missing).value
    if len(found) == len(_SYMBOLS):
        raise CandidateError(_stranger(candidate.path, symbols))
    return tuple(found)


def _absent_from(candidate: Candidate, module: Module) -> tuple[str, ...]:
    """What a module has no function of, which it is imported for: nothing else tells.  Raises CandidateError."""
    lacking, theirs = ask(candidate, missing), ask(candidate, names)
    if len(lacking) == len(_SYMBOLS):
        sentence = f"{module.asked}: has none of the header's {len(_SYMBOLS)} operations ({listed(list(_SYMBOLS))})"
        near = near_names(lacking, theirs)
        said = [*near, f"it has {listed(theirs, 6)}" if theirs else "it has no function"]
        raise CandidateError("\n  ".join([sentence, *said]))
    return tuple(lacking)


def near_names(lacking: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return a sentence on the functions of a module that are spelled almost as operations are which it lacks."""
    found = {name: get_close_matches(name, lacking, 1, _ALIKE) for name in theirs}
    pairs = [f"{name} ({near[0]})" for name, near in found.items() if near]
    return [f"near to what the header has: {', '.join(pairs)}"] if pairs else []


def names(library: Any) -> list[str]:
    """Return the names of an open module's functions, in its worker."""
    found: list[str] = library.names
    return found


def framework(library: Any) -> str:
    """Return whose arrays an open module's functions take, in its worker."""
    name: str = library.framework
    return name


def files(library: Any) -> list[str]:
    """Return the files that an open module is made of, in its worker."""
    found: list[str] = library.opened.files
    return found


def missing(library: Any) -> tuple[str, ...]:
    """Return what an open library does not export, in its worker."""
    names: tuple[str, ...] = library.missing
    return names


def misnamed(candidate: Candidate, operations: tuple[str, ...]) -> list[str]:
    """Return a sentence for each slip by which some of these operations may have gone missing."""
    if candidate.module:
        return near_names(operations, [name for name in ask(candidate, names) if name not in _SYMBOLS])
    header = read_header()
    known = {function.symbol for function in (*header.operations.values(), *header.services.values())}
    symbols = read_symbols(candidate.path)
    others = replace(symbols, exported=symbols.exported - known)
    return slips(others, [_SYMBOLS[operation] for operation in operations])


def _borrows(symbols: Symbols) -> bool:
    """Whether it is linked to libraries beside those that every program has."""
    return not all(_RUNTIME.fullmatch(name) for name in symbols.needed)
