"""Run a command that loads a library of the emulator's: python cuda/emulator/preload.py MODE COMMAND ...

A sanitised library needs its sanitiser in the process from the start.  MODE is the library's: address or thread.  The
sanitisers are those of $CXX, $CC or c++; options of one's own in ASAN_OPTIONS, UBSAN_OPTIONS and TSAN_OPTIONS are kept.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

_CLANG = f"libclang_rt.%s-{platform.machine()}.so"
# By mode: what clang's libraries are called, and gcc's; clang knows where gcc's are, too.
LIBRARIES = {
    "address": ([_CLANG % "asan"], ["libasan.so", "libubsan.so"]),
    "thread": ([_CLANG % "tsan"], ["libtsan.so"]),
}
# What commands keep until they end is no leak; an allocation that is too large returns null, as malloc does.  The race
# detector stops at the first race, and remembers little of each of the many threads.
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=66:history_size=0:atexit_sleep_ms=0",
}


def libraries(compiler: str, mode: str) -> list[str]:
    """Where the compiler keeps the mode's sanitisers; empty where it has none."""

    def found(name: str) -> str:
        done = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    for names in LIBRARIES[mode]:
        paths = [found(name) for name in names]
        if all(Path(path).is_absolute() for path in paths):
            return paths
    return []


def main() -> None:
    """Replace this process by the command; end it where that cannot be."""
    if len(sys.argv) < 3 or sys.argv[1] not in LIBRARIES:
        sys.exit(__doc__)
    mode, *command = sys.argv[1:]
    compiler = os.environ.get("CXX") or os.environ.get("CC") or "c++"
    paths = libraries(compiler, mode)
    if not paths:
        sys.exit(f"{compiler} has no shared library of the {mode} sanitiser; set CXX to one that has")
    here = f"strip_path_prefix={Path.cwd()}{os.sep}"  # files are named as one types them
    options = {name: ":".join(filter(None, [value, here, os.environ.get(name)])) for name, value in OPTIONS.items()}
    options["ASSAYER_PRELOAD"] = mode  # so that what the command prints can say how it was started
    # The race detector of older compilers does not know the address layouts of newer kernels.
    if mode == "thread" and shutil.which("setarch"):
        command = ["setarch", "-R", "env", f"LD_PRELOAD={':'.join(paths)}", *command]
    else:
        options["LD_PRELOAD"] = ":".join(paths)
    os.execvpe(command[0], command, {**os.environ, **options})


if __name__ == "__main__":
    main()
