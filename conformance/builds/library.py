"""One library, configured and compiled in a folder of its own; a second time only what has changed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from bindings.places import builds, built
from conformance.paths import CUDA

TARGETS = {
    "stub": "every operation in plain C",
    "emulated": "the kernels on the emulated GPU",
    "cuda": "the kernels, for every architecture or those of --arch",
}
_SCRIPT = CUDA / "tools" / "cmake_build.py"
_COMPILERS = {"stub": ("CC", ("cc", "gcc", "clang")), "emulated": ("CXX", ("c++", "g++", "clang++"))}
_LAST = 40  # lines of what CMake and the compiler said


class BuildError(RuntimeError):
    """A library cannot be built; the message says what is missing, or what the compiler said.

    said: all that CMake and the compiler have printed, where they were started.
    """

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said


def build(
    name: str,
    folder: Path | None = None,
    defines: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Path:
    """Build the library "stub", "emulated" or "cuda" and return its path.

    folder: where, if not below builds(); defines: CMake's, and environment: variables, beside those there are.
    Raises BuildError.
    """
    return build_target(name, folder or builds() / name, f"assayer_{name}", defines, environment)


def build_target(
    name: str,
    folder: Path,
    target: str,
    defines: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    source: Path = CUDA,
) -> Path:
    """Build a library that is CMake's target in the folder `source`, and return its path.

    name: whose compilers it needs, "stub", "emulated" or "cuda".  Raises BuildError.
    """
    path = _search_path()
    _check_tools(name, path)
    given = [f"-D{key}={value}" for key, value in {"Python3_EXECUTABLE": sys.executable, **(defines or {})}.items()]
    command = [sys.executable, str(_SCRIPT), str(folder), target, *given, "--source", str(source)]
    variables = os.environ | {"PATH": path} | dict(environment or {})
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    library = built(folder, target) if done.returncode == 0 else None
    if library is None:
        said = "\n".join(done.stdout.splitlines()[-_LAST:])
        raise BuildError(f"{name}: expected CMake to build {target} in {folder}, got:\n{said}", done.stdout)
    return library


def _search_path() -> str:
    """The path, and on it what was installed beside this Python, whether its environment is activated or not."""
    return os.pathsep.join(filter(None, (os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts"))))


def _check_tools(name: str, path: str) -> None:
    """Raise BuildError where CMake, Ninja or the compiler is missing.  (A CUDA compiler is looked for elsewhere.)"""
    missing = [tool for tool in ("cmake", "ninja") if not shutil.which(tool, path=path)]
    if missing:
        raise BuildError(
            f"{name}: expected cmake and ninja, found no {' and no '.join(missing)}: pip install cmake ninja"
        )
    variable, known = _COMPILERS.get(name, _COMPILERS["emulated"])
    asked = shlex.split(os.environ.get(variable, ""))[:1]
    if not any(shutil.which(tool, path=path) for tool in (asked or known)):
        raise BuildError(
            f"{name}: expected a compiler, found none of {', '.join(asked or known)}; {variable} names another"
        )
