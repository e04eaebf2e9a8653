"""A C or CUDA source as a mutator of lines may read it: nothing but code, and every line for itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMMENT = re.compile(r"""/\*.*?\*/|//[^\n]*|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])')""", re.DOTALL)
_CONTINUED = re.compile(r"\s*\\$")


@dataclass(frozen=True)
class Line:
    """One line: its code, and what joins it to the next line of a macro, or nothing."""

    code: str
    joint: str = ""


def lines_of(text: str) -> list[Line]:
    """Return a C or CUDA source line by line, its comments blank."""
    return [_line(line) for line in without_comments(text).split("\n")]


def without_comments(text: str) -> str:
    """Return a source with blanks in place of comments; every character keeps its place."""
    return _COMMENT.sub(lambda found: found[0] if found[1] else re.sub(r"[^\n]", " ", found[0]), text)


def _line(line: str) -> Line:
    joint = _CONTINUED.search(line)
    return Line(line[: joint.start()], joint[0]) if joint else Line(line.rstrip())


def exchanged(text: str, number: int, code: str, count: int = 1) -> str:
    """Return a source that holds this code in place of `count` lines from this number, from 1, with its indentation.

    The lines after it keep their numbers, which messages of the emulator tell.
    """
    lines = text.split("\n")
    first, *rest = (_line(line) for line in lines[number - 1 : number - 1 + count])
    indentation = first.code[: len(first.code) - len(first.code.lstrip())]
    lines[number - 1 : number - 1 + count] = [indentation + code + first.joint, *(line.joint for line in rest)]
    return "\n".join(lines)
