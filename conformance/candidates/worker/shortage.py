"""In the worker's process: no memory for the library, whose own calls of malloc and its like give it nothing.

An ELF library reaches functions of others by places in its own memory that the loader fills in (System V ABI, chapter
5: relocations).  While it is short of memory these places hold functions that return 0, or of posix_memalign an error.
What it takes by way of others, as C++'s `new` does, it is given as ever, as are threads, and Python.

The emulated device of a library of kernels refuses its own memory where it is asked to.  The emulator takes what it
needs itself by malloc in the same file, so that malloc is left alone there.
"""

from __future__ import annotations

import contextlib
import mmap
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bindings.shared_object.foreign import SharedObject, address_of, of_process, pointer, view
from bindings.shared_object.services import REFUSE_MEMORY
from bindings.shared_object.symbols import sections, text_at

_RELOCATIONS, _SYMBOLS = 4, 11  # kinds of sections: SHT_RELA, SHT_DYNSYM
_SYMBOL = 24  # bytes of an Elf64_Sym
_GIVES_NULL, _GIVES_ERROR = "sched_yield", "getpid"  # of the C library: always 0, and never
_REFUSED = {
    **dict.fromkeys(("malloc", "calloc", "realloc", "aligned_alloc", "memalign", "valloc"), _GIVES_NULL),
    "posix_memalign": _GIVES_ERROR,
}
_LOADABLE = 1
_MAPS = Path("/proc/self/maps")


class Shortage:
    """While it is entered, what the library at a path asks malloc for is refused; of no other kind of file nothing."""

    def __init__(self, path: Path) -> None:
        self._places = [(place, address_of(name)) for place, name in _places(path)]
        self._before: list[bytes] = []

    def __enter__(self) -> None:
        protect = of_process("mprotect", ("void*", "size_t", "int"))
        for place, _ in self._places:
            page = place // mmap.PAGESIZE * mmap.PAGESIZE
            if protect(pointer(page), 2 * mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE):
                protect(pointer(page), mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE)
        self._before = [bytes(self._word(place)) for place, _ in self._places]
        for place, function in self._places:
            self._word(place)[:] = struct.pack("<Q", function)

    def __exit__(self, *_: object) -> None:
        for (place, _function), before in zip(self._places, self._before, strict=True):
            self._word(place)[:] = before

    @staticmethod
    def _word(place: int) -> Any:
        return view(pointer(place), struct.calcsize("Q"))


def device_refusal(library: SharedObject) -> Callable[[int], object] | None:
    """What has an emulated device refuse its memory (1), or give it again (0); None of any other library."""
    return library.entry(REFUSE_MEMORY, ("int32_t",))


def short_of(refuse: Callable[[int], object], made: Callable[[], int]) -> Callable[[], int]:
    """The call, with the memory refused as long as it lasts: what surrounds a call has device memory for its arrays."""

    def call() -> int:
        refuse(1)
        try:
            return made()
        finally:
            refuse(0)

    return call


def _places(path: Path) -> Iterator[tuple[int, str]]:
    """Where the library keeps the addresses of these functions, in this process, and what is to stand there."""
    with contextlib.suppress(OSError, struct.error, ValueError, IndexError, OverflowError):
        data, base = path.read_bytes(), _base(path.resolve())
        if base is None or data[:6] != b"\x7fELF\x02\x01":
            return
        names = {entries.start: names for entries, names in sections(data, _SYMBOLS)}
        for entries, symbols in sections(data, _RELOCATIONS):
            if symbols not in names:
                continue
            for at in entries:
                offset, info = struct.unpack_from("<QQ", data, at)
                [name] = struct.unpack_from("<I", data, symbols + _SYMBOL * (info >> 32))
                if instead := _REFUSED.get(text_at(data, names[symbols] + name)):
                    yield base - _first(data) + offset, instead


def _first(data: bytes) -> int:
    """The address that the file's first part is made for (Elf64_Phdr): mostly 0."""
    offset, size, count = struct.unpack_from("<Q14xHH", data, 32)
    parts = (struct.unpack_from("<IIQQ", data, offset + index * size) for index in range(count))
    return next((place // mmap.PAGESIZE * mmap.PAGESIZE for kind, _, _, place in parts if kind == _LOADABLE), 0)


def _base(path: Path) -> int | None:
    """Where a library begins in this process; None where it is not open."""
    for line in _MAPS.read_text().splitlines():
        where, _, offset, _, _, *name = line.split(maxsplit=5)
        if name == [str(path)] and int(offset, 16) == 0:
            return int(where.partition("-")[0], 16)
    return None
