"""The project's header, or any text in its form, as records."""

from __future__ import annotations

import functools
from pathlib import Path

from bindings.errors import HeaderError

from .parser import parse_header
from .records import Header

_PLACES = (Path(__file__).parents[1] / "assayer.h", Path(__file__).parents[2] / "cuda" / "include" / "assayer.h")


def header_path() -> Path:
    """Return where the header lies: beside this package when installed, in cuda/include in a checkout."""
    for path in _PLACES:
        if path.is_file():
            return path
    raise FileNotFoundError(f"the header assayer.h is missing; looked for {' and '.join(map(str, _PLACES))}")


@functools.cache
def read_header(path: Path | None = None) -> Header:
    """Read the header at the path, or the project's own.  Raises HeaderError with the line it cannot read."""
    path = path or header_path()
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise HeaderError(path.name, 1, f"is not UTF-8 text ({error.reason})") from error
    return parse_header(text, path.name)
