"""Says which compiler of kernels works: a name on the path may be a shim that starts nothing.

    python cuda/tools/compilers.py nvcc      of CUDA 13: CUDACXX's, or the one on the path
    python cuda/tools/compilers.py clang++   19 or newer, which compiles for sm_70: CLANGXX's, or one on the path

prints its path, or nothing where there is none.  Exit code 1: the variable names a compiler that does not work.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple


class Compiler(NamedTuple):
    """The variable that names one, the names that are looked for, and what its version has to say."""

    variable: str
    names: Sequence[str]
    release: str


KNOWN = {
    "nvcc": Compiler("CUDACXX", ("nvcc",), "release 13."),
    "clang++": Compiler("CLANGXX", ("clang++-19", "clang++-20", "clang++-21"), "clang version"),
}


def version_of(tool: str) -> str:
    """What a tool says of its version: nothing where it is missing, or is there and does not work."""
    try:
        done = subprocess.run([tool, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError:  # missing, or no program
        return ""
    return done.stdout if done.returncode == 0 else ""


def working(compiler: Compiler) -> str | None:
    """Return the path of the first that works and is of the release; None where there is none.

    Raises ValueError where the variable names one that does not work.
    """
    named = os.environ.get(compiler.variable)
    if named and not version_of(named):
        raise ValueError(f"{compiler.variable}: expected a compiler that works, got {named}: its --version fails")
    names = (named,) if named else compiler.names
    return next((shutil.which(name) for name in names if compiler.release in version_of(name)), None)


def main() -> int:
    if sys.argv[1:] not in ([name] for name in KNOWN):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        print(working(KNOWN[sys.argv[1]]) or "")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
