"""The kernels compiled for this machine's device, and as PTX for each older architecture."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from bindings.places import builds
from conformance.paths import CUDA

from .library import BuildError, build

GENERATIONS = (75, 80, 86, 89, 90, 100, 120)  # architectures that nvcc 13 compiles for
_NVCC = "expected nvcc of CUDA 13, found none on the path, by CUDACXX or as the package nvidia-cuda-nvcc"


class DeviceError(RuntimeError):
    """There is no device, or none that is new enough."""


def device_builds(asked: Sequence[str] = ()) -> Iterator[tuple[str, Path]]:
    """Build what is asked for (sm_80 ...), or everything the device runs; yield what each is called, and its path.

    Raises DeviceError where no device runs what was asked for, and BuildError.
    """
    found = max(devices(), default=0)
    known = {f"sm_{arch}": arch for arch in (*GENERATIONS, found) if arch}
    newest = max((known.get(arch, 0) for arch in asked), default=0)
    if not found or newest > found:
        wanted, there = f" of sm_{newest} or newer" if newest else "", f"one of sm_{found}" if found else "none"
        raise DeviceError(f"expected a CUDA device{wanted}, found {there}")
    if unknown := next((arch for arch in asked if arch not in known), None):
        raise BuildError(f"--arch {unknown}: expected one of {', '.join(known)} (CUDA 13 compiles for nothing older)")
    archs = [known[arch] for arch in asked] or [*(arch for arch in GENERATIONS if arch < found), found]
    compiler = {"CUDACXX": nvcc()}
    for arch in sorted(archs, reverse=True):
        path = build("cuda", builds() / f"cuda-{arch}", _code(arch, found), compiler)
        yield f"cuda sm_{arch}" if arch == found else f"cuda sm_{arch} PTX", path


def _code(arch: int, found: int) -> dict[str, str]:
    """CMake's words for code of an architecture that a device of another runs.

    PTX becomes machine code here, once, and not by the driver in every process that opens the library: that takes each
    of them a minute.
    """
    if arch == found:
        return {"ASSAYER_ARCHITECTURES": f"{arch}-real"}
    return {"ASSAYER_ARCHITECTURES": str(arch), "ASSAYER_RUNS_ON": str(found)}


def devices() -> list[int]:
    """Return the compute capabilities of this machine's CUDA devices: 90 for sm_90.

    A process of its own asks the driver, which does not outlive a fork.
    """
    command = [sys.executable, str(CUDA / "tools" / "devices.py")]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [int(line.split()[0].removeprefix("sm_")) for line in said.splitlines()]


def nvcc() -> str:
    """Return a compiler of CUDA 13: CUDACXX's, the path's, or that of the Python packages.  Raises BuildError."""
    found = _working() or _packaged()
    if not found:
        raise BuildError(_NVCC)
    return found


def _working() -> str:
    """The compiler that CUDACXX names, or one that works on the path.  Raises BuildError where CUDACXX's does not."""
    command = [sys.executable, str(CUDA / "tools" / "compilers.py"), "nvcc"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(done.stderr.strip())
    return done.stdout.strip()


def _packaged() -> str | None:
    """The compiler of the packages, where they are laid out as CMake expects a toolkit (lib64 is theirs to make)."""
    toolkit = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13"
    compiler = toolkit / "bin" / "nvcc"
    return str(compiler) if compiler.is_file() and (toolkit / "lib64").exists() else None
