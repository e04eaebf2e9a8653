"""Compiles small libraries for tests, with $CC or cc."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from bindings import header_path


def compile_library(source: str, folder: Path, name: str = "library", *flags: str) -> Path:
    """Compile C text, which may include assayer.h, to a shared library in the folder."""
    text, library = folder / f"{name}.c", folder / f"{name}.so"
    text.write_text(source)
    command = [os.environ.get("CC", "cc"), "-std=c11", "-shared", "-fPIC", "-O1", f"-I{header_path().parent}"]
    subprocess.run([*command, *flags, "-o", library, text], check=True)
    return library


def compile_device(folder: Path, name: str = "device", *flags: str) -> Path:
    """Compile device.c, a library on a device of its own."""
    return compile_library(Path(__file__).with_name("device.c").read_text(encoding="utf-8"), folder, name, *flags)
