"""What can be said of a library before any of it runs."""

from __future__ import annotations

from pathlib import Path

from bindings.header.read import read_header
from bindings.header.records import Header
from bindings.shared_object.misnamed import unknown_symbols
from bindings.shared_object.symbols import exported_symbols

from . import compare


def examine(path: Path, declarations: Path | None = None, header: Header | None = None) -> list[str]:
    """Return a sentence for each operation missing, and for each difference.

    The library is read, not loaded; its services (assayer_*) may be missing.  Raises LibraryError where the file is no
    library, DeclarationError where the declarations cannot be read.
    """
    exported = exported_symbols(path)
    operations = (header or read_header()).operations.values()
    missing = [f"{function.symbol}: missing" for function in operations if function.symbol not in exported]
    return missing + differences(path, declarations, header)


def differences(path: Path, declarations: Path | None = None, header: Header | None = None) -> list[str]:
    """Return a sentence for each symbol that the header does not know, and each declaration that differs from its own.

    Raises what `examine` does.
    """
    return unknown_symbols(path, header) + (compare(declarations, header) if declarations else [])
