"""In which manner a library with a fault runs: how its kernels are compiled, and in what order their threads run."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass

# By the emulator's mode: the libraries that come before Python's own, and what a sanitiser is told.
_PRELOADED = {"address": ("libasan.so", "libubsan.so"), "thread": ("libtsan.so",)}
_TOLD = {
    "address": {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1", "UBSAN_OPTIONS": "halt_on_error=1"},
    "thread": {"TSAN_OPTIONS": "halt_on_error=1:exitcode=66:history_size=0:atexit_sleep_ms=0"},
}


@dataclass(frozen=True)
class Manner:
    """A mode of the emulator and a schedule of it; the C library knows the first of each alone."""

    mode: str = "fast"
    schedule: str = "forward"

    def environment(self) -> dict[str, str]:
        """Return what a process in which the library runs so is told; nothing where it is as it is."""
        told = {"ASSAYER_EMULATOR_SCHEDULE": self.schedule} if self.schedule != AS_IT_IS.schedule else {}
        libraries = [_path_of(name) for name in _PRELOADED.get(self.mode, ())]
        return told | _TOLD.get(self.mode, {}) | ({"LD_PRELOAD": ":".join(libraries)} if libraries else {})

    def prefix(self) -> tuple[str, ...]:
        """Return the command that starts it: older race detectors do not know the addresses of newer Linux kernels."""
        return ("setarch", "-R") if self.mode == "thread" and shutil.which("setarch") else ()


def cxx_compiler() -> list[str]:
    """Return the C++ compiler's command."""
    return shlex.split(os.environ.get("CXX", "c++"))


def _path_of(library: str) -> str:
    """Where the compiler keeps a library; its bare name where it has none or is missing, which the loader says."""
    try:
        command = [*cxx_compiler(), f"-print-file-name={library}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return library


AS_IT_IS = Manner()
BACKWARDS = Manner(schedule="reverse")
AT_RANDOM = Manner(schedule="random")
BY_RACES = Manner(mode="thread")
BY_ADDRESSES = Manner(mode="address")
