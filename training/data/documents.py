"""The texts a model learns from: a file, a folder of files, or the text that every Python carries."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class DataError(ValueError):
    """Text, tokens or shards that cannot be used; the message names the file and the place in it."""


class Source(Protocol):
    """Where one document comes from; its text is read when it is needed, in the process that needs it."""

    @property
    def name(self) -> str:
        """What tells it from the others."""

    @property
    def size(self) -> int:
        """Bytes of UTF-8."""

    @property
    def changed(self) -> int:
        """When it last changed, where that is known: nanoseconds."""

    @property
    def text(self) -> str:
        """All of it. Raises DataError for what is not text."""


@dataclass(frozen=True)
class Document:
    """One text that is learned as a whole, and where it came from."""

    name: str
    text: str
    changed: int = 0

    @cached_property
    def size(self) -> int:
        """Bytes of UTF-8."""
        return len(self.text.encode())


@dataclass(frozen=True)
class TextFile:
    """A document that lies in a file; named by its path from the folder that was given."""

    name: str
    path: Path
    size: int
    changed: int

    @property
    def text(self) -> str:
        """All of it. Raises DataError where it is not UTF-8, cannot be read, or has changed since it was listed."""
        try:
            content = self.path.read_bytes()
            if len(content) != self.size:
                raise DataError(f"{self.path}: changed while it was read (from {self.size} to {len(content)} bytes)")
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            place = f"not UTF-8 at byte {error.start} (0x{byte:02x}: {error.reason})"
            raise DataError(f"{self.path}: {place}") from error
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read ({error.strerror})") from error


def embedded_documents() -> Iterator[Document]:
    """Yield the help topics of this Python (several hundred kB of English), ordered by key.

    The text differs between Python versions: whatever is reported about it needs the digest of its tokens beside it.
    Source: the standard library's pydoc_data.topics.
    """
    try:
        topics: dict[str, str] = importlib.import_module("pydoc_data.topics").topics
    except ImportError as error:
        raise DataError("this Python comes without pydoc_data.topics: name a text file or folder instead") from error
    for key in sorted(topics):
        yield Document(f"pydoc_data.topics[{key!r}]", topics[key])


def list_documents(path: Path) -> list[TextFile]:
    """List each file of a folder (hidden ones left out, ordered by path on every system), or the one file.

    Raises DataError for a path that is neither, and for a folder without files.
    """
    if path.is_file():
        return [_listed(path.name, path)]
    if not path.is_dir():
        raise DataError(f"{path}: expected a text file or a folder, found {'neither' if path.exists() else 'nothing'}")
    files = [(file.relative_to(path), file) for file in path.rglob("*") if file.is_file()]
    visible = [(name.as_posix(), file) for name, file in files if not any(part.startswith(".") for part in name.parts)]
    if not visible:
        raise DataError(f"{path}: the folder holds no files (hidden ones do not count)")
    return [_listed(name, file) for name, file in sorted(visible)]


def _listed(name: str, file: Path) -> TextFile:
    status = file.stat()
    return TextFile(name, file, status.st_size, status.st_mtime_ns)
