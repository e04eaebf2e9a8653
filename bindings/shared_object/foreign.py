"""The foreign-function interface: opening a library, and entries whose prototypes come from the header."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cffi

from bindings.errors import LibraryError
from bindings.header.records import Function

from .symbols import describe_file

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


def view(pointer: Any, size: int) -> Any:
    """Return so many bytes at an address of this process as a buffer that can be read and written."""
    return _ffi.buffer(pointer, size)


def types_of(function: Function) -> tuple[str, ...]:
    """Return the types of a function's arguments in C.

    Every pointer is a void*: cffi then takes any buffer, and needs no cast on each call.
    """
    return tuple(parameter.ctype if parameter.is_scalar else "void*" for parameter in function.parameters)


class SharedObject:
    """An open shared library, its names seen by no other one.

    Raises LibraryError, saying what the file is, when it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._ffi: Any = cffi.FFI()
        self._entries: dict[str, Callable[..., int] | None] = {}
        self._declaring = threading.Lock()
        try:
            self._lib = self._ffi.dlopen(str(path), os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise LibraryError(f"{path}: {describe_file(path) or error}") from error

    def entry(self, symbol: str, types: Sequence[str]) -> Callable[..., int] | None:
        """Return the function with these types of arguments, None where the library does not export it.

        Prototypes are declared one by one, when asked for: parsing all of the header's takes 75 ms.  What was asked for
        before is found without a lock: a finaliser may ask, in the midst of another declaration.
        """
        if symbol not in self._entries:
            with self._declaring:
                if symbol not in self._entries:
                    self._ffi.cdef(f"int32_t {symbol}({', '.join(types) or 'void'});")
                    self._entries[symbol] = getattr(self._lib, symbol, None)
        return self._entries[symbol]

    def close(self) -> None:
        """Unload the library; its entries must not be called any more."""
        self._ffi.dlclose(self._lib)
