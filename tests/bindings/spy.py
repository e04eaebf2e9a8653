"""A library that computes nothing and remembers what it was called with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cffi

from bindings import Function, Header, Library

_HEAD = """
#include "assayer.h"
int calls, code;
double numbers[32];
void* pointers[32];
"""


def _body(function: Function) -> str:
    """Every number goes to `numbers`, every pointer to `pointers`, at its place in the list."""
    kept = (
        f"{'numbers' if p.is_scalar else 'pointers'}[{index}] = {'' if p.is_scalar else '(void*)'}{p.name};"
        for index, p in enumerate(function.parameters)
    )
    return f"{function.declaration[:-1]} {{ calls++; {' '.join(kept)} return code; }}"


def source(header: Header) -> str:
    return _HEAD + "\n".join(_body(function) for function in header.operations.values())


class Spy:
    """The library as the bindings see it, and what it remembers."""

    def __init__(self, path: Path) -> None:
        self.library = Library(path)
        self._ffi = cffi.FFI()
        self._ffi.cdef("extern int calls, code; extern double numbers[32]; extern void* pointers[32];")
        self._memory: Any = self._ffi.dlopen(str(path))

    @property
    def calls(self) -> int:
        return int(self._memory.calls)

    def answer(self, code: int) -> None:
        """Let every call from now on return this code."""
        self._memory.code = code

    def number(self, index: int) -> float:
        return float(self._memory.numbers[index])

    def address(self, index: int) -> int:
        return int(self._ffi.cast("uintptr_t", self._memory.pointers[index]))

    def table(self, index: int, count: int) -> list[int]:
        """The addresses in the table that was passed: valid while the arrays of the call live."""
        return [int(entry) for entry in self._ffi.cast("uintptr_t*", self._memory.pointers[index])[0:count]]
