"""When the files of a candidate have changed, and are whole: whoever writes them may not have ended."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bindings import LibraryError
from bindings.shared_object.symbols import read_symbols

EVERY_S = 0.05  # between two looks
PATIENCE = 20  # looks at a file that is not there, or not whole, before that is said
Say = Callable[[str], None]


class Stamp(NamedTuple):
    """By what a file is known to be the one that it was."""

    inode: int
    size: int
    changed: int  # nanoseconds


def stamp(path: Path) -> Stamp | None:
    """Return a file's stamp; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  (several files, 20 times a second)
    except OSError:
        return None
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns)


Stamps = tuple[Stamp | None, ...]


def stamps(paths: Sequence[Path]) -> Stamps:
    """Return the stamps of several files."""
    return tuple(map(stamp, paths))


def pause() -> None:
    """Wait until the next look."""
    time.sleep(EVERY_S)


def wait(paths: Sequence[Path], seen: Stamps | None, say: Say, is_library: bool) -> Stamps:
    """Wait until the files are others than were seen, and stay as they are for a moment; return their stamps.

    seen: None where nothing was, so that files that are there are waited for no longer than to see them stay.  A
    library that a linker has not written to its end is waited for.  That one is not there, or stays cut short, is said
    once.
    """
    before, looks, told = stamps(paths), 0, ""
    while True:
        pause()
        now = stamps(paths)
        looks = looks + 1 if now == before else 0
        before = now
        if not looks or now == seen:
            continue
        problem = _unfinished(paths[0], is_library)
        if not problem:
            return now
        if looks >= PATIENCE and problem != told:
            told = problem
            say(f"{problem}; waiting for it")


def _unfinished(path: Path, is_library: bool) -> str:
    """Why a file cannot be judged yet; nothing where it can."""
    if not path.exists():
        return f"{path}: there is no such file"
    if is_library:
        try:
            read_symbols(path)
        except LibraryError as error:
            return str(error)
        except OSError as error:  # it went away meanwhile
            return f"{path}: {error.strerror}"
    return ""
