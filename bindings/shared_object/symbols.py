"""What a file is, and what a shared library exports, told without loading it."""

from __future__ import annotations

import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bindings.errors import LibraryError

_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64", 21: "ppc64le", 258: "loongarch64"}
_KINDS = {1: "an object file that was not linked", 2: "a program", 4: "a core dump"}
_MAGIC = {
    b"!<arch>": "a static library",
    b"\xcf\xfa\xed\xfe": "a library of macOS",
    b"MZ": "a library or program of Windows",
    b"PK": "a zip file",
    b"version https://git-lfs": "a Git LFS pointer; fetch the file itself",
}
_SHARED, SYMBOLS, _DYNAMIC_SYMBOLS, _DYNAMIC, UNDEFINED, _LOCAL, _NEEDED = 3, 2, 11, 6, 0, 0, 1
_MARKS = {"Rust": b"rustc version ", "Go": b"\xff Go buildinf:"}
FUNCTION = 2  # the type of a symbol that is code


def describe_file(path: Path) -> str | None:
    """Say why a file cannot be a library for this machine; None when it looks like one."""
    if not path.exists():
        return "there is no such file"
    if path.is_dir():
        return "is a folder"
    if not path.is_file():
        return "is a pipe or device, not a file"
    with path.open("rb") as file:
        start = file.read(64)
    if not start:
        return "is empty"
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return f"is {kind}, not a shared library of this system"
    if not start.startswith(b"\x7fELF"):
        return "is text, not a shared library" if start.isascii() else "is not a shared library"
    if len(start) < 64 or start[4:6] != b"\x02\x01":
        return "is cut short" if len(start) < 64 else "is not a 64-bit little-endian library"
    kind, machine = struct.unpack_from("<HH", start, 16)
    if kind != _SHARED:
        return f"is {_KINDS.get(kind, 'an ELF file')}, not a shared library"
    here = platform.machine().lower().replace("amd64", "x86_64").replace("arm64", "aarch64")
    if (there := _MACHINES.get(machine, f"machine {machine}")) != here:
        return f"is a library for {there}; this machine is {here}"
    return None


@dataclass(frozen=True)
class Symbols:
    """What an ELF library says of its names; `internal` are functions that it holds and does not export.

    needed: the libraries that it is linked to, whose functions are found through it as its own are.  maker: "Rust" or
    "Go" where code of theirs is in it.
    """

    exported: frozenset[str]
    internal: frozenset[str]
    needed: tuple[str, ...]
    maker: str = ""


def read_symbols(path: Path) -> Symbols:
    """Return the names in an ELF library.  Raises LibraryError, saying what the file is, for others."""
    if problem := describe_file(path):
        raise LibraryError(f"{path}: {problem}")
    data = path.read_bytes()
    try:
        exported = frozenset(_names(data, _DYNAMIC_SYMBOLS, only_functions=False))
        internal = frozenset(_names(data, SYMBOLS, only_functions=True)) - exported
        return Symbols(exported, internal, tuple(_needed(data)), _maker(data))
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        raise LibraryError(f"{path}: is damaged or cut short; its symbols cannot be read") from error


def _maker(data: bytes) -> str:
    """What rustc notes in .comment, and what Go's linker begins .go.buildinfo with (package debug/buildinfo)."""
    return next((maker for maker, mark in _MARKS.items() if mark in data), "")


def exported_symbols(path: Path) -> frozenset[str]:
    """Return the names that an ELF library exports.  Raises what `read_symbols` does."""
    return read_symbols(path).exported


def sections(data: bytes, wanted: int) -> Iterator[tuple[range, int]]:
    """Yield where the entries of each section of a kind start, and where the names that they speak of lie.

    System V ABI, chapters 4 and 5: Elf64_Shdr.
    """
    offset, size, count = struct.unpack_from("<Q10xHH", data, 40)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + index * size) for index in range(count)]
    for _, kind, _, _, start, length, link, _, _, entry in sections:
        if kind == wanted:
            yield range(start, start + length, entry), sections[link][4]


def _names(data: bytes, kind: int, only_functions: bool) -> Iterator[str]:
    """Yield the defined names of a table of symbols (Elf64_Sym): .dynsym's global ones, or .symtab's functions."""
    for entries, names in sections(data, kind):
        for at in entries:
            name, info, _, section = struct.unpack_from("<IBBH", data, at)
            wanted = info & 15 == FUNCTION if only_functions else info >> 4 != _LOCAL
            if name and section != UNDEFINED and wanted:
                yield text_at(data, names + name)


def _needed(data: bytes) -> Iterator[str]:
    """Yield the libraries that .dynamic asks for (Elf64_Dyn)."""
    for entries, names in sections(data, _DYNAMIC):
        for at in entries:
            tag, value = struct.unpack_from("<qQ", data, at)
            if tag == _NEEDED:
                yield text_at(data, names + value)


def text_at(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()
