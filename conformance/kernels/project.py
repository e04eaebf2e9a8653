"""What is compiled, how, and what the command line said of it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from conformance.paths import CACHE, CUDA

# How the sources are compiled: for the emulator in one of its modes, or for a device.
MODES = {
    "fast": "for the emulated GPU",
    "address": "for the emulated GPU, under the address and undefined-behaviour sanitisers",
    "thread": "for the emulated GPU, under the race detector",
    "device": "for this machine's GPU, by nvcc",
}
_PARTS = ("glue", "emulator", "include", "src/check.h", "kernels")  # of cuda/: what a library is made with
_VARIABLES = ("CXX", "CXXFLAGS", "CUDACXX", "CUDAFLAGS", "CUDAHOSTCXX", "LDFLAGS")
_NAMED = 3  # files that a report names
_CODE = Path(__file__).parent


@dataclass(frozen=True)
class Project:
    """Sources, a map, and a mode; arch: of the device, such as 90 for sm_90."""

    files: tuple[Path, ...]
    map: Path | None = None
    mode: str = "fast"
    arch: int = 0
    option = "--cuda"

    @property
    def name(self) -> str:
        """What reports call it."""
        names = [path.name for path in self.files]
        called = " ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        return called if self.mode == "fast" else f"{called} ({f'sm_{self.arch}' if self.arch else self.mode})"

    @property
    def words(self) -> tuple[str, ...]:
        """What the command line says behind --cuda, the first file first."""
        words = [shown(path) for path in self.files] + (["--map", shown(self.map)] if self.map else [])
        return (*words, *(("--mode", self.mode) if self.mode != "fast" else ()))

    @property
    def folder(self) -> Path:
        """Where it is compiled, whatever its files hold: what did not change is not compiled again."""
        named = [*self.files, *([self.map] if self.map else [])]
        words = [*(str(path.resolve()) for path in named), self.mode, str(self.arch), str(CUDA)]
        return CACHE / "kernels" / hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def content(project: Project, own: list[Path], beside: str = "") -> str:
    """Return a digest of all that decides what the library is: sources, map, emulator, compilers, this processor.

    beside: a source that is written for it.
    """
    sha = hashlib.sha256(repr([beside, *(os.environ.get(name, "") for name in _VARIABLES)]).encode() + _processor())
    ours = [path for part in _PARTS for path in _below(CUDA / part)]
    for path in (*own, *([project.map] if project.map else []), *ours, *sorted(_CODE.glob("*.py"))):
        sha.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return sha.hexdigest()[:16]


def _below(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file() and file.suffix != ".pyc")


def _processor() -> bytes:
    """What -march=native depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_bytes().splitlines()
    except OSError:
        return b""
    return b"\n".join(dict.fromkeys(line for line in lines if line.startswith((b"flags", b"Features", b"model name"))))


def shown(path: Path) -> str:
    """The path from here, if it lies below, so that it can be pasted."""
    below = Path.cwd() in path.resolve().parents
    return str(path.resolve().relative_to(Path.cwd()) if below else path.resolve())
