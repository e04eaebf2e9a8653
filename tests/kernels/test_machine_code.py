"""The gate on machine code: read from cuobjdump's words, held to rules, compared with what it was."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "cuda" / "tools"
KERNELS = TOOLS.parent / "kernels"
sys.path.insert(0, str(TOOLS))  # scripts, that import each other by name
import gate  # noqa: E402
import resources  # noqa: E402
import tables  # noqa: E402
from gate import Explained  # noqa: E402
from machine_code import Code, read_code, width  # noqa: E402

GOOD = Code(load=16, store=16, matrix=0, copies=0, local=0, generic=0, spins=0, split=0)
HEAD = '\n\tcode for sm_90\n\t.target\tsm_90\n\n\t\tFunction : {}\n\t.headerflags\t@"EF_CUDA_SM90"\n'


def listing(*instructions: str, name: str = "f") -> list[str]:
    """What cuobjdump prints of a kernel with these instructions: each on a line, its bits on two."""
    lines = HEAD.format(name).splitlines(keepends=True)
    for at, each in enumerate(instructions):
        lines.append(f"        /*{16 * at:04x}*/    {each} ;   /* 0x00000a00ff017b82 */\n")
        lines.append(f"{' ' * 60}/* 0x000fe20000000800 */\n")
    return lines


def code(*instructions: str) -> Code:
    [(arch, name, found)] = read_code(listing(*instructions))
    assert (arch, name) == ("sm_90", "f")
    return found


def test_every_kernel_of_every_architecture_is_read() -> None:
    lines = [*listing("EXIT"), *listing("HMMA.16816.F32 R4, R8, R12, R4", name="g")]
    lines += [line.replace("sm_90", "sm_80") for line in listing("LDG.E.64 R2, [R4.64]")]
    assert list(read_code(lines)) == [
        ("sm_90", "f", Code(0, 0, 0, 0, 0, 0, 0, 0)),
        ("sm_90", "g", Code(0, 0, 1, 0, 0, 0, 0, 0)),
        ("sm_80", "f", Code(8, 0, 0, 0, 0, 0, 0, 0)),
    ]


@pytest.mark.parametrize(
    ("name", "size"),
    [("LDG.E.128.CONSTANT", 16), ("STG.E.64", 8), ("LDG.E", 4), ("STG.E.U16", 2), ("LDG.E.U8.STRONG.SYS", 1)],
)
def test_how_wide_an_access_is(name: str, size: int) -> None:
    assert width(name) == size


@pytest.mark.parametrize(
    ("instruction", "field"),
    [
        ("HMMA.16816.F32.BF16 R4, R8, R12, R4", "matrix"),
        ("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24", "matrix"),
        ("@!P0 LDGSTS.E.BYPASS.128 [R3], desc[UR4][R4.64]", "copies"),
        ("UBLKCP.S.G [UR4], [UR6], UR8", "copies"),
        ("LDL R2, [R1]", "local"),
        ("STL.64 [R1+0x8], R2", "local"),
        ("LD.E.128 R4, desc[UR4][R2.64]", "generic"),
        ("ST.E desc[UR4][R2.64], R4", "generic"),
        ("ATOM.E.ADD.STRONG.GPU PT, R2, [R4.64], R6", "generic"),
        ("ATOMS.CAST.SPIN.64 P0, [R8], R4, R6", "spins"),
        ("ATOMS.CAS R2, [R8], R4, R6", "spins"),
    ],
)
def test_what_is_counted(instruction: str, field: str) -> None:
    assert getattr(code(instruction), field) == 1
    assert sum(code(instruction)[2:]) == 1


def test_what_is_not_counted() -> None:
    others = code("HFMA2.MMA R2, -RZ, RZ, 0, 0", "ATOMS.ADD RZ, [R2], R3", "LDS.128 R4, [R2]", "LDC R1, c[0x0][0x28]")
    assert others == Code(0, 0, 0, 0, 0, 0, 0, 0)


STORES = [f"STG.E desc[UR4][R2.64+{hex(at)}], R{8 + at}" for at in (0, 4, 8, 12)]


def test_sixteen_bytes_in_four_stores_are_split() -> None:
    assert code(*STORES).split == 1
    assert code(*STORES[::-1]).split == 1
    assert code("STG.E.64 [R2.64], R4", "STG.E.64 [R2.64+0x8], R6").split == 1
    assert code(*STORES, *(store.replace("R2", "R6") for store in STORES)).split == 2


@pytest.mark.parametrize("between", ["BRA 0x100", "IADD3 R2, P0, R2, R4, RZ", "IMAD.MOV.U32 R3, RZ, RZ, R7"])
def test_stores_that_are_no_neighbours_are_not(between: str) -> None:
    assert code(*STORES[:2], between, *STORES[2:]).split == 0
    assert code(*STORES[:3], "STG.E desc[UR4][R2.64+0x10], R9").split == 0
    assert code(*STORES[:3], f"@P0 {STORES[3]}").split == 0
    assert code("STG.E.128 [R2.64], R4").split == 0


PRODUCT = "matrix_kernel<Bf16, Shape<128>, float>"
HELD = dict.fromkeys(("sm_75", "sm_80", "sm_90"), GOOD)


@pytest.fixture
def unexplained(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(gate, "EXPLAINED", ())
    return monkeypatch


@pytest.mark.parametrize("field", gate.BETTER_NONE)
def test_what_no_kernel_may_have_is_told(field: str, unexplained: pytest.MonkeyPatch) -> None:
    bad = {**HELD, "sm_90": GOOD._replace(**{field: 3})}
    assert list(gate.complaints({"f<1>": bad})) == [f"f<1> has 3 {gate.BETTER_NONE[field]} on sm_90"]
    assert list(gate.complaints({"f<1>": HELD})) == []


def test_an_explanation_holds_up_to_its_bound(unexplained: pytest.MonkeyPatch) -> None:
    unexplained.setattr(gate, "EXPLAINED", (Explained("f", "split", 3, "why"),))
    for split, told in ((3, 0), (4, 1)):
        assert len(list(gate.complaints({"f<1>": {"sm_80": GOOD._replace(split=split)}}))) == told
    assert list(gate.complaints({"g": HELD})) == ["EXPLAINED has f, and no kernel is called that"]


def test_a_product_without_matrix_units_is_told_from_sm_80_on(unexplained: pytest.MonkeyPatch) -> None:
    assert list(gate.complaints({PRODUCT: HELD})) == [f"{PRODUCT} has no product on matrix units on sm_80, sm_90"]
    codes = {PRODUCT: {**HELD, **dict.fromkeys(("sm_80", "sm_90"), GOOD._replace(matrix=64))}, "add_kernel<Bf16>": HELD}
    assert list(gate.complaints(codes)) == []
    below, above = gate.summary(codes)
    assert below == f"sm_75: 0 of 1 kernels of 16-bit products multiply on matrix units: {gate.WITHOUT_MATRIX_UNITS}"
    assert above == "sm_80, sm_90: 1 of 1 kernels of 16-bit products multiply on matrix units"


def test_a_product_of_float16_is_told_from_sm_75_on(unexplained: pytest.MonkeyPatch) -> None:
    product = PRODUCT.replace("Bf16", "Fp16")
    for kernel in (product, product.replace("matrix_kernel", "matrix_swiglu_kernel")):
        [line] = gate.complaints({kernel: HELD})
        assert line == f"{kernel} has no product on matrix units on sm_75, sm_80, sm_90"
    attention = "attention_matrix_kernel<Fp16, FlashShape<64, 4, 2>>"  # which multiplies by weights in bfloat16
    [line] = gate.complaints({attention: HELD})
    assert line == f"{attention} has no product on matrix units on sm_80, sm_90"


def test_a_kernel_that_was_empty_did_not_become_worse(unexplained: pytest.MonkeyPatch) -> None:
    spilling = GOOD._replace(local=8)
    for before, told in ((gate.EMPTY, 0), (GOOD, 1)):
        assert len(list(gate.worse({"f<1>": {"sm_75": before}}, {"f<1>": {"sm_75": spilling}}, ["sm_75"]))) == told


@pytest.mark.parametrize(
    ("field", "before", "now", "is_worse"),
    [
        ("load", 16, 4, True),
        ("store", 16, 8, True),
        ("store", 4, 16, False),
        ("matrix", 64, 0, True),
        ("matrix", 64, 32, False),
        ("copies", 8, 0, True),
        ("local", 0, 2, True),
        ("spins", 2, 0, False),
        ("generic", 1, 2, True),
    ],
)
def test_a_kernel_that_became_worse_is_told(
    field: str, before: int, now: int, is_worse: bool, unexplained: pytest.MonkeyPatch
) -> None:
    old, new = ({"f<1>": {"sm_80": GOOD._replace(**{field: each})}} for each in (before, now))
    line = f"f<1> became worse: {field} {before} -> {now} ({now - before:+}) on sm_80"
    assert list(gate.worse(old, new, ["sm_80"])) == ([line] if is_worse else [])
    assert list(gate.worse(old, new, [])) == []
    unexplained.setattr(gate, "EXPLAINED", (Explained("f", field, now, "why"),))
    assert list(gate.worse(old, new, ["sm_80"])) == []


def test_code_that_was_not_read_is_missed() -> None:
    assert list(gate.unread(["f", "g"], {"f": HELD}, HELD)) == [f"g: no machine code was read for {', '.join(HELD)}"]
    assert list(gate.unread(["f"], {"f": HELD}, [*HELD, "sm_100"])) == ["f: no machine code was read for sm_100"]


def test_the_committed_table_passes_the_gate_and_knows_every_kernel() -> None:
    codes, compilers = tables.read(resources.CODE_TABLE.read_text(encoding="utf-8"), Code)
    assert compilers.keys() <= {*resources.BY_CLANG, *resources.BY_NVCC}
    assert {"sm_80", "sm_90"} <= compilers.keys()
    assert list(gate.complaints(codes)) == []
    needs, _ = tables.read(resources.TABLE.read_text(encoding="utf-8"), resources.Need)
    assert codes.keys() == needs.keys()
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted(KERNELS.glob("*.cu*")))
    declared = re.findall(r"__global__ void(?: __launch_bounds__\([^;{]*?\))?\s+(\w+)\(", sources)
    assert {name.split("<")[0] for name in codes} == set(declared)
