"""Which places of a library tell that they were reached: those behind the calls that its compiler put there."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bindings.shared_object.code import Code, Extent, read_code

from .candidate import CandidateError

NOTING = "__sanitizer_cov_trace_pc"  # cuda/coverage/coverage.c
_MOST_CODE = 1 << 26  # as there: what lies behind is not noted
_CALL = 0xE8  # x86-64: call with an offset of 32 bits
_BRANCH_AND_LINK = 0b100101  # aarch64: the upper six bits of bl, with an offset of 26 bits


def instrumented(path: Path) -> dict[int, Extent]:
    """Return the places of a library that was compiled for coverage, and the function that each stands in.

    A place is the address behind a call, relative to the library.  Raises CandidateError where they cannot be told, and
    LibraryError.
    """
    code = read_code(path)
    found = _find(code.functions, NOTING)
    if found is None:
        raise CandidateError(f"{path}: expected a library with its symbols, got one that was stripped of {NOTING}")
    places = sorted(place for address, held in code.segments for place in calls(held, address, found.start))
    if places and places[-1] >= _MOST_CODE:
        raise CandidateError(f"{path}: expected at most {_MOST_CODE} bytes of code, got a place at {places[-1]}")
    return dict(_within(places, code))


def _find(functions: tuple[Extent, ...], name: str) -> Extent | None:
    return next((one for one in functions if one.name == name), None)


def calls(held: bytes, address: int, target: int) -> Iterator[int]:
    """Yield the address behind each call of the target.  Raises CandidateError where the machine's are not known."""
    machine = platform.machine().lower()
    if machine in {"x86_64", "amd64"}:
        yield from _calls_x86(held, address, target)
    elif machine in {"aarch64", "arm64"}:
        yield from _calls_arm(held, address, target)
    else:
        raise CandidateError(f"coverage: expected code of x86-64 or aarch64, got {machine}")


def _calls_x86(held: bytes, address: int, target: int) -> Iterator[int]:
    """Wherever the bytes of such a call stand: that others look like one by chance is one in 2^32 for each byte."""
    found = np.flatnonzero(np.frombuffer(held, np.uint8)[:-4] == _CALL)
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(held, np.uint8), 4)
    offsets = windows[found + 1].copy().view("<i4")[:, 0].astype(np.int64)
    behind = found + 5 + address
    yield from map(int, behind[behind + offsets == target])


def _calls_arm(held: bytes, address: int, target: int) -> Iterator[int]:
    words = np.frombuffer(held[: len(held) // 4 * 4], "<u4").astype(np.int64)
    found = np.flatnonzero(words >> 26 == _BRANCH_AND_LINK)
    offsets = (words[found] & 0x3FFFFFF) - ((words[found] & 0x2000000) << 1)
    at = address + 4 * found
    yield from map(int, at[at + 4 * offsets == target] + 4)


def _within(places: list[int], code: Code) -> Iterator[tuple[int, Extent]]:
    starts = np.array([one.start for one in code.functions])
    for place, index in zip(places, np.searchsorted(starts, places, side="left") - 1, strict=True):
        yield place, code.functions[index]
