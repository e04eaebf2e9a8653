"""The element types of arrays and scalars: one table for NumPy, C, Rust, Go and ctypes."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Element:
    """One type by its NumPy name, and how each language spells it (the first spelling is the one written out)."""

    name: str
    c: tuple[str, ...]
    rust: tuple[str, ...]
    go: tuple[str, ...]
    ctypes: tuple[str, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type (bfloat16 is ml_dtypes')."""
        import numpy as np  # here: a worker, which is started for every library, has no need of it

        source = importlib.import_module("ml_dtypes").bfloat16 if self.name == "bfloat16" else self.name
        dtype: np.dtype[Any] = np.dtype(source)
        return dtype

    @property
    def is_integer(self) -> bool:
        return "int" in self.name

    @property
    def is_half(self) -> bool:
        """Whether it is a 16-bit floating-point format."""
        return self.name in {"float16", "bfloat16"}

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        bits = int(self.name.partition("int")[2])
        return (0, 2**bits - 1) if self.name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


# `long` is 64-bit and `char` is 8-bit on every platform that has shared libraries of this kind, but Windows.
# Most languages have no 16-bit floating-point type: they pass the bits.  A spelling in two rows is the later one's.
_TABLE = """
float32  | float | f32, c_float | float32, C.float | c_float
float64  | double | f64, c_double | float64, C.double | c_double
float16  | assayer_fp16, float16_t, _Float16, __half, half | u16, f16 | uint16, C.assayer_fp16, C.float16_t | c_uint16
bfloat16 | assayer_bf16, bfloat16_t, __bf16, __nv_bfloat16 | u16, bf16 | uint16, C.assayer_bf16, C.bfloat16_t | c_uint16
int8     | int8_t, signed char | i8 | int8, C.int8_t | c_int8, c_byte
uint8    | uint8_t, unsigned char | u8 | uint8, byte, C.uint8_t | c_uint8, c_ubyte
int16    | int16_t, short | i16, c_short | int16, C.int16_t, C.short | c_int16, c_short
uint16   | uint16_t, unsigned short | u16, c_ushort | uint16, C.uint16_t, C.ushort | c_uint16, c_ushort
int32    | int32_t, int | i32, c_int | int32, C.int32_t, C.int | c_int32, c_int
uint32   | uint32_t, unsigned int, unsigned | u32, c_uint | uint32, C.uint32_t, C.uint | c_uint32, c_uint
int64    | int64_t, long, long long, ptrdiff_t, ssize_t, intptr_t | i64, isize, c_long, c_longlong \
         | int64, int, C.int64_t, C.long, C.longlong | c_int64, c_long, c_longlong, c_ssize_t
uint64   | uint64_t, unsigned long, unsigned long long, size_t, uintptr_t | u64, usize, c_ulong, c_ulonglong \
         | uint64, uint, uintptr, C.uint64_t, C.ulong, C.ulonglong, C.size_t | c_uint64, c_ulong, c_ulonglong, c_size_t
char     | char | c_char | C.char | c_char
void     | void | c_void | |
"""

ELEMENTS = {
    element.name: element
    for element in (
        Element(fields[0].strip(), *map(_words, fields[1:]))
        for fields in (line.split("|") for line in _TABLE.strip().splitlines())
    )
}


def spellings(language: str) -> dict[str, str]:
    """Return {spelling: NumPy name} of one language: "c", "rust", "go" or "ctypes"."""
    return {word: element.name for element in ELEMENTS.values() for word in getattr(element, language)}
