"""Which matrix unit has formed a sum of products: found by sums that each unit ends otherwise.

A row of numbers is multiplied by ones.  Each row holds a few numbers, the others are zero; what they add up to depends
on how many products a unit adds at once, on how many digits it keeps of them, and on how it rounds.  The numbers lie in
float16, bfloat16 and TF32 as they are; those of the rows for fp8 in e4m3, too.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from conformance.limits.noise import FLOAT32, Cutting, roundings
from conformance.operations import base_of
from reference.tensor_core import FP8, WARP_GROUP, MatrixUnit, dot, matrix_unit

from .arguments import Array, build
from .measures import Call

LENGTH, WIDE = 64, 128  # products of a sum; rows and columns, so many that a library takes the way of large ones
_FAR = 48  # beyond the first step of every unit
_ONE, _FP8_ONE = 16.0, 256.0
_PRODUCTS = ("gemm", "router_gemm", "gemm_beta", "gemm_nn", "gemm_tn", "gemm_tt")
Row = tuple[tuple[int, float], ...]  # numbers by place


def _rows() -> tuple[Row, ...]:
    one = _ONE

    def digit(place: int) -> float:
        return one * 2.0**-place

    return (
        ((0, one), (1, 1.5 * digit(24)), (_FAR, -one)),
        *(((0, one), (1, digit(j)), (2, -one)) for j in range(22, 28)),
        *(((0, one), (1, digit(24)), (place, -one)) for place in (3, 4, 7, 8, 12, 15, 16, 24, 31, 32)),
        *(((0, one), (1, one), (2, digit(23)), (place, -one), (place + 1, -one)) for place in (3, 4, 8, 16, 32)),
        ((0, one), *((place, digit(25)) for place in range(1, 9)), (_FAR, -one)),
        ((0, one), (1, digit(24)), (3, digit(24)), (_FAR, -one)),
        ((0, one), (2, digit(24)), (4, digit(24)), (_FAR, -one)),
        *(((0, _FP8_ONE), (1, _FP8_ONE * 2.0**-j), (_FAR, -_FP8_ONE)) for j in (12, 13, 14)),
        ((0, _FP8_ONE), (1, _FP8_ONE), (2, _FP8_ONE * 2.0**-13), (16, -_FP8_ONE), (17, -_FP8_ONE)),
    )


ROWS = _rows()
_ROUNDED = 0  # the row that is 0 where sums are cut: 1 + 1.5 * 2^-24 is nearer to what comes above 1


@dataclass(frozen=True)
class Unit:
    """A unit by its name; `cuts`: its parameters, where it is a tensor core.

    instruction: how many products one takes; to_nearest: whether sums are rounded so.
    """

    name: str
    cuts: MatrixUnit | None = None
    operands: str = "float16"
    instruction: int = 16
    to_nearest: bool = False

    @property
    def is_as_declared(self) -> bool:
        """Whether it keeps the digits of the unit in use; of plain formats other probes tell how sums are rounded.

        Of one that is none of those known nobody can say so, where a unit is declared.
        """
        declared = roundings().cuts
        if self.to_nearest or self.cuts is None:
            return self.to_nearest or not isinstance(declared, Cutting)
        if not isinstance(declared, Cutting):
            return self.cuts.kept >= FLOAT32.bits
        return self.cuts.kept >= declared.unit.kept and self.cuts.fraction >= declared.unit.fraction

    def sums(self) -> tuple[float, ...]:
        """What each row adds up to."""
        if self.cuts is None:
            return tuple(map(float, _by_tiles(_matrix())))
        rows = _held(_matrix(), self.operands)
        total = np.zeros(len(rows), np.float32)
        for at in range(0, LENGTH, self.instruction):
            piece = rows[:, at : at + self.instruction]
            total = dot(piece, np.ones_like(piece), total, self.operands, self.cuts)
        return tuple(map(float, total))


def _matrix(height: int = len(ROWS)) -> Array:
    """The rows as a matrix, zeros below them."""
    rows = np.zeros((height, LENGTH))
    for row, numbers in zip(rows, ROWS, strict=False):
        for place, number in numbers:
            row[place] = number
    return rows


def _held(rows: Array, operands: str) -> Array:
    """The numbers that a format of 8 bits holds; the others are below half of its least, and become 0."""
    return np.where(np.abs(rows) < 2.0**-9, 0.0, rows) if operands in FP8 else rows


def _by_tiles(rows: Array) -> Array:
    """What AMX makes of 16 bits: of 32 products those at even places, then those at odd ones, in float32."""
    total = np.zeros(len(rows), np.float32)
    for at in range(0, LENGTH, 32):
        even, odd = np.zeros_like(total), np.zeros_like(total)
        for place in range(at, at + 32, 2):
            even, odd = (each + np.float32(rows[:, place + i]) for i, each in enumerate((even, odd)))
        total = total + (even + odd)
    return total


UNITS = (
    Unit("tensor core sm_70", matrix_unit(70, "float16")),
    Unit("tensor core sm_75 to sm_89", matrix_unit(80, "float16")),
    Unit("tensor core sm_80 to sm_89, in TF32", matrix_unit(80, "tf32"), "tf32", 8),
    Unit("tensor core sm_90 and later", matrix_unit(90, "float16")),
    Unit("tensor core sm_90 and later, in TF32", matrix_unit(90, "tf32"), "tf32", 8),
    Unit("tensor core sm_89, in fp8", matrix_unit(89, "e4m3"), "e4m3", 32),
    Unit("tensor core sm_90, in fp8 by wgmma", WARP_GROUP["wgmma"], "e4m3", 32),
    Unit("tensor core sm_90 to sm_120, in fp8 by mma.sync or tcgen05", WARP_GROUP["tcgen05"], "e4m3", 32),
    Unit("AMX", to_nearest=True),
)
FLOAT = Unit("float32, rounded to nearest", to_nearest=True)
UNKNOWN = Unit("a unit that cuts, none of the known ones")


@functools.cache
def _known() -> dict[tuple[float, ...], Unit]:
    """Units by what rows add up to on them, which differs from unit to unit."""
    return {unit.sums(): unit for unit in UNITS}


def is_product(operation: str) -> bool:
    """Whether the operation is a product of two matrices, in any format."""
    return base_of(operation) in _PRODUCTS


def unit_of(operation: str, call: Call) -> Unit:
    """Return the unit that forms the operation's sums."""
    arguments = build(operation, "K", LENGTH, 1.0, {}, {"M": WIDE, "N": WIDE})
    given = arguments["A"]  # M x K, or K x M
    given[...] = _matrix(WIDE) if given.shape == (WIDE, LENGTH) else _matrix(WIDE).T
    sums = tuple(map(float, call(operation, arguments)["C"][: len(ROWS), -1]))
    if unit := _known().get(sums):
        return unit
    return FLOAT if sums[_ROUNDED] else UNKNOWN
