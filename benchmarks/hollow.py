"""A library whose operations do nothing: what a call of it costs, Python and the foreign function interface cost."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from bindings import read_header

_SERVICES = """
int32_t assayer_version(int32_t* version) { return *version = %d, 0; }
int32_t assayer_capability(const char* name, int64_t* value) {
    return strcmp(name, "device_memory") ? -1 : (int32_t)(*value = 0);
}
"""


def build_hollow(folder: Path) -> Path:
    """Compile it by $CC, or cc; returns its path."""
    header = read_header()
    lines = ["#include <stddef.h>", "#include <stdint.h>", "#include <string.h>"]
    lines += [f"int32_t {f.symbol}({', '.join(f.types)}) {{ return 0; }}" for f in header.operations.values()]
    source, library = folder / "hollow.c", folder / "libhollow.so"
    source.write_text("\n".join(lines) + _SERVICES % header.version, encoding="utf-8")
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-w", "-o", str(library), str(source)], check=True)
    return library
