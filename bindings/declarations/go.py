"""Go: cgo exports, C prototypes in a cgo preamble, and functions registered with purego."""

from __future__ import annotations

import re

from bindings.header.elements import spellings

from .c import read_c
from .model import Argument, Declaration, Type, closing, line_of, special, split

_TYPES = spellings("go")
_PREAMBLE = re.compile(r'/\*((?:(?!\*/).)*)\*/\s*import\s+"C"', re.S)
_EXPORT = re.compile(r"^//export\s+(\w+)\s*\n(?:\s*//[^\n]*\n)*\s*func\s+\w+\s*\(", re.M)
_REGISTERED = re.compile(r'RegisterLibFunc\s*\(\s*&(?:\w+\.)*(\w+)\s*,[^,]+,\s*"((?:cuda|assayer)_\w+)"')
_ALIAS = re.compile(r"^\s*type\s+(\w+)\s*=?\s*([\w.*]+)\s*$", re.M)


def read_go(text: str, source: str) -> list[Declaration]:
    """Return what the text declares or defines of the header's functions."""
    aliases = {name: type_of(written, {}) for name, written in _ALIAS.findall(text)}
    found = []
    for preamble in _PREAMBLE.finditer(text):
        lines = "\n" * (line_of(text, preamble.start(1)) - 1)
        found += read_c(lines + preamble[1], source)
    for match in _EXPORT.finditer(text):
        if match[1].startswith(("cuda_", "assayer_")):
            found.append(_function(text, match.end() - 1, match[1], aliases))
    for variable, symbol in _REGISTERED.findall(text):
        if declared := re.search(rf"\b{variable}\s+func\s*\(", text):
            found.append(_function(text, declared.end() - 1, symbol, aliases))
    return found


def _function(text: str, opening: int, symbol: str, aliases: dict[str, Type]) -> Declaration:
    end = closing(text, opening)
    rest = re.match(r"[ \t]*(\([^)]*\)|[\w.*]*)", text[end + 1 :])
    written = rest[1].strip("() \t") if rest else ""
    result = Argument(type_of(written.split()[-1], aliases) if written else Type("void"), written or "nothing")
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text[opening + 1 : end], flags=re.S)
    return Declaration(symbol, tuple(_arguments(split(code), aliases)), result, line_of(text, opening))


def _arguments(entries: list[str], aliases: dict[str, Type]) -> list[Argument]:
    """Names may share a type (`a, b unsafe.Pointer`), or be left out altogether."""
    named = any(" " in entry for entry in entries)
    found: list[Argument] = []
    written = ""
    for entry in reversed(entries):
        name, _, own = entry.partition(" ") if named else ("", "", entry)
        written = own or written
        found.insert(0, Argument(type_of(written, aliases), f"{name} {written}".strip(), "" if name == "_" else name))
    return found


def type_of(written: str, aliases: dict[str, Type]) -> Type:
    """Read `unsafe.Pointer`, `*C.float`, `float32`, `uintptr`; Go does not tell const."""
    stars = len(written) - len(written.lstrip("*"))
    word = written[stars:].strip()
    if word == "unsafe.Pointer":
        return Type("void", stars + 1)
    if word in aliases:
        return Type(aliases[word].element, aliases[word].stars + stars)
    if known := special(word.removeprefix("C.")):
        return Type(known.element, known.stars + stars)
    return Type(_TYPES.get(word, word), stars)
