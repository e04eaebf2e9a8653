"""How this process was started and typed: for usage texts, the commands that reports print, and what takes long."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bindings.places import module

COMMAND = "assayer"
SESSION = "ASSAYER_SESSION"  # set by noxfile.py: what was typed in place of `python -m conformance run`

_PRELOAD = "ASSAYER_PRELOAD"  # set by cuda/emulator/preload.py: the sanitiser that the process was started with


def program() -> str:
    """Return `assayer` where it runs as that command, else `python -m conformance`."""
    return COMMAND if Path(sys.argv[0]).stem == COMMAND else f"python -m {module('conformance')}"


def run_command() -> str:
    """Return what stands before the options of `run`: of a session the session's own words."""
    return os.environ.get(SESSION) or f"{program()} run"


def watched_by() -> str:
    """Return the sanitiser that watches this process, `address` or `thread`, or nothing."""
    return os.environ.get(_PRELOAD, "")
