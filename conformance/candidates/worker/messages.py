"""Replies as they cross from a candidate's process: a length, and as many bytes.  Both come in time, or nothing does.

A candidate that writes to the connection itself can send half of one, or a length that nobody sends bytes for.
"""

from __future__ import annotations

import os
import select
import struct
import time

_LENGTH = struct.Struct("<Q")
_PIECE = 1 << 20  # bytes of one read: memory is taken for what has come, not for what was promised


class TooLongError(ValueError):
    """A message of more bytes than are waited for."""


def send(file: int, message: bytes) -> None:
    """Write a message to a connection."""
    rest = memoryview(_LENGTH.pack(len(message)) + message)
    while rest:
        rest = rest[os.write(file, rest) :]


def receive(file: int, seconds: float, most: int) -> bytes:
    """Return the next message of a connection.

    Raises TimeoutError where the whole of it has not come within `seconds`, EOFError where the connection ends first,
    TooLongError where more than `most` bytes are announced.
    """
    ends = time.monotonic() + seconds
    (length,) = _LENGTH.unpack(_exactly(file, _LENGTH.size, ends))
    if length > most:
        raise TooLongError(f"a message of {length} bytes: expected at most {most}")
    return bytes(_exactly(file, length, ends))


def _exactly(file: int, length: int, ends: float) -> bytearray:
    read, waiting = bytearray(), select.poll()
    waiting.register(file, select.POLLIN)
    while len(read) < length:
        if not waiting.poll(1000 * max(0.0, ends - time.monotonic())):
            raise TimeoutError
        piece = os.read(file, min(length - len(read), _PIECE))
        if not piece:
            raise EOFError
        read += piece
    return read
