"""Writes a report beside its place and renames it: what stood there is replaced whole, or stays as it is."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


class ReportError(ValueError):
    """A file that is no report, or one that cannot be written; the message names it and says why."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8.  Raises ReportError; a file that stood there is then as it was."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():  # a terminal, a pipe: there is nothing to keep
            _filled(path, data)
        else:
            _replaced(path, data)
    except OSError as error:
        raise ReportError(f"{path}: not written: {error.strerror}") from None


def _replaced(path: Path, data: bytes) -> None:
    path = path.resolve()  # a link stays one
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    beside = Path(name)
    try:
        _filled(beside, data)
        beside.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _filled(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)


def _umask() -> int:
    """The permissions that this process leaves off new files; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
