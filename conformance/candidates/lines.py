"""Which line of which source file a place of a library comes from, by the tools that read what compilers say of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .candidate import CandidateError

_TOOLS = ("llvm-symbolizer", "llvm-addr2line", "addr2line")
_OPTIONS = {"llvm-symbolizer": ("--output-style=GNU", "--functions=none", "--no-inlines")}
_LINE = re.compile(r"(.+):(\d+)(?: \(.*\))?")


class Line(NamedTuple):
    """A line of a source file."""

    file: str
    number: int


def lines_of(path: Path, places: Iterable[int]) -> dict[int, Line]:
    """Return the line that the code before each place comes from, the function it was inlined from among them.

    A place of which nothing is known is left out.  Raises CandidateError where there is no tool, or it fails.
    """
    asked = list(places)
    tool = next(filter(shutil.which, _TOOLS), None)
    if tool is None:
        raise CandidateError(f"lines of code: expected one of {', '.join(_TOOLS)} on the path, found none")
    command = [tool, *_OPTIONS.get(tool, ()), "-e", str(path)]
    given = "".join(f"{place - 1:#x}\n" for place in asked)  # a call ends before the place
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    told = done.stdout.splitlines()
    if done.returncode or len(told) != len(asked):
        raise CandidateError(f"{path}: {tool} failed: {done.stderr.strip() or f'{len(told)} lines for {len(asked)}'}")
    return {place: line for place, text in zip(asked, told, strict=True) if (line := _read(text))}


def _read(text: str) -> Line | None:
    found = _LINE.fullmatch(text)
    return Line(found[1], int(found[2])) if found and int(found[2]) and found[1] != "??" else None
