"""What every kernel needs on every architecture: registers, shared memory and stack, as a table that is kept.

    python cuda/tools/resources.py build/cuda/libassayer_cuda.so build/sm_70/*.cubin --cuobjdump PATH [--accept]

Exit code 1: a kernel is missing from an architecture, keeps something in local memory that nobody explained, or the
table is no longer the one committed (`--accept` writes the new one).  The stack is what a thread keeps in local memory,
in bytes: arrays that are indexed, and registers that did not suffice.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

TABLE = Path(__file__).parents[1] / "resources.tsv"
EXPECTED = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120")
PTX = ("sm_75", "sm_80", "sm_90", "sm_100")  # the lowest of each generation
# Kernels that may keep something in local memory on sm_80 and later, and why.
EXPLAINED = {"rotate_kernel": "sincosf keeps the digits of 2/pi there, for angles past 105,615"}

Needs = dict[str, dict[str, str]]  # kernel -> architecture -> "registers/shared/stack"

_USAGE = re.compile(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)")
_UNNAMED = re.compile(r"\d+_GLOBAL__N__[0-9a-f]{8}_\d+_\w+?_cu_[0-9a-f]{8}")  # nvcc's, with a hash of the file


def read_usage(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (architecture or "", mangled name, needs) from what `cuobjdump -res-usage` prints."""
    for part in re.split(r"^Fatbin elf code:\n=+\n", text, flags=re.MULTILINE):
        arch = re.match(r"arch = (\w+)", part)
        for name, registers, stack, shared in _USAGE.findall(part):
            yield arch[1] if arch else "", _UNNAMED.sub("12_GLOBAL__N_1", name), f"{registers}/{shared}/{stack}"


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
        found += [(arch or path.parent.name, name, needs) for arch, name, needs in read_usage(text)]
    names = plain_names(name for _, name, _ in found)
    table: Needs = {}
    for arch, name, needs in found:
        table.setdefault(names[name], {})[arch] = needs
    return table


def complaints(table: Needs, wanted: Iterable[str]) -> Iterator[str]:
    """Yield what is wrong whatever the table was before."""
    if not table:
        yield "there is no kernel at all"
    for kernel, needs in sorted(table.items()):
        for arch in wanted:
            if arch not in needs:
                yield f"{kernel} is missing from {arch}"
        for arch, need in needs.items():
            kept = int(need.split("/")[2])
            if kept and int(re.sub(r"\D", "", arch)) >= 80 and kernel.split("<")[0] not in EXPLAINED:
                yield f"{kernel} keeps {kept} bytes a thread in local memory on {arch}"


def missing_ptx(library: Path, cuobjdump: str) -> Iterator[str]:
    """Yield the architectures whose PTX a library should hold and does not."""
    listed = subprocess.run([cuobjdump, "--list-ptx", library], text=True, capture_output=True, check=False).stdout
    for arch in PTX:
        if f".{arch}.ptx" not in listed:
            yield f"there is no PTX for {arch}"


def written(table: Needs) -> str:
    """Return the table as a file."""
    columns = [arch for arch in EXPECTED if any(arch in needs for needs in table.values())]
    rows = [["kernel", *columns]]
    rows += [[kernel, *(needs.get(arch, "-") for arch in columns)] for kernel, needs in sorted(table.items())]
    return "".join("\t".join(row) + "\n" for row in rows)


def changes(before: str, now: str) -> Iterator[str]:
    """Yield the cells that differ, of the columns that both tables have, and the kernels that came or went."""
    old, new = _cells(before), _cells(now)
    columns = {arch for _, arch in old} & {arch for _, arch in new}
    for key in sorted(old.keys() | new.keys()):
        if key[1] in columns and old.get(key) != new.get(key):
            yield f"{key[0]} on {key[1]}: {old.get(key, 'absent')} before, now {new.get(key, 'absent')}"


def _cells(table: str) -> dict[tuple[str, str], str]:
    header, *rows = [line.split("\t") for line in table.splitlines()] or [[]]
    return {(row[0], arch): cell for row in rows for arch, cell in zip(header[1:], row[1:], strict=True)}


def main() -> int:
    parser = argparse.ArgumentParser(description="What every kernel needs on every architecture.")
    parser.add_argument("objects", nargs="+", type=Path, help="the library, and cubins in folders named sm_XX")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("--accept", action="store_true", help="keep the new table")
    given = parser.parse_args()
    table = measure(given.objects, given.cuobjdump)
    now = written(table)
    before = TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""
    measured = [arch for arch in EXPECTED if any(arch in needs for needs in table.values())]
    wrong = [*complaints(table, measured), *missing_ptx(given.objects[0], given.cuobjdump)]
    differing = list(changes(before, now))
    if given.accept and not wrong:
        TABLE.write_text(now, encoding="utf-8")
    for line in [*wrong, *differing]:
        print(line)
    left = [arch for arch in EXPECTED if arch not in measured]
    print(f"{len(table)} kernels for {', '.join(measured)}" + (f"; not compiled for {', '.join(left)}" if left else ""))
    if differing:
        print(f"{len(differing)} differences from {TABLE.name}" + (", accepted" if given.accept and not wrong else ""))
    return int(bool(wrong or (differing and not given.accept)))


if __name__ == "__main__":
    sys.exit(main())
