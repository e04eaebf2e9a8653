"""The texts a model learns from: a file, a folder of files, or the text that every Python carries."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class DataError(ValueError):
    """Text, tokens or shards that cannot be used; the message names the file and the place in it."""


@dataclass(frozen=True)
class Document:
    """One text that is learned as a whole, and where it came from."""

    name: str
    text: str


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


def read_documents(path: Path) -> Iterator[Document]:
    """Yield each file of a folder (hidden ones left out, ordered by path), or the one file, as a document.

    Raises DataError for a path that is neither, and for a file that is not UTF-8.
    """
    if path.is_dir():
        for file in _visible_files(path):
            yield Document(str(file), _read_text(file))
    elif path.is_file():
        yield Document(str(path), _read_text(path))
    else:
        raise DataError(f"{path}: expected a text file or a folder, found {'neither' if path.exists() else 'nothing'}")


def _visible_files(folder: Path) -> list[Path]:
    """List the folder's files in the same order on every system."""
    files = [(path.relative_to(folder), path) for path in folder.rglob("*") if path.is_file()]
    visible = [pair for pair in files if not any(part.startswith(".") for part in pair[0].parts)]
    return [path for _, path in sorted(visible, key=lambda pair: pair[0].as_posix())]


def _read_text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DataError(f"{file}: not UTF-8 at byte {error.start} (0x{byte:02x}: {error.reason})") from error
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror})") from error
