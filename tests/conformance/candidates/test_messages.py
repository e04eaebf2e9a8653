"""Replies that cross in part, or not at all, end the wait for them."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from conformance.candidates.worker.messages import UnexpectedError, receive, send, send_within

FIVE = struct.pack("<QQ", 5, 0)  # the head of a message of five bytes


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    for end in (reader, writer):
        try:
            os.close(end)
        except OSError:  # a test has
            assert end == writer


@pytest.mark.parametrize("size", [0, 1, 65_537, 3_000_000])
def test_a_message_comes_as_it_was_sent(ends: tuple[int, int], size: int) -> None:
    message = os.urandom(size)
    sender = threading.Thread(target=send, args=(ends[1], message))
    sender.start()
    assert receive(ends[0], 10, 1 << 30) == message
    sender.join()


@pytest.mark.parametrize("part", [b"", b"\x05", FIVE[:8], FIVE, FIVE + b"four"])
def test_half_a_message_is_waited_for_as_long_as_a_whole_one(ends: tuple[int, int], part: bytes) -> None:
    os.write(ends[1], part)
    with pytest.raises(TimeoutError):
        receive(ends[0], 0.02, 1 << 30)


def test_half_a_message_and_an_end_is_no_message(ends: tuple[int, int]) -> None:
    os.write(ends[1], FIVE + b"four")
    os.close(ends[1])
    with pytest.raises(EOFError):
        receive(ends[0], 10, 1 << 30)


def test_no_memory_is_taken_for_what_is_announced_only(ends: tuple[int, int]) -> None:
    os.write(ends[1], struct.pack("<QQ", 3 << 30, 0))
    with pytest.raises(UnexpectedError, match="a message of 3221225472 bytes: expected at most 16777216"):
        receive(ends[0], 10, 1 << 24)


def test_a_reply_to_another_request_is_none(ends: tuple[int, int]) -> None:
    send(ends[1], b"all is well", 6)
    with pytest.raises(UnexpectedError, match="a message of number 6: expected 7"):
        receive(ends[0], 10, 1 << 24, 7)


def test_nobody_waits_for_ever_for_a_reader() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(TimeoutError):
        send_within(ours, bytes(3_000_000), 0.02)


def test_a_reader_that_is_gone_is_told() -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours, pytest.raises(BrokenPipeError):
        send_within(ours, b"anybody there?", 10)
