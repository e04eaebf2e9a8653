"""What kernels need, read from compiled files by cuobjdump."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")
PTX = ("sm_75", "sm_80", "sm_90", "sm_100")  # the lowest of each generation


class Need(NamedTuple):
    """Of a thread, its registers; of a block, bytes of shared memory; of a thread, bytes of local memory.

    Local memory holds arrays that are indexed, and registers that did not suffice.
    """

    registers: int
    shared: int
    local: int


Needs = dict[str, dict[str, Need]]  # kernel -> architecture -> need

_USAGE = re.compile(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)")
UNNAMED = re.compile(r"\d+_GLOBAL__N__[0-9a-f]{8}_\d+_\w+?_cu_[0-9a-f]{8}")  # nvcc's, with a hash of the file


def read_usage(text: str) -> Iterator[tuple[str, str, Need]]:
    """Yield (architecture or "", mangled name, need) from what `cuobjdump -res-usage` prints."""
    for part in re.split(r"^Fatbin elf code:\n=+\n", text, flags=re.MULTILINE):
        arch = re.match(r"arch = (\w+)", part)
        for name, registers, stack, shared in _USAGE.findall(part):
            need = Need(int(registers), int(shared), int(stack))
            yield arch[1] if arch else "", UNNAMED.sub("12_GLOBAL__N_1", name), need


def plain_names(mangled: Iterable[str]) -> dict[str, str]:
    """Return what a person calls each kernel: its name and its template arguments."""
    names = sorted(set(mangled))
    readable = subprocess.run(["c++filt"], input="\n".join(names), text=True, capture_output=True, check=True).stdout
    return {name: _short(long) for name, long in zip(names, readable.splitlines(), strict=True)}


def _short(name: str) -> str:
    name = name.removeprefix("void ").replace("(anonymous namespace)::", "").replace("> >", ">>")
    return name[: name.rindex("(")] if name.endswith(")") else name


def measure(objects: Iterable[Path], cuobjdump: str) -> Needs:
    """Return what the kernels in a library, and in cubins that are named by their folder's architecture, need."""
    found = []
    for path in objects:
        text = subprocess.run([cuobjdump, "-res-usage", path], text=True, capture_output=True, check=True).stdout
        found += [(arch or path.parent.name, name, need) for arch, name, need in read_usage(text)]
    return by_name(found)


def by_name(found: Collection[tuple[str, str, T]]) -> dict[str, dict[str, T]]:
    """Return what was found of (architecture, mangled name), by plain name and architecture."""
    names = plain_names(name for _, name, _ in found)
    cells: dict[str, dict[str, T]] = {}
    for arch, name, cell in found:
        # Files that share a header's kernel have a copy each.
        if cells.setdefault(names[name], {}).setdefault(arch, cell) != cell:
            sys.exit(f"two kernels are called {names[name]}, and the table tells kernels by their names")
    return cells


def missing_ptx(library: Path, cuobjdump: str) -> Iterator[str]:
    """Yield the architectures whose PTX a library should hold and does not."""
    listed = subprocess.run([cuobjdump, "--list-ptx", library], text=True, capture_output=True, check=False).stdout
    for arch in PTX:
        if f".{arch}.ptx" not in listed:
            yield f"there is no PTX for {arch}"
