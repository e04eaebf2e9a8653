"""The calls that a compiler put into a library for coverage are found in its code, on either kind of machine."""

from __future__ import annotations

import platform
import struct

import pytest

from conformance.candidates import instrumented
from conformance.candidates.candidate import CandidateError

BASE, TARGET = 0x1000, 0x1800


def calls(held: bytes, machine: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    return list(instrumented.calls(held, BASE, TARGET))


def test_of_x86_wherever_an_offset_leads_to_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(at: int, target: int) -> bytes:
        return b"\xe8" + struct.pack("<i", target - (BASE + at + 5))

    held = b"\x90" + call(1, TARGET) + call(6, TARGET + 1) + b"\xe8" + call(12, TARGET) + b"\xe8\x00"
    assert calls(held, "x86_64", monkeypatch) == [BASE + 6, BASE + 17]


def test_of_arm_every_branch_with_a_link_forwards_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def branch(opcode: int, words: int) -> bytes:
        return struct.pack("<I", opcode << 26 | words & 0x3FFFFFF)

    forwards, link, plain = (TARGET - BASE) // 4, 0b100101, 0b000101
    held = (
        branch(link, forwards) + branch(plain, forwards - 1) + branch(link, forwards - 2) + branch(link, -3) + b"\x1f"
    )
    assert calls(held, "aarch64", monkeypatch) == [BASE + 4, BASE + 12]
    assert list(instrumented.calls(branch(link, -2), TARGET + 8, TARGET)) == [TARGET + 12]


def test_of_another_machine_it_is_said_that_they_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CandidateError, match="expected code of x86-64 or aarch64, got riscv64"):
        calls(b"", "riscv64", monkeypatch)
