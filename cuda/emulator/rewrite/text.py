"""C++ as text: what is code and what is not, and which bracket closes which."""

from __future__ import annotations

import re

_NOT_CODE = re.compile(
    r"""//(?:\\\n|[^\n])*          # a comment to the end of the line
      | /\*.*?\*/                 # a comment with an end
      | R"(?P<raw>[^()\\\s]{0,16})\(.*?\)(?P=raw)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'  # no separator of digits
    """,
    re.DOTALL | re.VERBOSE,
)
_OPENING, _CLOSING = "([{", ")]}"


def code_of(source: str) -> str:
    """The source with comments, strings and characters replaced by spaces: same length, same lines."""
    return _NOT_CODE.sub(lambda found: re.sub(r"[^\n\\]|\\(?!\n)", " ", found[0]), source)


def closing(code: str, opening: int) -> int:
    """Where the bracket at `opening` is closed."""
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] in _OPENING) - (code[at] in _CLOSING)
        if depth == 0:
            return at
    raise ValueError(f"{line_of(code, opening)}: no bracket closes this {code[opening]}")


def opening(code: str, closing: int, brackets: str) -> int:
    """Where the bracket that `closing` closes was opened; `brackets` is "<>", "[]" or "()", others are passed over."""
    depth, inside = 0, 0
    for at in range(closing, -1, -1):
        inside += (code[at] in _CLOSING) - (code[at] in _OPENING) if brackets == "<>" else 0
        if inside == 0:
            depth += (code[at] == brackets[1]) - (code[at] == brackets[0])
        if depth == 0:
            return at
    raise ValueError(f"{line_of(code, closing)}: no bracket opens this {code[closing]}")


def split(code: str, separator: str = ",") -> list[str]:
    """The parts between separators that stand in no bracket, angle brackets included."""
    parts, depth, angles = [""], 0, 0
    for character in code:
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth == 0:
            angles += (character == "<") - (character == ">")
        if character == separator and depth == 0 and angles == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def in_a_function(code: str, at: int) -> bool:
    """Whether the place lies in braces other than those of namespaces and extern "C"."""
    stack: list[bool] = []
    for brace in re.finditer(r"[{}]", code[:at]):
        if brace[0] == "{":
            before = code[max(0, brace.start() - 200) : brace.start()]
            stack.append(not re.search(r"(\bnamespace\b[\s\w:]*|\bextern\s*)$", before))
        elif stack:
            stack.pop()
    return any(stack)


def heads(code: str, at: int) -> list[str]:
    """What stands before each brace that is open at the place, the outermost first: namespaces, classes, functions."""
    stack: list[str] = []
    for brace in re.finditer(r"[{}]", code[:at]):
        if brace[0] == "{":
            stack.append(re.split(r"[;{}]", code[: brace.start()])[-1])
        elif stack:
            stack.pop()
    return stack


def refusal(what: str) -> str:
    """Return what makes a compiler refuse the line, if the line is compiled."""
    return f'_Pragma("GCC error \\"not in the emulator: {what}\\"")'


def line_of(code: str, at: int) -> str:
    """For messages."""
    return f"line {code.count(chr(10), 0, at) + 1}"
