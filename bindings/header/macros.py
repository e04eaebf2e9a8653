"""Expands the header's own macros that declare operations once for several element types.

    #define DECLARE(half, format) \\
        /* C = A . B^T. */ \\
        int32_t cuda_gemm_##format(const half* A SHAPE(M, K), ...);
    DECLARE(assayer_bf16, bf16)

The text that comes out says by #line where each part of it stood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bindings.errors import HeaderError

_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([\w, \t]*)\)[ \t]*((?:\\\n|[^\n])+)$", re.M)
_CALL = re.compile(r"^(\w+)\(([^()\n]*)\)[ \t]*;?[ \t]*$", re.M)
_PASTE = re.compile(r"[ \t]*##[ \t]*")
_CONTINUED = re.compile(r"\\$", re.M)


@dataclass(frozen=True)
class Macro:
    """A macro with arguments; `line` is that of the first line of its body."""

    name: str
    parameters: tuple[str, ...]
    body: str
    line: int


def expand(text: str, source: str) -> str:
    """Return the text with every call of one of its macros, alone on its line, replaced by the macro's body.

    Raises HeaderError for a call with another number of arguments.
    """
    macros = {macro.name: macro for macro in _macros(text)}
    if not macros:
        return text

    def replaced(call: re.Match[str]) -> str:
        macro = macros.get(call[1])
        if macro is None:
            return call[0]
        line = text.count("\n", 0, call.start()) + 1
        return f"#line {macro.line}\n{_filled(macro, call[2], source, line)}\n#line {line + 1}"

    return _CALL.sub(replaced, text)


def _macros(text: str) -> Iterator[Macro]:
    for found in _DEFINE.finditer(text):
        parameters = tuple(name.strip() for name in found[2].split(","))
        yield Macro(found[1], parameters, _CONTINUED.sub("", found[3]), text.count("\n", 0, found.start(3)) + 1)


def _filled(macro: Macro, given: str, source: str, line: int) -> str:
    arguments = [argument.strip() for argument in given.split(",")]
    if len(arguments) != len(macro.parameters):
        expected = f"{macro.name}({', '.join(macro.parameters)})"
        raise HeaderError(source, line, f"expected {expected}, found {macro.name}({given})")
    filled = macro.body
    for parameter, argument in zip(macro.parameters, arguments, strict=True):
        filled = re.sub(rf"\b{parameter}\b", argument, filled)
    return _PASTE.sub("", filled)
