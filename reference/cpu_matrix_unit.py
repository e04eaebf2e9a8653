"""What processors' units for numbers of 16 bits compute, to the last bit: AVX-512 BF16 and AMX.

Intel, Software Developer's Manual, VDPBF16PS, TDPBF16PS and TDPFP16PS: numbers come by pairs along the summed index;
every step is a fused multiply-add of float32, to nearest even; a subnormal number of bfloat16 or float32 is taken for
zero and never stored.  Those of float16 are kept: as floats they are normal, and so is every product of theirs but 0.
docs/sixteen_bits.md says which processors this was held to.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, check

TILE_DEPTH = 32  # of the summed index, that one instruction of AMX takes
_LEAST = 2.0**-126  # the smallest normal number of float32
_FLUSHED = _LEAST - 2.0**-151  # what is below is below the smallest normal number when rounded to 24 digits


def dot_avx512_bf16(a: Array, b: Array, c: Array) -> Array:
    """Return c + sum(a * b) over the last axis: of each pair the second product is added first.

    a, b: [..., k], bfloat16 numbers in any floating type; k is even, as an instruction takes pairs.  c: [...], float32.
    """
    a, b, total = _given("dot_avx512_bf16", a, b, c, 2)
    for k in range(0, a.shape[-1], 2):
        for place in (k + 1, k):
            total = _fused(a[..., place], b[..., place], total)
    return total


def dot_amx(a: Array, b: Array, c: Array) -> Array:
    """Return c + sum(a * b) over the last axis, by 32 products at a time.

    The products at even places and those at odd ones are added up apart, each from zero in their order; then both sums
    are added, and what comes of it to c.  a, b: [..., k], bfloat16 or float16 numbers in any floating type; k is a
    multiple of 32, zeros behind the last.  c: [...], float32.
    """
    a, b, total = _given("dot_amx", a, b, c, TILE_DEPTH)
    for at in range(0, a.shape[-1], TILE_DEPTH):
        even, odd = (np.zeros_like(total) for _ in range(2))
        for k in range(at, at + TILE_DEPTH, 2):
            even = _fused(a[..., k], b[..., k], even)
            odd = _fused(a[..., k + 1], b[..., k + 1], odd)
        total = _added(total, _added(even, odd))
    return total


# By the names that a contract calls them by.
UNITS = {"avx512_bf16": dot_avx512_bf16, "amx": dot_amx}
# The formats that each multiplies.
FACTORS = {"avx512_bf16": ("bfloat16",), "amx": ("bfloat16", "float16")}


def _given(operation: str, a: Array, b: Array, c: Array, several: int) -> tuple[Array, Array, Array]:
    """The factors in float64 and the sum so far in float32, subnormal numbers taken for zero."""
    with np.errstate(invalid="ignore"):  # a NaN that signals
        a, b, c = (np.asarray(x, np.float64) for x in (a, b, c))
    check(a.shape[-1:] == b.shape[-1:], operation, "b", f"{a.shape[-1:]} numbers as in a", b.shape[-1:])
    check(a.shape[-1] % several == 0, operation, "a", f"a multiple of {several} numbers", a.shape[-1])
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1], c.shape)
    a, b = np.where(np.abs(a) < _LEAST, np.copysign(0.0, a), a), np.where(np.abs(b) < _LEAST, np.copysign(0.0, b), b)
    return a, b, _rounded(np.broadcast_to(c, shape))


def _fused(a: Array, b: Array, total: Array) -> Array:
    """a * b + total, rounded once.

    The product is exact in float64.  So is the sum, or one of its terms is below 2^-29 of the other, which is a number
    of float32: then both roundings come to that, or to its neighbour, as one would.
    """
    with np.errstate(all="ignore"):
        return _rounded(a * b + total.astype(np.float64))


def _added(a: Array, b: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return _rounded(a.astype(np.float64) + b)


def _rounded(x: Array) -> Array:
    """Float64 to float32, to nearest even; what is subnormal then becomes zero of the same sign."""
    with np.errstate(all="ignore"):
        return np.asarray(np.where(np.abs(x) < _FLUSHED, np.copysign(0.0, x), x), np.float32)
