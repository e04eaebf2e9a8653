"""The program that calls: compiled once for 32-bit x86, where a compiler can."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from bindings.places import builds

SOURCE = Path(__file__).with_name("caller.c")
_SECONDS = 60


class NoCallerError(RuntimeError):
    """Nothing here compiles or runs programs for 32-bit x86; the message holds the compiler's last line."""


def build_caller() -> Path:
    """Return the path of the program.  Raises NoCallerError."""
    kept = builds() / "positional" / f"caller-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            made = Path(folder, "caller")
            _run(*compiler(), "-O1", "-std=c11", "-o", str(made), str(SOURCE), "-ldl")
            made.replace(kept)
    return kept


def compiler() -> tuple[str, ...]:
    """The C compiler, told to compile for 32-bit x86; CC names another."""
    return (*(shlex.split(os.environ.get("CC", "")) or ["cc"]), "-m32")


def _run(*words: str) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoCallerError(f"no compiler for 32-bit x86: {error}") from None
    if done.returncode:
        lines = done.stderr.splitlines()
        said = next(
            (line for line in lines if "error:" in line or "cannot find" in line), f"exit code {done.returncode}"
        )
        raise NoCallerError(
            f"no compiler for 32-bit x86: `{' '.join(words[:2])}` says {said!r} (Debian: apt-get install gcc-multilib)"
        )
