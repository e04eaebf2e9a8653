"""What every kernel needs on every architecture, as a table that is kept.

    python cuda/tools/resources.py build/cuda/libassayer_cuda.so build/sm_70/*.cubin \\
        --cuobjdump PATH --nvcc PATH [--clang PATH] [--accept]

A cell is registers/shared/local: of a thread, of a block in bytes, of a thread in bytes.  Exit code 1: a kernel is
missing from an architecture, keeps something in local memory that nobody explained, or needs what the table does not
say (`--accept` writes it).  Where an architecture was not compiled for want of a compiler, or by another than the table
was, its column is not compared, which is said.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from usage import Need, Needs, measure, missing_ptx

TABLE = Path(__file__).parents[1] / "resources.tsv"
BY_NVCC = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120")
BY_CLANG = ("sm_70",)
# Kernels that may keep so many bytes in local memory on sm_80 and later, and why.
EXPLAINED = {
    "rotate_kernel": (40, "sincosf keeps the digits of 2/pi there, for angles past 105,615"),
    "strided_kernel": (32, "sinf and cosf keep the digits of 2/pi there, for large angles"),
    "turned_kernel": (32, "sinf and cosf keep the digits of 2/pi there, for large angles"),
    # Of 24 instances two on sm_120, ten words, and one on sm_100, two: in its machine code they go and come each step,
    # beside 512 multiplications; without, half as many warps are resident.
    "product_kernel": (40, "128 registers leave room for a second block"),
    # Of sixteen instances those whose results are float32, up to 24 words.
    "matrix_kernel": (96, "128 sums of a thread, fragments of two slices and the slice that is summed apart from them"),
    # Of 28 instances one on sm_90, two words: with 56 registers a ninth block is resident.
    "rmsnorm_backward_kernel": (8, "the compiler lets two words go, outside of its inner loops"),
    # On sm_100 and sm_120; of narrow heads two words on sm_90, too.
    "attention_matrix_kernel": (64, "sums, scores, queries and the parts of weights are all in registers"),
    # What stays the same from step to step: stored before the first, read once a step beside 128 multiplications.
    "d_keys_matrix_kernel": (40, "sums of two gradients are in registers; another step would leave warps idle"),
    "d_queries_matrix_kernel": (16, "on sm_120, of narrow heads: 168 registers leave room for a third block"),
}

Compilers = dict[str, str]  # architecture -> compiler and version


def complaints(needs: Needs, compilers: Compilers) -> Iterator[str]:
    """Yield what is wrong whatever the table was before."""
    if not needs:
        yield "there is no kernel at all"
    for kernel, cells in sorted(needs.items()):
        if missing := [arch for arch in compilers if arch not in cells]:
            yield f"{kernel} is missing from {', '.join(missing)}"
        explained, _ = EXPLAINED.get(kernel.split("<")[0], (0, ""))
        spilling = [arch for arch, need in cells.items() if need.local > explained and _generation(arch) >= 80]
        for size, archs in _grouped({arch: f"{cells[arch].local}" for arch in spilling}):
            yield f"{kernel} keeps {size} bytes a thread in local memory on {', '.join(archs)}"


def _generation(arch: str) -> int:
    return int(re.sub(r"\D", "", arch))


def changes(old: Needs, new: Needs, columns: list[str]) -> Iterator[str]:
    """Yield what differs in these columns, a line for each kernel and what it needs more or less of."""
    for kernel in sorted(old.keys() | new.keys()):
        if kernel not in new:
            yield f"{kernel} is gone"
        elif kernel not in old:
            most = Need(*map(max, zip(*new[kernel].values(), strict=True)))
            yield f"{kernel} is new: up to {most.registers} registers, {most.shared} shared, {most.local} local"
        else:
            for field in Need._fields:
                pairs = {arch: (old[kernel].get(arch), new[kernel].get(arch)) for arch in columns}
                steps = {arch: _step(field, *pair) for arch, pair in pairs.items() if all(pair)}
                parts = [f"{step} on {', '.join(archs)}" for step, archs in _grouped(steps)]
                if parts:
                    yield f"{kernel}: {field} {'; '.join(parts)}"


def _step(field: str, old: Need | None, new: Need | None) -> str:
    before, now = getattr(old, field), getattr(new, field)
    return "" if before == now else f"{before} -> {now} ({now - before:+})"


def _grouped(texts: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Return each text that is not empty, with the architectures that have it in common."""
    pairs = sorted((text, list(texts).index(arch)) for arch, text in texts.items() if text)
    grouped = [(text, [list(texts)[at] for _, at in same]) for text, same in groupby(pairs, key=lambda pair: pair[0])]
    return sorted(grouped, key=lambda pair: list(texts).index(pair[1][0]))


def not_compared(old: Compilers, new: Compilers) -> Iterator[str]:
    """Yield why a column of the table is not compared."""
    for arch in (*BY_CLANG, *BY_NVCC):
        if arch not in new:
            yield f"{arch}: there was no compiler for it"
        elif arch not in old:
            yield f"{arch}: the table does not have it yet"
        elif old[arch] != new[arch]:
            yield f"{arch}: compiled by {new[arch]}, the table by {old[arch]}"


def written(needs: Needs, compilers: Compilers) -> str:
    """Return the table as a file."""
    rows = [["kernel", *compilers], ["compiler", *compilers.values()]]
    rows += [[kernel, *(str(cells.get(arch, "-")) for arch in compilers)] for kernel, cells in sorted(needs.items())]
    return "".join("\t".join(row) + "\n" for row in rows)


def read(table: str) -> tuple[Needs, Compilers]:
    """Return what `written` was given; nothing for an empty file."""
    if not table:
        return {}, {}
    (_, *archs), (_, *compilers), *rows = [line.split("\t") for line in table.splitlines()]
    needs = {
        kernel: {arch: Need(*map(int, cell.split("/"))) for arch, cell in zip(archs, cells, strict=True)}
        for kernel, *cells in rows
    }
    return needs, dict(zip(archs, compilers, strict=True))


def version(compiler: str) -> str:
    """Return a compiler's name and version."""
    said = subprocess.run([compiler, "--version"], text=True, capture_output=True, check=True).stdout
    found = re.search(r"(clang) version ([\d.]+)|release [\d.]+, V([\d.]+)", said)
    if not found:
        sys.exit(f"{compiler} is neither clang nor nvcc: {said}")
    return f"clang {found[2]}" if found[1] else f"nvcc {found[3]}"


def main() -> int:
    parser = argparse.ArgumentParser(description="What every kernel needs on every architecture.")
    parser.add_argument("objects", nargs="+", type=Path, help="the library, and cubins in folders named sm_XX")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--clang", help="what compiled for sm_70, if anything did")
    parser.add_argument("--accept", action="store_true", help="keep the new table")
    given = parser.parse_args()
    needs = measure(given.objects, given.cuobjdump)
    compilers = dict.fromkeys(BY_CLANG, version(given.clang)) if given.clang else {}
    compilers |= dict.fromkeys(BY_NVCC, version(given.nvcc))
    old, old_compilers = read(TABLE.read_text(encoding="utf-8") if TABLE.exists() else "")

    print(f"{len(needs)} kernels for {', '.join(compilers)}")
    for line in not_compared(old_compilers, compilers):
        print(f"NOT COMPARED {line}")
    wrong = [*complaints(needs, compilers), *missing_ptx(given.objects[0], given.cuobjdump)]
    if given.accept and not given.clang:
        wrong.append("--accept takes whole tables: sm_70 needs clang++")
    for line in wrong:
        print(f"WRONG {line}")
    columns = [arch for arch in compilers if old_compilers.get(arch) == compilers[arch]]
    differing = list(changes(old, needs, columns))
    for line in differing:
        print(f"CHANGED {line}")
    if given.accept and not wrong:
        TABLE.write_text(written(needs, compilers), encoding="utf-8")
        print(f"written: {TABLE}")
    elif differing:
        print(f"{len(differing)} changes: if they are meant, nox -s kernels -- --accept, and commit {TABLE.name}")
    return int(bool(wrong or (differing and not given.accept)))


if __name__ == "__main__":
    sys.exit(main())
