"""Calls of the kernel that Python has no functions for."""

from __future__ import annotations

import os
import platform
import sys

from _cffi_backend import FFI

from bindings.shared_object.foreign import address, from_buffer, of_process

IS_LINUX = sys.platform == "linux"
MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
_ffi = FFI()


def call(name: str, *arguments: int | bytes | None) -> int:
    """Call a function of C's library that returns -1 where it fails, with numbers, text or null pointers.

    Raises OSError.
    """
    held = [None if given is None or isinstance(given, int) else from_buffer(given) for given in arguments]
    raw = [
        address(buffer) if buffer is not None else (given or 0) & (2**64 - 1)  # type: ignore[operator]
        for given, buffer in zip(arguments, held, strict=True)
    ]
    try:
        function = of_process(name, ("unsigned long",) * len(arguments))
    except AttributeError:
        raise OSError(f"no {name} in this system's library") from None
    if (result := function(*raw)) == -1:
        raise OSError(_ffi.errno, f"{name}: {os.strerror(_ffi.errno)}")
    return result


def address_of(held: bytes) -> int:
    """Return where the bytes lie; they have to live as long as anybody looks there."""
    return address(from_buffer(held))


def control(option: int, *arguments: int) -> int:
    """Call prctl.  Raises OSError."""
    return call("prctl", option, *arguments, *([0] * (4 - len(arguments))))
