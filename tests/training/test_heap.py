"""Freed memory stays with the process where the C library is glibc."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest


@pytest.mark.parametrize("function", ["keep_freed_memory", "return_freed_memory"])
def test_glibc_does_as_it_is_told(function: str) -> None:
    script = f"from training.memory.heap import {function}; print({function}())"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    assert told == str(platform.libc_ver()[0] == "glibc")
