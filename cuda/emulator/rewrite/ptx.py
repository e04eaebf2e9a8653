"""asm("bar.sync 0;") as an error that the compiler gives where the line is compiled: there is nothing to run PTX."""

from __future__ import annotations

import re

from text import closing, code_of, refusal

_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|__volatile)\b\s*)?\(")
_STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
_INSTRUCTION = re.compile(r"[a-z]\w*(?:(?:::|\.)\w+)*\.\w+|\b(?:trap|exit|brkpt|ret)(?=\s*;)")
_GUARD = "give it a form for the CPU, under #ifdef ASSAYER_EMULATED"


def _instruction(statement: str) -> str:
    """The first PTX instruction of an asm statement; empty where it holds none, as an assembler's of the host."""
    text = "".join(_STRING.findall(statement))
    found = _INSTRUCTION.search(re.sub(r"\.reg\b[^;]*;", " ", text))
    return found[0] if found else ""


def rewrite_ptx(source: str) -> str:
    """Rewrite every asm statement that holds PTX; the lines stay where they are."""
    position = 0
    while found := _ASM.search(code := code_of(source), position):
        end = closing(code, found.end() - 1) + 1
        statement = source[found.start() : end]
        if instruction := _instruction(statement):
            lines = "\\\n" * statement.count("\\\n") or "\n" * statement.count("\n")
            refused = f"{refusal(f'inline PTX, {instruction}; {_GUARD}')} ((void)0)"
            source = source[: found.start()] + refused + lines + source[end:]
            end = found.start() + len(refused)
        position = end
    return source
