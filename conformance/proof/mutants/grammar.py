"""What no C compiler takes, seen without one: a mutator of lines knows no grammar, and half of its mutants are such.

What is left out here is refused by every compiler; what is refused for other reasons, the compiler finds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_INDENTATION = 4  # of a function's statements
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_BROKEN = re.compile(
    r"[A-Za-z_]-1"  # a digit inside of a name
    r"|\w\(\d+[+-]1\)|[+-]1\)[\w.]"  # one of a longer number
    r"|\b(?:float|double|int|void|char|\w+_t|const|half_bits)[-+/%]"  # the star of a pointer's type
    r"|\btemplate\s*[^<\s]|_cast\b[^<]|\[[|^%]\]"  # brackets that no longer open, or hold half of a capture
    r"|(?<!\+)\+\s*[);,]|(?<!-)-\s*[);,]|[*/%]\s*[);]"  # half of an increment
    r"|(?<![<>=!])(?!<<=|>>=|<<<|>>>)[<>=!]{3}"  # half of a shift
    r"|\bfor \([\w:]+ \w+ (?![=:] )"  # a counter that is declared and compared at once
    r"|[A-Za-z_*&](?:[<>=!]=)|\w>\w|\w<(?:[^\w:<(-]|$)"  # a template's bracket, which has no blanks around it
)
_LEAVES = re.compile(r"\b(?:break|continue);$")
_LOOP = re.compile(r"(?:(?:\w+ )?(?:for|while|switch|do)\b|FOR_[A-Z]+\().*\{$")  # or a macro's
_STRINGS = re.compile(r'"[^"]*"')
_POINTER = re.compile(r"\*\s*[);,]")  # a type alone, which stands in casts and declarations


def names_of(text: str) -> frozenset[str]:
    """Return the names in a text, keywords among them."""
    return frozenset(_NAME.findall(text))


def is_hopeless(before: str, after: str, indentation: int, known: frozenset[str]) -> bool:
    """Whether no compiler takes a line's new code.

    indentation: of the line, in spaces.  known: all names of the library's sources and of the language.
    """
    leaves = _LEAVES.search(after) and not _LEAVES.search(before)
    if leaves and indentation <= _INDENTATION and not _LOOP.match(before):
        return True
    if not names_of(_STRINGS.sub("", after)) <= known:
        return True
    return len(_breaks(after)) > len(_breaks(before))


def is_idle(code: Sequence[str], number: int, after: str) -> bool:
    """Whether a mutant goes on with a loop where its body ends anyway.

    code: all lines of a file, without comments.  number: of the mutant's line, from 1.
    """
    line = code[number - 1]
    if after != f"{line.strip()} continue;" or number == len(code):
        return False
    following, outer = code[number], _indented(line) - _INDENTATION
    if following.strip() not in ("}", "})") or _indented(following) != outer:
        return False
    before = (each for each in reversed(code[: number - 1]) if each.strip() and not each.startswith("#"))
    opening = next((each for each in before if _indented(each) <= outer), "")
    return _indented(opening) == outer and bool(_LOOP.match(opening.strip()))


def _indented(line: str) -> int:
    return len(line) - len(line.lstrip())


def _breaks(code: str) -> list[str]:
    return _BROKEN.findall(_POINTER.sub(";", code))
