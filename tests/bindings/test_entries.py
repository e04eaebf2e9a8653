"""An entry can be called for as long as somebody holds it."""

from __future__ import annotations

import gc
from pathlib import Path

from bindings.shared_object.foreign import SharedObject
from tests.compiler import compile_library


def test_an_entry_outlives_what_opened_its_library(tmp_path: Path) -> None:
    path = compile_library("#include <stdint.h>\nint32_t seven(void) { return 7; }\n", tmp_path)
    entry = SharedObject(path).entry("seven", ())
    gc.collect()
    assert entry is not None
    assert entry() == 7
