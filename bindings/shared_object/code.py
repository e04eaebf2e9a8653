"""Where a shared library's code and its functions lie, told without loading it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bindings.errors import LibraryError

from .symbols import FUNCTION, SYMBOLS, UNDEFINED, describe_file, sections, text_at

_LOADED, _EXECUTABLE = 1, 1


@dataclass(frozen=True, order=True)
class Extent:
    """A function that a library holds: from its first address to the one behind it, relative to the library."""

    start: int
    stop: int
    name: str


@dataclass(frozen=True)
class Code:
    """`segments`: address and bytes of each part that can be executed; `functions`: in the order of addresses."""

    segments: tuple[tuple[int, bytes], ...]
    functions: tuple[Extent, ...]


def read_code(path: Path) -> Code:
    """Return the code of an ELF library; one that was stripped names no functions.  Raises LibraryError."""
    if problem := describe_file(path):
        raise LibraryError(f"{path}: {problem}")
    data = path.read_bytes()
    try:
        return Code(tuple(_segments(data)), tuple(sorted(_functions(data))))
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        raise LibraryError(f"{path}: is damaged or cut short; its code cannot be read") from error


def _segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield what is loaded to be executed (System V ABI, chapter 5: Elf64_Phdr)."""
    [offset] = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for index in range(count):
        kind, flags, start, address, _, length = struct.unpack_from("<IIQQQQ", data, offset + index * size)
        if kind == _LOADED and flags & _EXECUTABLE:
            yield address, data[start : start + length]


def _functions(data: bytes) -> Iterator[Extent]:
    """Yield the functions of .symtab that the library holds itself (Elf64_Sym)."""
    for entries, names in sections(data, SYMBOLS):
        for at in entries:
            name, info, _, section, start, size = struct.unpack_from("<IBBHQQ", data, at)
            if info & 15 == FUNCTION and section != UNDEFINED:
                yield Extent(start, start + size, text_at(data, names + name))
