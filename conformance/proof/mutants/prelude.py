"""The headers that kernels include besides their own, compiled once: to read them takes half as long as a mutant."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bindings import header_path
from conformance.proof.faults.build import run_compiler
from conformance.proof.faults.recipes import RUNTIME, Kernels

_INCLUDED = re.compile(r"^#include (<[^>]+>)", re.MULTILINE)


def prelude(recipe: Kernels, sources: Mapping[str, str], folder: Path, options: Sequence[str]) -> Sequence[str]:
    """Return options that include the prelude, precompiled in the folder; a compiler that cannot use it reads it.

    Raises FaultError and RefusedError.
    """
    [unit, *_] = (file for file in sources if file.endswith(recipe.unit))
    included = sorted({name for file, text in sources.items() if file != RUNTIME for name in _INCLUDED.findall(text)})
    text = "".join(f"#include {name}\n" for name in (*included, f'"{header_path().name}"'))
    command = [*(word for word in recipe.options(unit) if word != "c++"), "c++-header", *options]
    named = hashlib.sha256("\0".join([*recipe.compiler(), *command, *recipe.beside(), text]).encode())
    header = folder / named.hexdigest() / "prelude.h"
    whole = header.with_suffix(".h.gch")
    if not whole.exists():
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(text, encoding="utf-8")
        run_compiler(recipe, "prelude", whole, *command, "-c", str(header))
    return ("-include", str(header))
