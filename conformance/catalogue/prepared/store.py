"""Where prepared values are kept: in a folder, or in this process alone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from conformance.paths import CACHE
from conformance.scratch import Scratch

from .codec import Codec, DamagedError
from .key import made_by

Value = TypeVar("Value")
MOST_BYTES = 6 << 30  # of all keys together; the ones longest unused go first
MOST_BYTES_IN_MEMORY = 384 << 20  # of one process: four whole steps
_FOLDER = "prepared"


class Store(Protocol):
    """Gives back what was made before under a name, or makes it."""

    def recall(self, name: str, make: Callable[[], Value], codec: Codec, *, large: bool = False) -> Value:
        """Return the value of this name.  large: worth the memory of a process that cannot keep it elsewhere."""

    def recall_parts(self, names: Sequence[str], make: Callable[[], Iterable[Value]], codec: Codec) -> Iterator[Value]:
        """Yield large values that are made one after the other, a name for each, one at a time."""


class MemoryStore:
    """Keeps the large values used last in this process: what whole steps expect costs a second each.

    They lie here as the documents that a folder would hold, half as large as the values.  most: their bytes together.
    """

    def __init__(self, most: int = MOST_BYTES_IN_MEMORY) -> None:
        self._most, self._held = most, OrderedDict[str, bytes]()

    def recall(self, name: str, make: Callable[[], Value], codec: Codec, *, large: bool = False) -> Value:
        if not large:
            return make()
        if name in self._held:
            found: Value = self._read(name, codec)
            return found
        value = make()
        self._keep(name, codec.dumps(value))
        return value

    def recall_parts(self, names: Sequence[str], make: Callable[[], Iterable[Value]], codec: Codec) -> Iterator[Value]:
        if all(name in self._held for name in names):
            documents = [self._held[name] for name in names]  # what goes meanwhile is read all the same
            yield from (codec.loads(document) for document in documents)
            return
        for name, value in zip(names, make(), strict=True):
            self._keep(name, codec.dumps(value))
            yield value

    def _read(self, name: str, codec: Codec) -> Any:
        self._held.move_to_end(name)
        return codec.loads(self._held[name])

    def _keep(self, name: str, document: bytes) -> None:
        self._held[name] = document
        total = sum(map(len, self._held.values()))
        while total > self._most and self._held:
            total -= len(self._held.popitem(last=False)[1])


class DiskStore:
    """Files below a folder, in one of their own for each key.

    Files appear whole under their names, so that several processes and runs may share a folder; one that is damaged,
    or goes away meanwhile, is made again.  A folder that cannot be written to keeps nothing.
    """

    def __init__(self, folder: Path = CACHE / _FOLDER, key: str = "") -> None:
        self._root, self._folder = folder, folder / (key or made_by())
        self._changed = _changed(self._folder)

    def recall(self, name: str, make: Callable[[], Value], codec: Codec, *, large: bool = False) -> Value:
        try:
            found: Value = self._read(name, codec)
            return found
        except (OSError, DamagedError):
            value = make()
        self._write(name, codec.parts(value))
        return value

    def recall_parts(self, names: Sequence[str], make: Callable[[], Iterable[Value]], codec: Codec) -> Iterator[Value]:
        making: Iterator[tuple[str, Value]] | None = None
        for name in names:
            try:
                yield self._read(name, codec)
                continue
            except (OSError, DamagedError):
                making = making or zip(names, make(), strict=True)
            for other, value in making:
                self._write(other, codec.parts(value))
                if other == name:
                    yield value
                    break

    def _read(self, name: str, codec: Codec) -> Any:
        with open(os.path.join(self._folder, _file(name)), "rb") as file:  # noqa: PTH118, PTH123  (thousands a run)
            return codec.loads(file.read())

    def _write(self, name: str, parts: Sequence[Any]) -> None:
        """Put a document in its place, whole or not at all; a folder that cannot be written to keeps nothing."""
        with contextlib.suppress(OSError):
            self._put(self._folder / _file(name), parts)

    def _put(self, path: Path, parts: Sequence[Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(parts)
            Path(aside).replace(path)
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise

    @property
    def has_grown(self) -> bool:
        """Whether files were added, by any process, since the store was opened."""
        return _changed(self._folder) != self._changed

    def note_use(self) -> None:
        """Make this key the last one to go."""
        with contextlib.suppress(OSError):
            os.utime(self._folder)

    def trim(self, most: int = MOST_BYTES) -> None:
        """Note that this key is in use, and drop those longest unused while all keys hold more bytes than that."""
        self.note_use()
        with contextlib.suppress(OSError):
            others = sorted((p for p in self._root.iterdir() if p != self._folder), key=lambda p: p.stat().st_mtime)
            total = sum(map(_size, [*others, self._folder]))
            for folder in others:
                if total <= most:
                    return
                total -= _size(folder)
                shutil.rmtree(folder, ignore_errors=True)
            if total > most:
                shutil.rmtree(self._folder, ignore_errors=True)


def _changed(folder: Path) -> int:
    """When a file was last put into the folder, or its use noted; 0 where there is none."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _size(folder: Path) -> int:
    with os.scandir(folder) as entries:
        return sum(entry.stat().st_size for entry in entries)


def _file(name: str) -> str:
    """A name as one part of a path."""
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


@contextlib.contextmanager
def kept_between_runs(*, fresh: bool = False) -> Iterator[DiskStore]:
    """Open the store that all runs share, or one for this run's processes alone."""
    if fresh:
        with contextlib.closing(Scratch()) as scratch:
            yield DiskStore(scratch.path)
        return
    store = DiskStore()
    yield store
    if store.has_grown:  # else there is nothing to drop, and no need to look at thousands of files
        store.trim()
    else:
        store.note_use()
