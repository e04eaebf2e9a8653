"""The operations a run computes with: the reference's, this project's C library's, or those of any library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import reference
from bindings import Library

from .settings import SettingsError

if TYPE_CHECKING:
    from reference.namespace import Ops

BUILT = Path(__file__).parents[1] / "build" / "stub"
BUILD = "cmake -S cuda -B build/stub && cmake --build build/stub --target assayer_stub"


def operations(name: str) -> Ops:
    """Return the namespace of operations of that name. Raises SettingsError, or what a Library raises."""
    if name == "reference":
        return reference
    if name != "stub":
        if not Path(name).is_file():
            raise SettingsError(f"--backend: expected reference, stub or the path of a library, got {name!r}")
        library = Library(name)
        return Library(name, resident=True) if library.facts.on_device else library
    built = [path for path in BUILT.glob("*assayer_stub.*") if path.suffix in {".so", ".dylib", ".dll"}]
    if not built:
        missing = f"expected this project's C library in {BUILT}, found none; in a checkout: {BUILD}"
        raise SettingsError(f"--backend stub: {missing}")
    return Library(built[0])
