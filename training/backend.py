"""The operations a run computes with: the reference's, this project's C library's, or those of any library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import reference
from bindings import Library
from bindings.places import builds, built, module

from .settings import SettingsError

if TYPE_CHECKING:
    from reference.namespace import Ops


def operations(name: str) -> Ops:
    """Return the namespace of operations of that name. Raises SettingsError, or what a Library raises."""
    if name == "reference":
        return reference
    if name != "stub":
        if not Path(name).is_file():
            raise SettingsError(f"--backend: expected reference, stub or the path of a library, got {name!r}")
        library = Library(name)
        return Library(name, resident=True) if library.facts.on_device else library
    folder = builds() / "stub"
    path = built(folder, "assayer_stub")
    if path is None:
        build = f"python -m {module('conformance')} build stub"
        raise SettingsError(f"--backend stub: expected this project's C library in {folder}, found none; {build}")
    return Library(path)
