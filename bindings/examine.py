"""What can be said of a library before any of it runs."""

from __future__ import annotations

from pathlib import Path

from .declarations import compare
from .header import read_header
from .records import Header
from .symbols import exported_symbols

_OURS = ("cuda_", "assayer_")


def examine(path: Path, declarations: Path | None = None, header: Header | None = None) -> list[str]:
    """Return a sentence for each operation missing, symbol unknown and declaration that differs from the header's.

    The library is read, not loaded; its services (assayer_*) may be missing.  Raises LibraryError where the file is no
    library, DeclarationError where the declarations cannot be read.
    """
    header = header or read_header()
    exported = {symbol for symbol in exported_symbols(path) if symbol.startswith(_OURS)}
    operations = [function.symbol for function in header.operations.values()]
    services = [function.symbol for function in header.services.values()]
    sentences = [f"{symbol}: missing" for symbol in operations if symbol not in exported]
    unknown = exported - {*operations, *services}
    sentences += [f"{symbol}: exported, the header has no such function" for symbol in sorted(unknown)]
    return sentences + (compare(declarations, header) if declarations else [])
