"""A declaration as any language states it."""

from __future__ import annotations

import re
from dataclasses import dataclass

OURS = re.compile(r"(?:cuda|assayer)_\w+")


@dataclass(frozen=True)
class Type:
    """`stars` pointers deep to `element` (a NumPy name, "void", or what could not be read).

    `const` says whether what lies innermost is const, None in languages that do not tell.
    """

    element: str
    stars: int = 0
    const: bool | None = None


@dataclass(frozen=True)
class Argument:
    """One argument as it was written; `name` is empty where there is none.

    note: what is said of it where it is not what the header has.
    """

    type: Type
    text: str
    name: str = ""
    note: str = ""


@dataclass(frozen=True)
class Declaration:
    """One function; `problem` is what is wrong with it beside its types, in the words that follow its name."""

    symbol: str
    arguments: tuple[Argument, ...]
    result: Argument
    line: int
    problem: str = ""


STREAMS = {"cudaStream_t", "CUstream", "hipStream_t", "cudaStream"}
ERRORS = {"cudaError_t", "cudaError", "CUresult", "hipError_t"}  # enumerations: 32-bit whole numbers


def special(word: str) -> Type | None:
    """Return the type of a name that the CUDA headers define."""
    if word in STREAMS:
        return Type("void", 1, False)
    return Type("int32") if word in ERRORS else None


def split(text: str) -> list[str]:
    """Split at the commas that stand outside all brackets; empty entries are left out."""
    entries, depth, start = [], 0, 0
    for position, mark in enumerate(text):
        depth += (mark in "([{<") - (mark in ")]}" or (mark == ">" and text[position - 1 : position] != "-"))
        if mark == "," and depth == 0:
            entries.append(text[start:position])
            start = position + 1
    return [" ".join(entry.split()) for entry in (*entries, text[start:]) if entry.strip()]
