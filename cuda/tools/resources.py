"""What every kernel needs on every architecture, and what its machine code does, as two tables that are kept.

    python cuda/tools/resources.py build/cuda/libassayer_cuda.so build/sm_70/*.cubin \\
        --cuobjdump PATH --nvcc PATH [--clang PATH] [--arch sm_80 ...] [--accept]

A cell of resources.tsv is registers/shared/local: of a thread, of a block in bytes, of a thread in bytes; one of
machine_code.tsv is the fields of `machine_code.Code`.  Exit code 1: a kernel is missing from an architecture, keeps
something in local memory, or has code, that nobody explained; its code became worse and nobody explained it; or it is
not what the tables say (`--accept` writes that).  Where an architecture was not compiled for want of a compiler, or by
another than the table was, its column is not compared, which is said.  So it is with those that --arch does not name.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gate
from gate import generation
from machine_code import Code, measure_code
from tables import Compilers, Rows, changes, grouped, not_compared, read, written
from usage import Need, Needs, measure, missing_ptx

TABLE = Path(__file__).parents[1] / "resources.tsv"
CODE_TABLE = TABLE.with_name("machine_code.tsv")
BY_NVCC = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120")
BY_CLANG = ("sm_70",)
# Kernels that may keep so many bytes in local memory on sm_80 and later, and why; of several that fit, the longest.
EXPLAINED = {
    "rotate_kernel": (40, "sincosf keeps the digits of 2/pi there, for angles past 105,615"),
    "strided_kernel": (32, "sinf and cosf keep the digits of 2/pi there, for large angles"),
    "turned_kernel": (32, "sinf and cosf keep the digits of 2/pi there, for large angles"),
    # Of 24 instances two on sm_120, ten words, and one on sm_100, two: in its machine code they go and come each step,
    # beside 512 multiplications; without, half as many warps are resident.
    "product_kernel": (40, "128 registers leave room for a second block"),
    # Of sixteen instances those whose results are float32, up to 24 words.
    "matrix_kernel": (96, "128 sums of a thread, fragments of two slices and the slice that is summed apart from them"),
    # Of twelve instances one on sm_86 and sm_89, and another on sm_100, two words.  Not looked for in its code.
    "attention_softmax_kernel": (
        8,
        "a part of the scores and of the mask, 16 numbers of each, are in registers at once",
    ),
    # Of rows past 8,192 columns.  Fewer numbers at once would read half of a row of the vocabulary twice.
    "fused_cross_entropy_kernel": (56, "32 numbers of a row in 64 registers, beside what is known of the row"),
    # Of rows past 128 experts, on sm_120.  Not looked for in its code.
    "topk_router_kernel": (8, "sixteen numbers of a row, and as many sums and counts, are in registers at once"),
    # Of 28 instances one on sm_90, two words: with 56 registers a ninth block is resident.
    "rmsnorm_backward_kernel": (8, "the compiler lets two words go, outside of its inner loops"),
    # Of wide heads on sm_100 and sm_120; of narrow ones two words on sm_100.
    "attention_matrix_kernel": (64, "sums, scores, queries and the parts of weights are all in registers"),
    # Of wide heads from sm_80 on, of narrow ones up to ten words where three blocks are resident.
    "attention_matrix_kernel<Fp16": (120, "as above, and float16 in two parts beside the three of weights"),
    # What stays the same from step to step: stored before the first, read once a step beside 128 multiplications.
    "d_keys_matrix_kernel": (40, "sums of two gradients are in registers; another step would leave warps idle"),
    "d_keys_matrix_kernel<Fp16": (48, "as above, and float16 in two parts beside the three of weights"),
    # On sm_80 and sm_100, of narrow heads.
    "d_queries_matrix_kernel<Fp16": (16, "registers are kept to 168, for a third block"),
}


def explained(kernel: str) -> int:
    """Return how many bytes somebody has said why a kernel keeps."""
    found = [name for name in EXPLAINED if kernel == name or kernel.startswith((f"{name}<", f"{name},"))]
    return EXPLAINED[max(found, key=len)][0] if found else 0


def complaints(needs: Needs, compilers: Compilers) -> Iterator[str]:
    """Yield what is wrong whatever the table was before."""
    if not needs:
        yield "there is no kernel at all"
    for kernel, cells in sorted(needs.items()):
        if missing := [arch for arch in compilers if arch not in cells]:
            yield f"{kernel} is missing from {', '.join(missing)}"
        bound = explained(kernel)
        spilling = [arch for arch, need in cells.items() if need.local > bound and generation(arch) >= 80]
        for size, archs in grouped({arch: f"{cells[arch].local}" for arch in spilling}):
            yield f"{kernel} keeps {size} bytes a thread in local memory on {', '.join(archs)}"


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
    known = (*BY_CLANG, *BY_NVCC)
    few = "what was compiled, where that is not everything (repeatable)"
    parser.add_argument("--arch", action="append", choices=known, help=few)
    parser.add_argument("--accept", action="store_true", help="keep the new table")
    given = parser.parse_args()
    compilers = dict.fromkeys(BY_CLANG, version(given.clang)) if given.clang else {}
    compilers |= dict.fromkeys(BY_NVCC, version(given.nvcc))
    compilers = {arch: compiler for arch, compiler in compilers.items() if arch in (given.arch or known)}
    needs = measure(given.objects, given.cuobjdump)
    library = given.objects[0]
    # nvdisasm from 13.1 on reads no code for sm_70.
    disassembled = {arch: compilers[arch] for arch in BY_NVCC if arch in compilers}
    codes = measure_code(library, disassembled, given.cuobjdump)
    old, old_compilers = kept(CODE_TABLE, Code)
    print(f"{len(needs)} kernels for {', '.join(compilers)}")
    for line in gate.summary(codes):
        print(line)

    wrong = [*complaints(needs, compilers), *gate.complaints(codes)]
    wrong += [] if given.arch else missing_ptx(library, given.cuobjdump)
    wrong += gate.unread(needs, codes, disassembled)
    wrong += gate.worse(old, codes, same(old_compilers, compilers))
    if given.accept and len(compilers) < len(known):
        wrong.append("--accept takes whole tables: every architecture, of which sm_70 needs clang++")
    for line in wrong:
        print(f"WRONG {line}")
    accept = given.accept and not wrong
    differing = [
        line
        for table, cell, rows, columns in ((TABLE, Need, needs, compilers), (CODE_TABLE, Code, codes, disassembled))
        for line in compared(table, cell, rows, columns, accept)
    ]
    if differing and not accept:
        print(f"{len(differing)} changes: if they are meant, nox -s kernels -- --accept, and commit the tables")
    return int(bool(wrong or (differing and not accept)))


def kept(table: Path, cell: type[Need | Code]) -> tuple[dict[str, dict[str, Any]], Compilers]:
    return read(table.read_text(encoding="utf-8") if table.exists() else "", cell)


def same(old: Compilers, new: Compilers) -> list[str]:
    """Return the architectures that both have been compiled for by the same compiler."""
    return [arch for arch in new if old.get(arch) == new[arch]]


def compared(table: Path, cell: type[Need | Code], rows: Rows, compilers: Compilers, accept: bool) -> list[str]:
    """Say and return what differs from the table; write it where that is accepted."""
    old, old_compilers = kept(table, cell)
    for line in not_compared(old_compilers, compilers, BY_NVCC if cell is Code else (*BY_CLANG, *BY_NVCC)):
        print(f"NOT COMPARED {table.name}: {line}")
    differing = list(changes(old, rows, same(old_compilers, compilers)))
    for line in differing:
        print(f"CHANGED {line}")
    if accept:
        table.write_text(written(rows, compilers), encoding="utf-8")
        print(f"written: {table}")
    return differing


if __name__ == "__main__":
    sys.exit(main())
