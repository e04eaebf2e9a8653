"""Messages between the judge and a candidate's process: a length, a number, and as many bytes.

The number is that of the request, in a request and in the replies to it.  Whatever is sent comes whole and in time, or
nothing does: a candidate that writes to the connection itself can send half of a message, a length that nobody sends
bytes for, or a reply before it was asked.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time

_HEAD = struct.Struct("<QQ")
_PIECE = 1 << 20  # bytes of one read: memory is taken for what has come, not for what was promised
OPENING = 0  # the number of what comes before the first request


class UnexpectedError(ValueError):
    """A message of more bytes than are waited for, or of another number."""


def send(file: int, message: bytes, number: int = OPENING) -> None:
    """Write a message to a connection."""
    rest = memoryview(_HEAD.pack(len(message), number) + message)
    while rest:
        rest = rest[os.write(file, rest) :]


def send_within(connection: socket.socket, message: bytes, seconds: float, number: int = OPENING) -> None:
    """Write a message to a connection whose other end may never read.

    Raises TimeoutError where it is not taken in time, BrokenPipeError where the other end is closed.
    """
    ends = time.monotonic() + seconds
    rest = memoryview(_HEAD.pack(len(message), number) + message)
    waiting = select.poll()
    waiting.register(connection, select.POLLOUT)
    while rest:
        if not waiting.poll(1000 * max(0.0, ends - time.monotonic())):
            raise TimeoutError
        try:
            rest = rest[connection.send(rest[:_PIECE], socket.MSG_DONTWAIT) :]
        except BlockingIOError:
            continue
        except ConnectionError:
            raise BrokenPipeError from None


def receive(file: int, seconds: float, most: int, number: int = OPENING) -> bytes:
    """Return the next message of a connection, which has to be of this number.

    Raises TimeoutError where the whole of it has not come within `seconds`, EOFError where the connection ends first,
    UnexpectedError where more than `most` bytes are announced, or another number.
    """
    ends = time.monotonic() + seconds
    length, got = _HEAD.unpack(_exactly(file, _HEAD.size, ends))
    if length > most:
        raise UnexpectedError(f"a message of {length} bytes: expected at most {most}")
    if got != number:
        raise UnexpectedError(f"a message of number {got}: expected {number}")
    return bytes(_exactly(file, length, ends))


def receive_any(file: int) -> tuple[int, bytes]:
    """Wait for the next message, however long; return its number and the message.  Raises EOFError."""
    length, number = _HEAD.unpack(_exactly(file, _HEAD.size, None))
    return number, bytes(_exactly(file, length, None))


def _exactly(file: int, length: int, ends: float | None) -> bytearray:
    read, waiting = bytearray(), select.poll()
    waiting.register(file, select.POLLIN)
    while len(read) < length:
        if not waiting.poll(None if ends is None else 1000 * max(0.0, ends - time.monotonic())):
            raise TimeoutError
        piece = os.read(file, min(length - len(read), _PIECE))
        if not piece:
            raise EOFError
        read += piece
    return read
