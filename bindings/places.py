"""Where the project's own files lie, in a checkout or below an installed package, and where its builds go."""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).parents[1]  # of the checkout, or the installed package
CUDA = ROOT / "cuda"
CACHE = Path(
    os.environ.get("ASSAYER_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "assayer")
).expanduser()  # of the user; it need not exist
_SUFFIXES = {".so", ".dylib", ".dll"}


def is_checkout() -> bool:
    """Whether the project's files are a checkout's, which its commands may write to."""
    return (ROOT / "pyproject.toml").is_file()


@functools.cache
def builds() -> Path:
    """Return the folder that libraries are built in: build/ of a checkout, else one of the user's cache.

    That one is named by the sources and by where they lie: an installed file's time says nothing about its content.
    """
    if is_checkout():
        return ROOT / "build"
    sha = hashlib.sha256(f"{ROOT}\0".encode())
    for path in sorted(path for path in CUDA.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        sha.update(path.relative_to(CUDA).as_posix().encode() + b"\0" + path.read_bytes())
    return CACHE / "build" / sha.hexdigest()[:16]


def built(folder: Path, target: str) -> Path | None:
    """Return the library that CMake's target has become in the folder; None where there is none."""
    return next((path for path in sorted(folder.glob(f"*{target}.*")) if path.suffix in _SUFFIXES), None)


def module(name: str) -> str:
    """Return the name that `python -m` knows a module of a checkout by: of an installed one with its package before."""
    return str(__package__).removesuffix("bindings") + name
