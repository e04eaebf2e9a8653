"""What kernels' machine code does to memory and on matrix units, read from what `cuobjdump -sass` prints."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, repeat
from pathlib import Path
from typing import NamedTuple

from usage import UNNAMED, by_name


class Code(NamedTuple):
    """Of one kernel: bytes of the widest accesses, how many instructions of a kind, and places.

    load, store: bytes that a thread's widest access to global memory moves.  matrix: products on matrix units (HMMA,
    HGMMA).  copies: asynchronous ones from global to shared memory (LDGSTS, bulk).  local: loads and stores of a
    thread's own memory.  generic: loads, stores and atomics of which the compiler did not know what memory they are in.
    spins: atomics in shared memory that the hardware has not, loops that compare and swap.  split: sixteen neighbouring
    bytes in global memory that a thread stores in more than one access.
    """

    load: int
    store: int
    matrix: int
    copies: int
    local: int
    generic: int
    spins: int
    split: int


_FUNCTION = re.compile(r"\s+Function : (\S+)")
_ARCH = re.compile(r"\s+code for (\w+)")
_INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]+\*/\s+(?P<guard>@\S+)?\s*(?P<name>[A-Z][\w.]*)\s*(?P<arguments>[^;]*)")
_ADDRESS = re.compile(r"\[R(?P<base>\d+)(?:\.\w+)?(?P<more>\+UR\d+)?(?:\+(?P<offset>-?0x[0-9a-f]+))?\]")
_TARGET = re.compile(r"R(\d+)")
_KINDS = {  # what is counted, by the first word of an instruction's name
    "matrix": ("HMMA", "HGMMA", "QMMA", "QGMMA", "UTCHMMA", "UTCQMMA"),
    "copies": ("LDGSTS", "UBLKCP", "UTMALDG"),
    "local": ("LDL", "STL"),
    "generic": ("LD", "ST", "ATOM"),
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words}
# What is stored behind one of these is not stored beside what was stored before it.
_LEAVES = {"BRA", "BRX", "JMP", "EXIT", "RET", "CALL", "BSYNC", "BREAK", "BAR"}
_WHOLE = 16


def width(name: str) -> int:
    """Return how many bytes a thread moves by an access of this name."""
    words = name.split(".")
    for word, size in (("128", 16), ("64", 8), ("U16", 2), ("S16", 2), ("U8", 1), ("S8", 1)):
        if word in words:
            return size
    return 4


class _Stores:
    """The narrow stores to global memory that no jump and no change of their address stands between."""

    def __init__(self) -> None:
        self.split = 0
        self._open: dict[tuple[str | None, int, str | None], dict[int, int]] = {}

    def add(self, guard: str | None, arguments: str, size: int) -> None:
        address = _ADDRESS.search(arguments)
        if address and size < _WHOLE:
            offsets = self._open.setdefault((guard, int(address["base"]), address["more"]), {})
            offsets[int(address["offset"] or "0", 16)] = size

    def change(self, register: int) -> None:
        """Close what is stored by an address in this register; one takes two."""
        for key in [key for key in self._open if key[1] in (register, register - 1)]:
            self._close(self._open.pop(key))

    def leave(self) -> None:
        for offsets in self._open.values():
            self._close(offsets)
        self._open.clear()

    def _close(self, offsets: dict[int, int]) -> None:
        begun = end = None
        for at, size in sorted(offsets.items()):
            begun = at if end != at else begun
            end = at + size
            if begun is not None and end - begun == _WHOLE:
                self.split += 1
                end = None


class _Reader:
    """Adds up one function's instructions."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._widest = {"LDG": 0, "STG": 0, "LDGSTS": 0}
        self._stores = _Stores()

    def read(self, guard: str | None, name: str, arguments: str) -> None:
        opcode, *more = name.split(".")
        if opcode in self._widest:
            self._widest[opcode] = max(self._widest[opcode], width(name))
        if opcode in _KIND_OF:
            self._counts[_KIND_OF[opcode]] += 1
        self._counts["spins"] += opcode == "ATOMS" and more[0] in ("CAS", "CAST")
        if opcode in _LEAVES:
            self._stores.leave()
        elif opcode == "STG":
            self._stores.add(guard, arguments, width(name))
        elif target := _TARGET.match(arguments):
            self._stores.change(int(target[1]))

    def code(self) -> Code:
        self._stores.leave()
        loads, counts = max(self._widest["LDG"], self._widest["LDGSTS"]), self._counts
        kinds = {kind: counts[kind] for kind in (*_KINDS, "spins")}
        return Code(load=loads, store=self._widest["STG"], split=self._stores.split, **kinds)


def read_code(lines: Iterable[str]) -> Iterator[tuple[str, str, Code]]:
    """Yield (architecture, mangled name, code) of each kernel from what `cuobjdump -sass` prints."""
    arch, name, reader = "", "", _Reader()
    for line in lines:
        if not (found := _INSTRUCTION.match(line)):
            if named := _FUNCTION.match(line):
                if name:
                    yield arch, name, reader.code()
                name, reader = named[1], _Reader()
            elif named := _ARCH.match(line):
                if name:
                    yield arch, name, reader.code()
                arch, name = named[1], ""
        elif name:
            reader.read(found["guard"], found["name"], found["arguments"])
    if name:
        yield arch, name, reader.code()


Codes = dict[str, dict[str, Code]]  # kernel -> architecture -> code


def measure_code(library: Path, archs: Iterable[str], cuobjdump: str) -> Codes:
    """Return the code of the kernels in a library for these architectures; as many processes as fit."""
    with ProcessPoolExecutor() as pool:
        return by_name(list(chain.from_iterable(pool.map(_code_in, repeat(library), archs, repeat(cuobjdump)))))


def _code_in(library: Path, arch: str, cuobjdump: str) -> list[tuple[str, str, Code]]:
    beside = {"PATH": os.pathsep.join([str(Path(cuobjdump).parent), os.environ["PATH"]])}  # there lies its nvdisasm
    command = [cuobjdump, "-sass", "-arch", arch, str(library)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | beside) as process:
        assert process.stdout
        found = [each for each in read_code(process.stdout) if each[0] == arch]  # of sm_90 it shows sm_90a too
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return [(where, UNNAMED.sub("12_GLOBAL__N_1", name), code) for where, name, code in found]
