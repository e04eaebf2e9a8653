"""A program that refers to every operation, linked against a candidate: what is missing is known before anything runs.

A library that lacks a function is opened all the same where the process that opens it happens to have one of that name
(Python brings the mathematics library along); a program that is linked to it is not.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from bindings import header_path
from bindings.header.read import read_header
from bindings.shared_object.misnamed import left_out, listed, slips
from bindings.shared_object.symbols import Symbols, read_symbols

_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:) [`'\"]?([\w.$]+(?:@+[\w.]+)?)")
_SECONDS = 60
_ALIKE = 0.8  # of two names, by difflib's measure: a letter or two apart
_WHOLE = ("-Wl,--no-as-needed", "-Wl,--no-undefined", "-Wl,--no-allow-shlib-undefined")


class LinkError(RuntimeError):
    """There is no linker that works, or it said something that is not known; the message holds its words."""


@dataclass(frozen=True)
class Linked:
    """missing: symbols that were asked for and are not exported.  near: a sentence for each slip behind them.

    unresolved: a sentence for each symbol that the candidate itself refers to and nothing defines.
    """

    missing: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        missing = f"missing: {listed(self.missing, 8)}"
        return [*self.unresolved, *([missing] if self.missing else []), *self.near]


def link(library: Path, symbols: Collection[str]) -> Linked:
    """Link a program that refers to these symbols.  Raises LibraryError for a file that is none, and LinkError."""
    held = read_symbols(library)
    undefined = _undefined(library, symbols)
    missing = tuple(symbol for symbol in symbols if symbol in undefined)
    known = {function.symbol for function in read_header().operations.values()}
    near = slips(replace(held, exported=held.exported - known), missing)
    if missing and not near and known.isdisjoint(held.exported):
        near = left_out(held)
    foreign = [symbol for symbol in undefined if symbol not in missing]
    mathematics = {*foreign} - {*_undefined(library, symbols, "-lm")} if foreign else set()
    said = (_unresolved(symbol, library, held, symbol in mathematics) for symbol in foreign)
    return Linked(missing, tuple(near), tuple(said))


def link_exported(library: Path) -> Linked:
    """Link a program that refers to what a library exports: what lacks is what the library itself refers to.

    Slips are told all the same.  Raises what `link` does, and LinkError where it exports none and no slip is told.
    """
    held = read_symbols(library)
    every = [function.symbol for function in read_header().operations.values()]
    found = link(library, [symbol for symbol in every if symbol in held.exported])
    absent = [symbol for symbol in every if symbol not in held.exported]
    slipped = tuple(slips(replace(held, exported=held.exported - {*every}), absent))
    if len(absent) == len(every) and not (slipped := slipped or tuple(left_out(held))):
        raise LinkError(f"{library}: expected operations of the header, it exports none")
    return Linked((), slipped, found.unresolved)


def _unresolved(symbol: str, library: Path, held: Symbols, is_mathematics: bool) -> str:
    """Say what a library lacks, and where it may come from."""
    name, _, version = symbol.partition("@")
    sentence = f"{name}: {library.name} refers to it, and nothing that it is linked to defines it"
    if version:
        return f"{sentence} in version {version.lstrip('@')}: it was linked on a newer system"
    if is_mathematics:
        return f"{sentence}: link it with -lm"
    near = get_close_matches(name, sorted(held.exported | held.internal), 1, _ALIKE)
    return sentence + (f"; did you mean {near[0]}?" if near else "")


def _undefined(library: Path, symbols: Collection[str], *more: str) -> list[str]:
    """What the linker finds undefined, each once, in its order."""
    compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "every.c")
        source.write_text("\n".join(_program(symbols)), encoding="utf-8")
        include = f"-I{header_path().parent}"
        out = str(Path(folder, "every"))
        words = [*compiler, "-std=c11", include, "-o", out, str(source), *_WHOLE, str(library.resolve())]
        try:
            done = subprocess.run(
                [*words, *more],
                env={**os.environ, "LC_ALL": "C"},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LinkError(f"not linked: {error}") from None
    found = list(dict.fromkeys(_UNDEFINED.findall(done.stderr)))
    if done.returncode and not found:
        raise LinkError(f"not linked: {(done.stderr.strip() or f'exit code {done.returncode}').splitlines()[-1]}")
    return found


def _program(symbols: Collection[str]) -> Iterator[str]:
    yield '#include "assayer.h"\n\ntypedef void function(void);\nfunction* const every[] = {'
    yield from (f"    (function*){symbol}," for symbol in symbols)
    yield "    0,\n};\n\nint main(void) { return every[0] == 0; }\n"
