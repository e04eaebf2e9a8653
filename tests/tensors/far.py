"""Whether a library finds elements of strided tensors past place 2^31 of their storages.

    python -m tests.tensors.far LIBRARY

The storages are sparse: no more of them is in memory than the pages of their elements. Where a position of 32 bits
wraps round to, before the storage, stands another number. A line is printed for each operand that was looked for
there, or anywhere else.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.catalogue.cases.strided_calls import MAPS, REDUCTIONS, ZIPS

_MAP_NORESERVE = 0x4000  # Linux, <asm-generic/mman-common.h>, not named by every Python
FAR = 2**31 + 2  # where the second element lies
WRAPPED = FAR - 2**32
_BYTES = ctypes.sizeof(ctypes.c_float)
_NEAR, _RIGHT, _WRONG = 3.0, 5.0, 1000.0


class Sparse:
    """Memory from WRAPPED to FAR around a storage's beginning, all 0 and nowhere until it is written."""

    def __init__(self) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
        self._memory = mmap.mmap(-1, (FAR + 1 - WRAPPED) * _BYTES, flags=flags)
        self._first = ctypes.addressof(ctypes.c_float.from_buffer(self._memory))
        self.address = self._first - WRAPPED * _BYTES

    def __getitem__(self, place: int) -> float:
        return ctypes.c_float.from_address(self.address + place * _BYTES).value

    def __setitem__(self, place: int, number: float) -> None:
        ctypes.c_float.from_address(self.address + place * _BYTES).value = number


@dataclass(frozen=True)
class Far:
    """A call of an operation in which one operand's second element lies far off.

    strides: by operand; due: what the output holds, at its strides.
    """

    operation: str
    operand: str
    shape: Sequence[int]
    strides: Mapping[str, Sequence[int]]
    due: Sequence[float]
    numbers: Sequence[Any] = ()  # behind the offsets: function and start

    def said(self, library: ctypes.CDLL) -> str:
        """Make the call; say what is wrong, or nothing."""
        storages = {name: Sparse() for name in self.strides}
        for name, storage in storages.items():
            if name != "output":
                step = FAR if name == self.operand else 1
                storage[0], storage[step] = _NEAR, _RIGHT
                storage[WRAPPED] = _WRONG
        lists = [(ctypes.c_int64 * max(1, len(each)))(*each) for each in (self.shape, *self.strides.values())]
        kept = [ctypes.c_int(len(self.strides["output"]))] * (self.operation == "reduce_strided")
        code = getattr(library, f"cuda_{self.operation}")(
            *(ctypes.c_void_p(storage.address) for storage in storages.values()),
            *lists,
            *(ctypes.c_int64(FAR + 1) for _ in storages),
            ctypes.c_int(len(self.shape)),
            *kept,
            *(ctypes.c_int64(0) for _ in storages),
            *self.numbers,
            ctypes.c_void_p(None),
        )
        if code:
            return f"returned {code}"
        step = (*self.strides["output"], 0)[0]
        output = storages["output"]
        came = [output[place * step] for place in range(len(self.due))]
        if came == [*self.due]:
            return ""
        wrapped = output[WRAPPED] == self.due[-1] if self.operand == "output" else max(came) >= _WRONG
        where = f"place {FAR} is taken for {WRAPPED}, as positions of 32 bits have it" if wrapped else "elsewhere"
        return f"expected {[*self.due]}, got {came}: {where}"


def calls() -> Iterator[Far]:
    """Yield a call for each operand of each operation."""
    identity, add, total = ctypes.c_int(MAPS["identity"]), ctypes.c_int(ZIPS["add"]), ctypes.c_int(REDUCTIONS["sum"])
    start = ctypes.c_float(0.5)
    for far in ("input", "output"):
        strides = {name: [FAR if name == far else 1] for name in ("input", "output")}
        yield Far("map_strided", far, [2], strides, [_NEAR, _RIGHT], [identity])
        kept = {"input": [FAR if far == "input" else 1, 1], "output": [FAR if far == "output" else 1]}
        yield Far("reduce_strided", far, [2, 1], kept, [_NEAR + 0.5, _RIGHT + 0.5], [total, start])
    joined: Mapping[str, Sequence[int]] = {"input": [FAR], "output": []}
    yield Far("reduce_strided", "input", [2], joined, [_NEAR + _RIGHT + 0.5], [total, start])
    for far in ("a", "b", "output"):
        strides = {name: [FAR if name == far else 1] for name in ("a", "b", "output")}
        yield Far("zip_strided", far, [2], strides, [2 * _NEAR, 2 * _RIGHT], [add])
    for far in ("a", "output"):  # two rows of a, one column of b
        rows = {"a": [FAR if far == "a" else 1, 0, 1], "b": [0, 1, 1], "output": [FAR if far == "output" else 1, 1]}
        yield Far("matmul_strided", far, [2, 1, 1], rows, [_NEAR * _NEAR, _RIGHT * _NEAR])
    sums = {"a": [0, 0, 1], "b": [0, 0, FAR], "output": [1, 1]}
    yield Far("matmul_strided", "b", [1, 1, 2], sums, [_NEAR * _NEAR + _RIGHT * _RIGHT])


def wrong(path: str) -> Iterator[str]:
    """Yield what is wrong with a library of the header's functions."""
    library = ctypes.CDLL(path)
    for call in calls():
        if hasattr(library, f"cuda_{call.operation}") and (said := call.said(library)):
            yield f"{call.operation}: {call.operand}: {said}"


if __name__ == "__main__":
    for line in wrong(sys.argv[1]):
        print(line, flush=True)
