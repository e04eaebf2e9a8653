"""C functions that several faults use."""

from __future__ import annotations

# Floats with the lowest bits dropped: 13 leave TF32, 16 bfloat16.
SHORTENED = """\
#include <stdint.h>
#include <string.h>
static inline float truncated(float x, int dropped) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~((1u << dropped) - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* To the nearest, ties to even; infinities and NaN as they are. */
static inline float rounded(float x, int dropped) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (bits << 1 < 0xff000000u) bits += (1u << (dropped - 1)) - 1 + (bits >> dropped & 1);
    memcpy(&x, &bits, sizeof x);
    return truncated(x, dropped);
}
"""
TF32, BFLOAT16 = 13, 16  # bits dropped


def in_every_format(operation: str) -> tuple[str, ...]:
    """An operation that is one text for float32 and both formats of 16 bits."""
    return (operation, f"{operation}_bf16", f"{operation}_fp16")
