"""How the caller of this process has typed it, for usage texts and for the commands that reports print."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bindings.places import module

COMMAND = "assayer"
SESSION = "ASSAYER_SESSION"  # set by noxfile.py: what was typed in place of `python -m conformance run`


def program() -> str:
    """Return `assayer` where it runs as that command, else `python -m conformance`."""
    return COMMAND if Path(sys.argv[0]).stem == COMMAND else f"python -m {module('conformance')}"


def run_command() -> str:
    """Return what stands before the options of `run`: of a session the session's own words."""
    return os.environ.get(SESSION) or f"{program()} run"
