"""Two first calls at once: the one that does not choose the vector routines waits for the one that does."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiler import compile_library
from tests.conftest import ROOT

# In a process of its own, where nobody has called the library and there are no other threads that a copy would lack.
PROGRAM = """
import sys
from pathlib import Path
from bindings import read_header
from bindings.shared_object.foreign import SharedObject, address

library, crowd = SharedObject(Path(sys.argv[1])), SharedObject(Path(sys.argv[2]))
cast = read_header().operations["cast_to_fp16"]
entry = library.entry(cast.symbol, cast.types)
# After 0, 10, 20, ... instructions of the first call, which has fewer than 1,500.
print(crowd.entry("first_calls", ["uintptr_t", "int32_t", "int32_t"])(address(entry), 10, 150))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux") or platform.machine() != "x86_64", reason="traps of x86-64")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitiser's own signals and locks")
def test_a_first_call_that_another_one_meets_on_its_way(stub_path: Path, tmp_path: Path) -> None:
    source = Path(__file__).with_name("first_calls.c").read_text(encoding="utf-8")
    crowd = compile_library(source, tmp_path, "first_calls", "-pthread")
    command = [sys.executable, "-c", PROGRAM, str(stub_path), str(crowd)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0"
