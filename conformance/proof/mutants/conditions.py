"""Which lines of a kernel the emulator's compiler never reads: those that a device's alone does."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DIRECTIVE = re.compile(r"\s*#\s*(if(?:n?def)?|elif|else|endif)\b\s*(.*)")
_EMULATED, _DEVICE = "defined(ASSAYER_EMULATED)", "__CUDA_ARCH__"  # the second one is defined by a device's compiler


def unread(codes: Sequence[str]) -> frozenset[int]:
    """Return the numbers, from 1, of lines in branches for a device; codes: of all lines of a file, without comments.

    What other conditions stand for is not looked at: both their branches are read.
    """
    found: set[int] = set()
    open_ones: list[tuple[bool, bool]] = []  # whether a branch is read; whether one before it is for certain
    for number, code in enumerate(codes, 1):
        if directive := _DIRECTIVE.match(code):
            word, condition = directive[1], directive[2].strip()
            taken = open_ones.pop()[1] if not word.startswith("if") else False
            if word != "endif":
                is_read = not taken and (word == "else" or not condition.removeprefix("defined(").startswith(_DEVICE))
                open_ones.append((is_read, taken or condition == _EMULATED))
        elif not all(is_read for is_read, _ in open_ones):
            found.add(number)
    return frozenset(found)
