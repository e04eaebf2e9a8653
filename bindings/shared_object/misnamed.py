"""Why a library does not export a function that its author wrote: the slip, read off the names that it does hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from bindings.header.read import read_header
from bindings.header.records import Header

from .services import EMULATED, REFUSE_MEMORY
from .symbols import Symbols, exported_symbols

_PREFIX = "cuda_"
_OURS = (_PREFIX, "assayer_")
_COMPONENT = re.compile(r"(\d+)(?=[A-Za-z_])")  # of a mangled name: how long the word behind it is
_RUST_HASH = re.compile(r"17h[0-9a-f]{16}E")  # behind the names that Rust mangles the old way
_GO = re.compile(r"(?:[\w.]+/)*\w+\.(\w+)")  # path/package.function
_FORTRAN = re.compile(r"(?:__\w+?_MOD_|_QM\w+?P|_QP)(\w+?)_?")  # gfortran in a module, flang
# ifort in a module, and most compilers outside of one: names that C may have as well.
_LIKE_FORTRAN = re.compile(r"(?:\w+?_mp_)?(\w+?)_?")
_EXPORT = {
    "Rust": 'write #[unsafe(no_mangle)] pub extern "C" fn',
    "Go": "write //export and its name, with no space before the word, in the line above it",
}
_NAMED = 3  # names that a sentence lists
_ALIKE = 0.8  # of two names, by difflib's measure: a letter or two apart
_COMPARED = 500  # names that are looked at for likeness: it is slow, and a hint only


def slips(symbols: Symbols, wanted: Iterable[str]) -> list[str]:
    """Return a sentence for each kind of slip that keeps functions from being found by their names."""
    missing = dict.fromkeys(wanted)
    sentences = []
    for find, words in _KINDS:
        found = dict(find(symbols, missing))
        for symbol in found:
            del missing[symbol]
        told = {*found.values()}
        symbols = replace(symbols, exported=symbols.exported - told, internal=symbols.internal - told)
        if found:
            pairs = (there if there == symbol else f"{there} ({symbol})" for symbol, there in found.items())
            sentences.append(words.format(names=listed(list(pairs))))
    return sentences


_Matches = Iterator[tuple[str, str]]  # what is wanted, and the name that it goes by


def _mangled(symbols: Symbols, wanted: Iterable[str], rust: bool) -> _Matches:
    """Names of C++ (Itanium ABI: _Z, each word behind its length) and of Rust (_R, or C++'s way with a hash)."""
    missing = set(wanted)
    for name in sorted(symbols.exported | symbols.internal):
        if name.startswith(("_Z", "_R")) and rust == (name.startswith("_R") or _RUST_HASH.search(name) is not None):
            for word in words_of(name):
                if word in missing:
                    missing.remove(word)
                    yield word, name


def words_of(mangled: str) -> Iterator[str]:
    """Yield the words in a mangled name: `_ZN3lib9cuda_siluEPKf` holds lib and cuda_silu."""
    for length in _COMPONENT.finditer(mangled):
        yield mangled[length.end() :].removeprefix("_" if mangled.startswith("_R") else "")[: int(length[1])]


def _hidden(symbols: Symbols, wanted: Iterable[str]) -> _Matches:
    return ((name, name) for name in wanted if name in symbols.internal)


def _of_go(symbols: Symbols, wanted: Iterable[str]) -> _Matches:
    """Names of Go, which puts a function's package before it."""
    missing = set(wanted)
    for name in sorted(symbols.exported | symbols.internal):
        if (found := _GO.fullmatch(name)) and found[1] in missing:
            missing.remove(found[1])
            yield found[1], name


def _shaped(shape: re.Pattern[str], symbols: Symbols, wanted: Iterable[str]) -> _Matches:
    """Names of a shape whose one group is what is wanted."""
    missing = set(wanted)
    for name in sorted(symbols.exported):
        if (found := shape.fullmatch(name)) and found[1] in missing:
            missing.remove(found[1])
            yield found[1], name


def left_out(symbols: Symbols) -> list[str]:
    """What may be said of a library that has none of a function: some compilers leave out what is not exported."""
    if not (words := _EXPORT.get(symbols.maker)):
        return []
    return [f"it holds code of {symbols.maker}, which leaves out a function that is not exported: {words}"]


def _bare(symbols: Symbols, wanted: Iterable[str]) -> _Matches:
    """Names that only lack the prefix, however they are spelled: rmsnorm, rms_norm, RmsNorm."""
    known = {_plain(name): name for name in sorted(symbols.exported)}
    for name in wanted:
        for spelled in (_plain(name.removeprefix(_PREFIX)), _plain(name)):
            if spelled in known and known[spelled] != name:
                yield name, known[spelled]
                break


def _near(symbols: Symbols, wanted: Iterable[str]) -> _Matches:
    missing = list(wanted)
    theirs = [name for name in sorted(symbols.exported) if not name.startswith("_")]
    for name in theirs[:_COMPARED]:
        likely = get_close_matches(_PREFIX + name.removeprefix(_PREFIX), missing, 1, _ALIKE)
        if likely:
            missing.remove(likely[0])
            yield likely[0], name


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def listed(names: Sequence[str], most: int = _NAMED) -> str:
    """Return the first names and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _of_cplusplus(symbols: Symbols, wanted: Iterable[str]) -> _Matches:
    return _mangled(symbols, wanted, rust=False)


def _of_rust(symbols: Symbols, wanted: Iterable[str]) -> _Matches:
    return _mangled(symbols, wanted, rust=True)


_KINDS: tuple[tuple[Callable[[Symbols, Iterable[str]], _Matches], str], ...] = (
    (_hidden, "hidden: {names}; give them default visibility (look for -fvisibility=hidden and a version script)"),
    (_of_cplusplus, 'names mangled by C++: {names}; declare them extern "C"'),
    (_of_rust, f"names mangled by Rust: {{names}}; {_EXPORT['Rust']}"),
    (_of_go, f"names of Go: {{names}}; {_EXPORT['Go']}"),
    (partial(_shaped, _FORTRAN), "names of Fortran: {names}; declare them bind(c)"),
    (
        partial(_shaped, _LIKE_FORTRAN),
        "names as Fortran makes them: {names}; declare them bind(c), or in C leave out what is added",
    ),
    (_bare, f"spelled otherwise: {{names}}; the header's names begin with {_PREFIX}"),
    (_near, "near to what the header has: {names}"),
)


def unknown_symbols(path: Path, header: Header | None = None) -> list[str]:
    """Return a sentence for each symbol that is named as the header's are, and is none of them.

    Raises LibraryError where the file is no library.
    """
    header = header or read_header()
    known = {
        EMULATED,
        REFUSE_MEMORY,
        *(function.symbol for function in (*header.operations.values(), *header.services.values())),
    }
    unknown = {symbol for symbol in exported_symbols(path) if symbol.startswith(_OURS)} - known
    return [f"{symbol}: exported, the header has no such function" for symbol in sorted(unknown)]
