"""The judge's own memory, closed to other processes of the same user."""

from __future__ import annotations

import contextlib

from .system import control

_PR_SET_DUMPABLE = 4  # <linux/prctl.h>


def close_memory() -> None:
    """Let no process without root's rights read this one's memory or trace it, nor those that it forks (Linux)."""
    with contextlib.suppress(OSError):
        control(_PR_SET_DUMPABLE, 0)
