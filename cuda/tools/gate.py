"""What machine code has to be, whatever it was before, and where it may not become worse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from machine_code import Code, Codes
from tables import grouped, step

LOWEST = 75  # of the architectures whose code is held to what stands here; below, another compiler makes it
MATRIX_UNITS_FROM = 80
FP16_PRODUCTS_FROM = 75  # read: of sm_70, where they begin, there is no disassembly
WITHOUT_MATRIX_UNITS = (
    "bfloat16, in which attention in float16 multiplies, too, begins at sm_80 (ptx_matrix.cuh): below, these are "
    "products of float32 between conversions, and their kernels are empty"
)
# Of kernels that compute products of 16-bit numbers, by their names: each has products on matrix units.
_PRODUCTS = re.compile(r"\w*(matrix|product|attention|flash|gemm)\w*_kernel<.*\b(Bf16|Fp16)\b")
_OF_FP16 = re.compile(r"matrix_(?:swiglu_)?kernel<Fp16\b")
EMPTY = Code(*[0] * len(Code._fields))  # what a kernel is where it has no units: whatever it does now is not worse
BETTER_LARGE = ("load", "store", "matrix", "copies")
BETTER_NONE = {
    "generic": "generic accesses",
    "spins": "spinning atomics in shared memory",
    "split": "stores of 16 bytes in several parts",
}


class Explained(NamedTuple):
    """Of which kernels, by their names without arguments, what may be how bad, and why."""

    kernel: str
    field: str
    bound: int
    why: str


EXPLAINED = (
    Explained("forward_kernel", "split", 4, "rows of heads that are no whole quads are stored number by number"),
    Explained("lay_out_kernel", "split", 7, "nvcc unrolls a loop over the experts that begin at one place, mostly one"),
    Explained(
        "matrix_kernel", "local", 48, "a warp's 64 x 64 sums take half of the registers, however they are formed"
    ),
    Explained(
        "attention_matrix_kernel", "local", 68, "outputs of wide heads take half of the registers, rows two parts"
    ),
    Explained(
        "d_queries_matrix_kernel", "local", 2, "gradients of wide heads take half of the registers, rows two parts"
    ),
)


def explained(kernel: str, field: str, value: int) -> bool:
    """Whether somebody has said why it may be so."""
    found = [each for each in EXPLAINED if (each.kernel, each.field) == (kernel.split("<")[0], field)]
    return any(value >= each.bound if field in BETTER_LARGE else value <= each.bound for each in found)


def unread(kernels: Iterable[str], codes: Codes, archs: Iterable[str]) -> Iterator[str]:
    """Yield the kernels whose machine code for an architecture was not found: nothing would be said of them."""
    for kernel in sorted(kernels):
        if missing := [arch for arch in archs if arch not in codes.get(kernel, {})]:
            yield f"{kernel}: no machine code was read for {', '.join(missing)}"


def complaints(codes: Codes) -> Iterator[str]:
    """Yield what is wrong whatever the table was before."""
    for kernel, cells in sorted(codes.items()):
        held = {arch: code for arch, code in cells.items() if generation(arch) >= LOWEST}
        for field, words in BETTER_NONE.items():
            values = {arch: getattr(code, field) for arch, code in held.items()}
            bad = {arch: f"{value}" for arch, value in values.items() if value and not explained(kernel, field, value)}
            yield from (f"{kernel} has {value} {words} on {', '.join(archs)}" for value, archs in grouped(bad))
        if _PRODUCTS.match(kernel) and not explained(kernel, "matrix", 0):
            without = [
                arch for arch, code in held.items() if generation(arch) >= units_from(kernel) and not code.matrix
            ]
            if without:
                yield f"{kernel} has no product on matrix units on {', '.join(without)}"
    names = {kernel.split("<")[0] for kernel in codes}
    for each in EXPLAINED:
        if codes and each.kernel not in names:
            yield f"EXPLAINED has {each.kernel}, and no kernel is called that"


def worse(old: Codes, new: Codes, columns: list[str]) -> Iterator[str]:
    """Yield where a kernel became worse than the table says, and nobody has said why."""
    for kernel in sorted(old.keys() & new.keys()):
        for field in Code._fields:
            steps = {}
            for arch in (each for each in columns if each in old[kernel] and each in new[kernel]):
                before, now = old[kernel][arch], new[kernel][arch]
                if (
                    before != EMPTY
                    and _is_worse(field, before, now)
                    and not explained(kernel, field, getattr(now, field))
                ):
                    steps[arch] = step(field, before, now)
            for text, archs in grouped(steps):
                yield f"{kernel} became worse: {field} {text} on {', '.join(archs)}"


def _is_worse(field: str, old: Code, new: Code) -> bool:
    before, now = getattr(old, field), getattr(new, field)
    if field in ("matrix", "copies"):  # how many there are is how far loops are unrolled
        return bool(before and not now)
    return bool(now < before if field in BETTER_LARGE else now > before)


def units_from(kernel: str) -> int:
    """Return the first architecture on which a kernel of 16-bit products has to multiply on matrix units."""
    return FP16_PRODUCTS_FROM if _OF_FP16.match(kernel) else MATRIX_UNITS_FROM


def summary(codes: Codes) -> Iterator[str]:
    """Yield what to know of the architectures: who has products on matrix units, and why others have none."""
    products = [kernel for kernel in codes if _PRODUCTS.match(kernel)]
    archs = dict.fromkeys(arch for cells in codes.values() for arch in cells)
    counts = {arch: sum(bool(codes[each][arch].matrix) for each in products if arch in codes[each]) for arch in archs}
    words = f"of {len(products)} kernels of 16-bit products multiply on matrix units"
    texts = {arch: f"{count} {words}" for arch, count in counts.items()}
    for text, which in grouped(texts):
        lacks = any(generation(arch) < MATRIX_UNITS_FROM for arch in which)
        yield f"{', '.join(which)}: {text}" + (f": {WITHOUT_MATRIX_UNITS}" if lacks else "")


def generation(arch: str) -> int:
    return int(re.sub(r"\D", "", arch))
