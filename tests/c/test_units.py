"""The units for 16 bits against the reference's words for them, to the last bit, and the products made of them."""

from __future__ import annotations

import copy
import ctypes
import platform
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from bindings import Library
from conformance import operations
from conformance.judging.outputs import judge_outputs
from conformance.limits.expectation import expect
from reference.cpu_matrix_unit import TILE_DEPTH, dot_amx, dot_avx512_bf16
from tests.c.test_build import COMPILER
from tests.conftest import ROOT

BF16 = ml_dtypes.bfloat16
SOURCE = ROOT / "cuda" / "src"
NONE = 0


@dataclass(frozen=True)
class Unit:
    """A unit: its place in units.c and its number (halves/unit.h), the rows that it takes at a time, what it computes.

    spread, tiny: exponents of the format that are far apart, and those whose products are small, or numbers subnormal.
    """

    place: int
    number: int
    rows: int
    dot: Callable[[Any, Any, Any], Any]
    dtype: Any = BF16
    spread: int = 40
    tiny: int = -63


# By the setting's word (ASSAYER_BF16, ASSAYER_FP16).
UNITS = {
    "avx512_bf16": Unit(1, 1, 14, dot_avx512_bf16),
    "amx": Unit(2, 2, 32, dot_amx),
    "amx_emulated": Unit(3, 3, 32, dot_amx),
}
FP16_UNITS = {
    "amx": Unit(4, 2, 32, dot_amx, np.float16, 12, -17),
    "amx_emulated": Unit(5, 3, 32, dot_amx, np.float16, 12, -17),
}
ALWAYS = {"widened", "amx_emulated"}  # written in C alone
ALL = {f"bf16 {name}": unit for name, unit in UNITS.items()} | {f"fp16 {name}": one for name, one in FP16_UNITS.items()}
COLUMNS = 16
Draw = Callable[[np.random.Generator, tuple[int, ...], Unit], Any]


@pytest.fixture(scope="module")
def multiply_on(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("units") / "units.so"
    parts = [Path(__file__).parent / "units.c"]
    parts += [SOURCE / "halves" / f"{name}.c" for name in ("avx512_bf16", "amx", "amx_emulated")]
    options = ["-std=c11", "-O2", "-fPIC", "-shared", f"-I{SOURCE}"]
    subprocess.run([COMPILER, *options, *parts, "-o", path], check=True)
    return ctypes.CDLL(str(path)).multiply_on


def _normal(rng: np.random.Generator, shape: tuple[int, ...], _: Unit) -> Any:
    return rng.normal(size=shape)


def _far_apart(rng: np.random.Generator, shape: tuple[int, ...], unit: Unit) -> Any:
    return rng.normal(size=shape) * 2.0 ** rng.integers(-unit.spread, unit.spread, shape)


def _tiny(rng: np.random.Generator, shape: tuple[int, ...], unit: Unit) -> Any:
    """Products on both sides of the smallest normal number; of float16 numbers on both sides of its own."""
    return rng.normal(size=shape) * 2.0 ** rng.integers(unit.tiny - 3, unit.tiny + 3, shape)


def _any_bits(rng: np.random.Generator, shape: tuple[int, ...], unit: Unit) -> Any:
    """Subnormal numbers, infinities and NaN among all others."""
    return rng.integers(0, 2**16, shape, np.uint16).view(unit.dtype)


def _few_special(rng: np.random.Generator, shape: tuple[int, ...], unit: Unit) -> Any:
    format = ml_dtypes.finfo(unit.dtype)
    small, least, largest = (float(x) for x in (format.smallest_normal, format.smallest_subnormal, format.max))
    special = [0.0, -0.0, small, -8 * least, np.inf, -np.inf, np.nan, largest, small / 2]
    return np.where(rng.random(shape) < 0.02, rng.choice(special, shape), rng.normal(size=shape))


DRAWS = (_normal, _far_apart, _tiny, _any_bits, _few_special)


def packed_pairs(b: Any) -> Any:
    """[k, columns] as a panel: pairs along k side by side."""
    k, columns = b.shape
    return np.ascontiguousarray(b.reshape(k // 2, 2, columns).transpose(0, 2, 1))


def packed_rows(a: Any) -> Any:
    """[rows, k] as a strip: by 32 numbers of each row."""
    rows, k = a.shape
    return np.ascontiguousarray(a.reshape(rows, k // TILE_DEPTH, TILE_DEPTH).transpose(1, 0, 2))


def address(x: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(x.ctypes.data)


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("name", ALL)
def test_every_bit_is_that_of_the_unit(multiply_on: Any, name: str, draw: Draw) -> None:
    """4,160 or 8,448 dot products of 96 numbers of each kind; of a NaN that it is one."""
    unit = ALL[name]
    rng = np.random.default_rng(5)
    for repeat in range(32):
        rows = unit.rows - repeat % unit.rows
        with np.errstate(all="ignore"):
            a, b = (draw(rng, shape, unit).astype(unit.dtype) for shape in ((rows, 96), (96, COLUMNS)))
            c = draw(rng, (rows, COLUMNS), unit).astype(np.float32)
        got = c.copy()
        strip, panel = packed_rows(a), packed_pairs(b)
        if not multiply_on(unit.place, address(strip), address(panel), rows, ctypes.c_int64(3), address(got)):
            pytest.skip(f"this processor or build has no {name}")
        want = unit.dot(a[:, None], b.T[None], c)
        assert np.array_equal(np.isnan(got), np.isnan(want))
        known = ~np.isnan(want)
        assert np.array_equal(got.view(np.uint32)[known], want.view(np.uint32)[known])


def test_what_is_written_as_bytes_is_the_instruction_for_float16(tmp_path: Path) -> None:
    """Four tiles of sums by two of rows and two panels, as bfloat16's: each sum by its own."""
    disassembler = shutil.which("objdump")
    if not disassembler or platform.machine() != "x86_64":
        pytest.skip("no objdump for x86-64")
    compiled = tmp_path / "amx.o"
    command = [COMPILER, "-std=c11", "-O2", f"-I{SOURCE}", "-c", str(SOURCE / "halves" / "amx.c"), "-o", str(compiled)]
    subprocess.run(command, check=True)
    shown = subprocess.run([disassembler, "-d", str(compiled)], check=True, capture_output=True, text=True).stdout
    if "tdpbf16ps" in shown and "tdpfp16ps" not in shown:
        pytest.skip("an objdump before 2.40")
    found = {format: Counter(re.findall(rf"tdp{format}ps\s+(.*)", shown)) for format in ("bf16", "fp16")}
    assert found["fp16"] == found["bf16"]
    assert len(found["fp16"]) == (4 if found["bf16"] else 0)


def test_the_units_differ_where_their_orders_do() -> None:
    a, b = np.zeros((1, 32)), np.ones((1, 32))
    a[0, :2] = 2.0**-24, 1.0
    assert [float(dot(a, b, np.float32([2.0**-24]))[0]) for dot in (dot_avx512_bf16, dot_amx)] == [1.0, 1.0]
    a[0, :3] = 1.0, -1.0, 2.0**-24
    assert [float(dot(a, b, np.float32([0.0]))[0]) for dot in (dot_avx512_bf16, dot_amx)] == [2.0**-24, 0.0]
    with pytest.raises(ValueError, match="dot_amx: a: expected a multiple of 32 numbers, got 4"):
        dot_amx(a[:, :4], b[:, :4], np.zeros(1))


@pytest.fixture(scope="module", params=["widened", *UNITS])
def library(request: pytest.FixtureRequest, stub_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The C library by each way, of both formats where both have it: each is a copy, as it chooses once."""
    path = shutil.copy(stub_path, tmp_path_factory.mktemp("ways") / f"{request.param}.so")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAYER_BF16", request.param)
        patch.setenv("ASSAYER_FP16", request.param if request.param in FP16_UNITS else "widened")
        opened = Library(Path(path))
        found = {format: opened.services.fact(f"{format}_unit") for format in ("bf16", "fp16")}
    for format, units in (("bf16", UNITS), ("fp16", FP16_UNITS)):
        due = units[request.param].number if request.param in units else NONE
        if format == "bf16" and found[format] != due and request.param not in ALWAYS:
            pytest.skip(f"this processor or build has no {request.param}")
        # A processor may multiply one format alone; what is in C is always there.
        assert found[format] == due or (request.param == "amx" and found[format] == NONE)
    return opened


def agree(library: Library, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The judge finds no fault with any output of the call."""
    function = operations.OPERATIONS[operation]
    given = operations.as_declared(operation, arguments)
    results = getattr(library, operation)(**copy.deepcopy(given))
    flat = operations.flat(operations.by_name(function, results))
    outputs = {name: operations.widened(array) for name, array in flat.items()}
    expected = expect(operation, operations.typed(function, given))
    faults = [verdict for verdict in judge_outputs(operation, given, expected, outputs) if not verdict.passed]
    assert not faults, f"{operation}: {faults}"
    return outputs


# On both sides of pairs, tiles, panels, strips, blocks and of what is summed at a time.
SHAPES = [(1, 1, 1), (3, 33, 5), (15, 31, 257), (131, 100, 300), (33, 17, 1060), (300, 17, 40), (64, 290, 66)]
LAYOUTS = {"gemm_beta": ("mk", "nk"), "gemm_nn": ("mk", "kn"), "gemm_tn": ("km", "kn"), "gemm_tt": ("km", "nk")}


@pytest.mark.parametrize("suffix", ["bf16", "fp16"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_that_end_inside_a_tile(library: Library, shape: tuple[int, int, int], suffix: str) -> None:
    sizes, rng = dict(zip("mnk", shape, strict=True)), np.random.default_rng(3)
    for layout, axes in LAYOUTS.items():
        a, b, c = (rng.normal(size=[sizes[axis] for axis in of]).astype(np.float32) for of in (*axes, "mn"))
        given = {"A": a, "B": b, "alpha": 0.75}
        agree(library, f"{layout}_{suffix}", given | {"C": c, "beta": -0.5})
        agree(library, f"{layout}_{suffix}", given | {"C": np.full_like(c, np.nan), "beta": 0.0})


@pytest.mark.parametrize("size", [2.0**-60, 2.0**-64, 2.0**-100, 2.0**-133])
def test_what_a_unit_takes_for_zero_is_computed_all_the_same(library: Library, size: float) -> None:
    """Subnormal products and sums, and subnormal factors, in some of the rows."""
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(70, 40)), rng.normal(size=(40, 20)) * 2.0**-64
    a[30:50] *= size
    a[31] *= 0
    c = np.zeros((70, 20))
    outputs = agree(library, "gemm_nn_bf16", {"A": a, "B": b, "C": c, "alpha": 1.0, "beta": 0.0})
    held = outputs["C"] != 0
    assert held[:30].all()
    assert held[50:].all()
    assert not held[31].any()
    assert held[32:50].any() == (size > 2.0**-70)  # bfloat16 ends at 2^-133


def test_a_sum_of_the_smallest_normal_number_is_not_taken_for_zero(library: Library) -> None:
    """(1 + 2^-7)^2 - (1 + 2^-6) = 2^-14, times 2^-112: what a unit may be given by its factors' exponents."""
    a = np.array([[1 + 2.0**-7, -(1 + 2.0**-6)]]) * 2.0**-56
    b = np.array([[1 + 2.0**-7], [1.0]]) * 2.0**-56
    given = operations.as_declared("gemm_nn_bf16", {"A": a, "B": b, "C": np.zeros((1, 1))})
    assert float(library.gemm_nn_bf16(given["A"], given["B"], given["C"], alpha=1.0, beta=0.0)[0, 0]) == 2.0**-126


def test_bits_do_not_depend_on_the_size_of_a_block(library: Library) -> None:
    """Rows of a large product are those of a small one, wherever blocks end."""
    rng = np.random.default_rng(6)
    a, b = (
        operations.as_declared("gemm_bf16", {"A": rng.normal(size=(448, 200)), "B": rng.normal(size=(330, 200))})[n]
        for n in "AB"
    )
    whole = library.gemm_bf16(a, b)
    assert np.array_equal(whole[:, :16], library.gemm_bf16(a, np.ascontiguousarray(b[:16])))
    assert np.array_equal(whole[:, 320:], library.gemm_bf16(a, np.ascontiguousarray(b[320:])))
