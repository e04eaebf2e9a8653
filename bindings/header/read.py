"""The project's header, or any text in its form, as records."""

from __future__ import annotations

import functools
from pathlib import Path

from bindings.errors import HeaderError
from bindings.places import CUDA

from .parser import parse_header
from .records import Header

_HEADER = CUDA / "include" / "assayer.h"


def header_path() -> Path:
    """Return where the header lies.  Raises FileNotFoundError where the checkout or the installation lacks it."""
    if not _HEADER.is_file():
        raise FileNotFoundError(f"expected the header {_HEADER}, found no such file")
    return _HEADER


@functools.cache
def read_header(path: Path | None = None) -> Header:
    """Read the header at the path, or the project's own.  Raises HeaderError with the line it cannot read."""
    path = path or header_path()
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise HeaderError(path.name, 1, f"is not UTF-8 text ({error.reason})") from error
    return parse_header(text, path.name)
