"""The foreign-function interface: opening a library, and entries whose prototypes come from the header."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cffi

from .records import Function, Parameter

_ffi: Any = cffi.FFI()
_cast = _ffi.cast
_ADDRESS = _ffi.typeof("uintptr_t")
_VOID = _ffi.typeof("void*")

from_buffer = _ffi.from_buffer


def address(pointer: Any) -> int:
    """Return the address that a pointer or buffer of this interface holds."""
    return int(_cast(_ADDRESS, pointer))


def pointer(address: int) -> Any:
    """Return an address as a pointer that an entry takes."""
    return _cast(_VOID, address)


def _plain(parameter: Parameter) -> str:
    # Every pointer is passed as void*: cffi then takes any buffer, and needs no cast on each call.
    return parameter.ctype if parameter.is_scalar else "void*"


class SharedObject:
    """An open shared library, its names seen by no other one.  Raises OSError when it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self._ffi: Any = cffi.FFI()
        self._entries: dict[str, Callable[..., int] | None] = {}
        self._declaring = threading.Lock()
        self._lib = self._ffi.dlopen(str(path), os.RTLD_NOW | os.RTLD_LOCAL)

    def entry(self, function: Function) -> Callable[..., int] | None:
        """Return the function of this prototype, None where the library does not export it.

        Prototypes are declared one by one, when asked for: parsing all of them takes 75 ms.
        """
        with self._declaring:
            if function.symbol not in self._entries:
                arguments = ", ".join(map(_plain, function.parameters)) or "void"
                self._ffi.cdef(f"int32_t {function.symbol}({arguments});")
                self._entries[function.symbol] = getattr(self._lib, function.symbol, None)
            return self._entries[function.symbol]

    def close(self) -> None:
        """Unload the library; its entries must not be called any more."""
        self._ffi.dlclose(self._lib)
