"""Which lines of a C or CUDA source stand in the body of a function."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TYPE = re.compile(r"\b(?:struct|union|class|enum|namespace)\b[^;(){}=]*$|extern \"C\"\s*$")
_BODY = re.compile(r"(?:\)|\bconst|\bnoexcept|\belse|\bdo|->\s*[\w:<>*& ]+|\bmutable)\s*$")
_INITIALISED = re.compile(r"\)\s*:\s*[^;{}]*\)\s*$")


def in_functions(codes: Sequence[str]) -> list[bool]:
    """Return of each line, which is free of comments, whether it begins in the body of a function."""
    inside: list[bool] = []
    scopes: list[bool] = []  # of each brace that is open, whether a function's body is in it
    before = ""
    for code in codes:
        inside.append(bool(scopes) and scopes[-1])
        if code.lstrip().startswith("#"):
            continue
        for character in code:
            if character == "{":
                scopes.append(_is_body(before, bool(scopes) and scopes[-1]))
                before = ""
            elif character == "}":
                if scopes:
                    scopes.pop()
                before = ""
            else:
                before = "" if character == ";" else before + character
        before += " "
    return inside


def _is_body(before: str, inside: bool) -> bool:
    """Whether a brace that follows a text is of a function, or in one."""
    if _TYPE.search(before):
        return False
    return inside or bool(_BODY.search(before) or _INITIALISED.search(before))
