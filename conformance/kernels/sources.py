"""Somebody's CUDA sources as files: what they hold, and what they include of their own."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from conformance.builds import BuildError

SUFFIXES = (".cu", ".cpp", ".cc", ".cxx")
_INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def text_of(path: Path) -> str:
    """Return the text of a source.  Raises BuildError where there is none."""
    if not path.is_file():
        found = "a folder" if path.is_dir() else "something else" if path.exists() else "no such file"
        raise BuildError(f"{path}: expected a file of CUDA C++, got {found}")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BuildError(f"{path}: expected CUDA C++ in UTF-8: {error}") from None


def check_sources(paths: Sequence[Path]) -> None:
    """Raise BuildError for what is no source of CUDA C++, and for a file that stands there twice."""
    for place, path in enumerate(paths):
        if path.suffix not in SUFFIXES:
            raise BuildError(
                f"{path}: expected a source that ends in {', '.join(SUFFIXES)}; headers are found by themselves"
            )
        if path.resolve() in [one.resolve() for one in paths[:place]]:
            raise BuildError(f"{path}: expected each file once, got it twice")
        text_of(path)


def own_files(sources: Sequence[Path], include: Sequence[Path]) -> list[Path]:
    """Return the sources and whatever of one's own they include: beside the file that does, or in the folders given."""
    found = dict.fromkeys(path.resolve() for path in sources)
    waiting = list(found)
    while waiting:
        path = waiting.pop()
        for mark, name in _INCLUDE.findall(text_of(path)):
            folders = [path.parent, *include] if mark == '"' else include
            there = next((folder / name for folder in folders if (folder / name).is_file()), None)
            if there and there.resolve() not in found:
                found[there.resolve()] = None
                waiting.append(there.resolve())
    return list(found)


def root_of(files: Sequence[Path]) -> Path:
    """Return the folder that all files lie below."""
    return Path(os.path.commonpath([path.parent for path in files]))
