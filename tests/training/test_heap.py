"""Freed memory stays with the process where the C library is glibc."""

from __future__ import annotations

import platform
import subprocess
import sys


def test_glibc_keeps_what_is_freed() -> None:
    script = "from training.heap import keep_freed_memory; print(keep_freed_memory())"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    assert told == str(platform.libc_ver()[0] == "glibc")
