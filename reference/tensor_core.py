"""What a matrix unit of a GPU computes, to the last bit: products exact, terms cut to a common exponent, sums cut.

The model and its parameters agree with two publications that measured them (arXiv 2511.10909, arXiv 2512.07004);
docs/tensor_cores.md says which devices it was held to, and what was not checked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, check

FLOAT32, FLOAT16 = "float32", "float16"


@dataclass(frozen=True)
class Format:
    """A binary format: digits behind the first, the exponent of its subnormal numbers."""

    fraction: int
    least: int


FORMATS = {
    FLOAT32: Format(23, -126),
    "tf32": Format(10, -126),
    FLOAT16: Format(10, -14),
    "bfloat16": Format(7, -126),
    "e4m3": Format(3, -6),
    "e5m2": Format(2, -14),
}
FP8 = ("e4m3", "e5m2")


@dataclass(frozen=True)
class MatrixUnit:
    """How sums are formed: of `length` products and the accumulator at once, cut to `fraction` digits behind the point
    of the largest; a float32 result keeps `kept` digits.  `by_halves`: an instruction for fp8 that is carried out by
    those for float16 (`_by_halves`).
    """

    length: int
    fraction: int
    kept: int = 23
    by_halves: bool = False


_VOLTA, _TURING, _AMPERE = MatrixUnit(4, 23), MatrixUnit(8, 24), MatrixUnit(4, 24)
_HOPPER, _HOPPER_TF32 = MatrixUnit(16, 25), MatrixUnit(8, 25)
_FP8 = {
    89: MatrixUnit(16, 13, kept=13),
    90: MatrixUnit(16, 25, by_halves=True),
    100: MatrixUnit(16, 25, by_halves=True),
    120: MatrixUnit(32, 25),
}
# Of instructions that a whole group of warps carries out, by the name that PTX gives them.
WARP_GROUP = {"wgmma": MatrixUnit(32, 13, kept=13), "tcgen05": MatrixUnit(32, 25)}


def matrix_unit(architecture: int, operands: str) -> MatrixUnit:
    """Return the unit that mma.sync of an architecture (80 for sm_80) multiplies a format by.

    Raises ValueError where the architecture has none for it.
    """
    units: dict[str, MatrixUnit] = {}
    if architecture in (70, 75):
        units = {FLOAT16: _VOLTA if architecture == 70 else _TURING}
    elif architecture in (80, 86, 89):
        units = {FLOAT16: _TURING, "bfloat16": _TURING, "tf32": _AMPERE}
    elif architecture in (90, 100, 120):
        units = {FLOAT16: _HOPPER, "bfloat16": _HOPPER, "tf32": _HOPPER_TF32}
    if architecture in _FP8:
        units |= dict.fromkeys(FP8, _FP8[architecture])
    check(units, "matrix_unit", "architecture", "one of 70, 75, 80, 86, 89, 90, 100, 120", architecture)
    check(operands in units, "matrix_unit", "operands", f"one of {', '.join(units)} on sm_{architecture}", operands)
    return units[operands]


def dot(a: Array, b: Array, c: Array, operands: str, unit: MatrixUnit, result: str = FLOAT32) -> Array:
    """Return c + sum(a * b) over the last axis as the unit forms it, of the result's type.

    a, b: [..., k], numbers of the format `operands`, in any floating type that holds them; of tf32 the digits behind
    its last are cut.  c: [...], of the result's format, "float32" or "float16".  An instruction of more products than
    the unit adds at once runs in pieces, each of which adds to the result of the one before.
    """
    check(result in (FLOAT32, FLOAT16), "dot", "result", f"{FLOAT32} or {FLOAT16}", result)
    check(np.shape(a)[-1:] == np.shape(b)[-1:], "dot", "b", f"{np.shape(a)[-1:]} numbers as in a", np.shape(b)[-1:])
    a, b = (_tf32(each) if operands == "tf32" else np.asarray(each, np.float64) for each in (a, b))
    if unit.by_halves:
        return _by_halves(a, b, c, unit, result)
    total = np.asarray(c, result)
    for at in range(0, a.shape[-1], unit.length):
        piece = slice(at, at + unit.length)
        total = _piece(a[..., piece], b[..., piece], total, FORMATS[operands], unit, result)
    return total


def _by_halves(a: Array, b: Array, c: Array, unit: MatrixUnit, result: str) -> Array:
    """fp8 without hardware for it: in float16, k mod 4 in {0, 1} and then {2, 3}, from 0; c added last, to nearest."""
    second = np.arange(a.shape[-1]) % 4 >= 2
    total = np.zeros(np.broadcast_shapes(a.shape, b.shape)[:-1], result)
    for part in (~second, second):
        total = _piece(a[..., part], b[..., part], total, FORMATS[FLOAT16], unit, result)
    with np.errstate(all="ignore"):
        whole = (total.astype(np.float64) + np.asarray(c, np.float64)).astype(result)
    return np.where(np.isnan(whole), _nan(result), whole)


def _tf32(x: Array) -> Array:
    return (np.ascontiguousarray(x, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(float)


def _piece(a: Array, b: Array, c: Array, operands: Format, unit: MatrixUnit, result: str) -> Array:
    """One sum of products and accumulator."""
    with np.errstate(all="ignore"):
        exact = ((a * b).sum(axis=-1) + c.astype(np.float64)).astype(result)  # tells infinities and NaN
    special = ~(np.isfinite(a).all(-1) & np.isfinite(b).all(-1) & np.isfinite(c))
    s_a, e_a = _scaled(a, operands)
    s_b, e_b = _scaled(b, operands)
    s_c, e_c = _scaled(c.astype(np.float64), FORMATS[result])
    s = np.concatenate([s_a * s_b, s_c[..., None]], axis=-1)
    e = np.concatenate([e_a + e_b, e_c[..., None]], axis=-1)
    digits = np.full(s.shape[-1], 2 * operands.fraction)
    digits[-1] = FORMATS[result].fraction
    e = np.where(s == 0, _NEVER, e)
    most = e.max(axis=-1)
    shift = np.minimum(digits + most[..., None] - e, 63)
    total = (np.sign(s) * ((np.abs(s) << unit.fraction) >> shift)).sum(axis=-1)
    rounded = _rounded(total, np.where(total == 0, 0, most - unit.fraction), unit, result)
    return np.where(special, np.where(np.isnan(exact), _nan(result), exact), rounded)


_NEVER = -(1 << 20)  # an exponent below every other: of a term that takes no part


def _scaled(x: Array, format: Format) -> tuple[Array, Array]:
    """Significands as whole numbers and exponents, subnormal numbers not normalised."""
    finite = np.where(np.isfinite(x), x, 0.0)
    exponent = np.maximum(np.frexp(finite)[1] - 1, format.least).astype(np.int64)
    return np.ldexp(finite, format.fraction - exponent).astype(np.int64), exponent


def _rounded(total: Array, unit_exponent: Array, unit: MatrixUnit, result: str) -> Array:
    """total * 2^unit_exponent as it is stored: float32 cut toward zero, float16 to nearest even."""
    format = FORMATS[result]
    last = np.maximum(np.frexp(total.astype(np.float64))[1] - 1 + unit_exponent, format.least)
    last = last - (unit.kept if result == FLOAT32 else format.fraction)
    shifted = np.ldexp(total.astype(np.float64), (unit_exponent - last).astype(np.int32))
    value = np.ldexp(np.trunc(shifted) if result == FLOAT32 else np.rint(shifted), last.astype(np.int32))
    with np.errstate(over="ignore"):
        return (value + 0.0).astype(result)  # what is too large becomes infinite: it has no more digits than the result


def _nan(result: str) -> Array:
    """The canonical NaN."""
    if result == FLOAT32:
        return np.array(0x7FFFFFFF, np.uint32).view(np.float32)
    return np.array(0x7FFF, np.uint16).view(np.float16)
