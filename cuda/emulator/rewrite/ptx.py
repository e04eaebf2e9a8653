"""asm("cp.async...;") as calls of the emulator, or as an error that the compiler gives where the line is compiled."""

from __future__ import annotations

import re

from instructions import UntranslatedError, translated
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


def _sections(inside: str) -> list[str]:
    """What stands between the colons of an asm statement: text, outputs, inputs, what it changes besides."""
    code, ends, depth = code_of(inside), [-1], 0
    for at, character in enumerate(code):
        depth += (character in "([{") - (character in ")]}")
        if character == ":" and depth == 0:
            ends.append(at)
    return [inside[start + 1 : end] for start, end in zip(ends, [*ends[1:], len(inside)], strict=True)]


def _expressions(section: str) -> list[str]:
    """The expressions of a list such as "=r"(x), "+f"(y[1])."""
    found, code, at = [], code_of(section), 0
    while (opened := code.find("(", at)) >= 0:
        end = closing(code, opened)
        found.append(re.sub(r"\\?\n", " ", section[opened + 1 : end]).strip())
        at = end + 1
    return found


def _ptx(section: str) -> str:
    """The PTX that the literals say.  Raises UntranslatedError where there is more than literals."""
    if code_of(section).replace("\\\n", "").strip():
        raise UntranslatedError(f"{_instruction(section)} in a text that is not literal alone")
    text = "".join(_STRING.findall(section))
    for escape, meant in (("\\n", "\n"), ("\\t", " "), ('\\"', '"')):
        text = text.replace(escape, meant)
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def _calls(inside: str) -> str:
    """What replaces an asm statement: one statement without its semicolon.  Raises UntranslatedError."""
    text, outputs, inputs, *_ = [*_sections(inside), "", "", ""]
    into, given = _expressions(outputs), _expressions(inputs)
    begin = [f"auto&& emulated_{i} = {expression};" for i, expression in enumerate(into)]
    for i, expression in enumerate(given, len(into)):
        begin.append(f"const uint64_t emulated_{i} = ::emulator::ptx::bits({expression});")
    return f"do {{ {' '.join([*begin, *translated(_ptx(text), len(into))])} }} while (0)"


def rewrite_ptx(source: str) -> str:
    """Rewrite every asm statement that holds PTX; the lines stay where they are."""
    position = 0
    while found := _ASM.search(code := code_of(source), position):
        end = closing(code, found.end() - 1) + 1
        statement = source[found.start() : end]
        if _instruction(statement):
            lines = "\\\n" * statement.count("\\\n") or "\n" * statement.count("\n")
            try:
                made = _calls(source[found.end() : end - 1])
            except UntranslatedError as error:
                made = f"{refusal(f'inline PTX, {error.instruction}; {_GUARD}')} ((void)0)"
            source = source[: found.start()] + made + lines + source[end:]
            end = found.start() + len(made)
        position = end
    return source
