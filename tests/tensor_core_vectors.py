"""What tensor cores computed on real devices: a part of it lies in tests/emulator/tensor_core (see NOTICE.md there)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from reference.tensor_core import WARP_GROUP, MatrixUnit, matrix_unit

FOLDER = Path(__file__).parent / "emulator" / "tensor_core"
Bits = NDArray[np.uint32]
_ARCHITECTURES = {"V100": 70, "A100": 80, "A2": 86, "Ada": 89, "L40S": 89, "H100": 90, "H200": 90, "B200": 100}
_SHORT = {"fp16": "float16", "f16": "float16", "bf16": "bfloat16", "tf32": "tf32", "E4M3": "e4m3", "E5M2": "e5m2"}
# By name: how numbers lie in memory, and the type that holds them.
STORED: dict[str, tuple[Any, Any]] = {
    "float16": (np.uint16, np.float16),
    "bfloat16": (np.uint16, ml_dtypes.bfloat16),
    "tf32": (np.uint32, np.float32),
    "float32": (np.uint32, np.float32),
    "e4m3": (np.uint8, ml_dtypes.float8_e4m3fn),
    "e5m2": (np.uint8, ml_dtypes.float8_e5m2),
}


class Dots(NamedTuple):
    """Dot products of one instruction on one device, all as bits: a and b [n, k], c and d [n]."""

    name: str
    architecture: int
    instruction: str  # mma or wgmma
    operands: str
    result: str
    a: Bits
    b: Bits
    c: Bits
    d: Bits

    @property
    def unit(self) -> MatrixUnit:
        """What computed them."""
        by_group = self.instruction == "wgmma" and self.operands in ("e4m3", "e5m2")
        return WARP_GROUP["wgmma"] if by_group else matrix_unit(self.architecture, self.operands)


def as_numbers(bits: Bits, format: str) -> NDArray[Any]:
    """The numbers that bits mean."""
    stored, type = STORED[format]
    with np.errstate(invalid="ignore"):  # float16 NaN that signal
        return bits.astype(stored).view(type).astype(np.float32)


def as_bits(numbers: NDArray[Any], format: str) -> Bits:
    """The bits of numbers that the format holds."""
    stored, type = STORED[format]
    return np.ascontiguousarray(numbers).astype(type).view(stored).astype(np.uint32)


def published(path: Path) -> Iterator[Dots]:
    """Yield each device's results by format and accumulator from the published set, or a part of it."""
    held = np.load(path)
    for device, format in sorted({tuple(key.split("/")[:2]) for key in held}):
        operands = _SHORT[format]
        a, b = (held[f"{device}/{format}/{name}"] for name in "ab")
        a, b = (x.astype(np.uint32) if format == "bf16" else as_bits(x, operands) for x in (a, b))
        for result, short in (("float32", "fp32"), ("float16", "fp16")):
            if f"{device}/{format}/d_{short}" not in held:
                continue
            # On Hopper those of fp8 that are kept in float32 are of wgmma, which was told not to add c.
            by_group = _ARCHITECTURES[device] == 90 and operands in ("e4m3", "e5m2") and result == "float32"
            c = held[f"{device}/{format}/c_fp32"] * (0 if by_group else 1)
            d = as_bits(held[f"{device}/{format}/d_{short}"], result)
            yield Dots(f"{device}-{format}-{short}", _ARCHITECTURES[device], "wgmma" if by_group else "mma", operands,
                       result, a, b, as_bits(c, result), d)  # fmt: skip


def probed() -> Iterator[Dots]:
    """Yield what an H100 computed of inputs that the published set leaves out, by instruction."""
    held = np.load(FOLDER / "h100.npz")
    for job in sorted({key.split("/")[0] for key in held}):
        format, shape, *accumulator = job.split("_")
        a, b, c, d = (held[f"{job}/{name}"].astype(np.uint32) for name in "abcd")
        instruction = "wgmma" if shape.startswith("m64") else "mma"
        result = "float16" if accumulator else "float32"
        yield Dots(f"H100-{job}", 90, instruction, _SHORT.get(format, format), result, a, b, c, d)


ALL = [*published(Path(os.environ.get("ASSAYER_TENSOR_CORE_VECTORS", FOLDER / "devices.npz"))), *probed()]
